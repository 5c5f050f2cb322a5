package classic_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/classic"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/transform"
)

// cifarRecord is an image whose planes begin with r, g and b.
func cifarRecord(r, g, b byte, labels ...byte) []byte {
	record := append(slices.Clone(labels), make([]byte, 3072)...)
	for c, v := range []byte{r, g, b} {
		plane := record[len(labels)+1024*c:][:1024]
		for i := range plane {
			plane[i] = v + byte(i)
		}
	}
	return record
}

func cifar10() fstest.MapFS {
	fsys := fstest.MapFS{
		"batches.meta.txt": {Data: []byte("airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n")},
		"test_batch.bin":   {Data: cifarRecord(9, 9, 9, 9)},
	}
	for i := range byte(5) {
		data := append(cifarRecord(10*i, 100, 200, i), cifarRecord(10*i+1, 101, 201, i+5)...)
		fsys[fmt.Sprintf("data_batch_%d.bin", i+1)] = &fstest.MapFile{Data: data}
	}
	return fsys
}

func TestCIFAR10ReadsTheBinaryVersion(t *testing.T) {
	train, err := classic.CIFAR10(cifar10(), classic.Train)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := train.Spec().String(), "image uint8 (3, 32, 32), label int64 ()"; got != want {
		t.Errorf("spec %s, want %s", got, want)
	}
	if got, want := train.Labels(), []int{0, 5, 1, 6, 2, 7, 3, 8, 4, 9}; !slices.Equal(got, want) {
		t.Errorf("labels %v, want %v", got, want)
	}
	if got := train.Classes(); len(got) != 10 || got[3] != "cat" || got[9] != "truck" {
		t.Errorf("classes %q", got)
	}
	s := datatest.Sample(t, train, 7)
	image := dataset.ValuesOf[uint8](s["image"])
	if got, want := []byte{image[0], image[31], image[1024], image[2048], image[3071]}, []byte{31, 62, 101, 201, 200}; !bytes.Equal(got, want) {
		t.Errorf("pixels %v, want %v", got, want)
	}
	if got := dataset.ValuesOf[int64](s["label"])[0]; got != 8 {
		t.Errorf("label %v, want 8", got)
	}
	if got, want := train.Name(7), "data_batch_4.bin, image 1"; got != want || train.Name(10) != "" {
		t.Errorf("name %q, want %q", got, want)
	}
	test, err := classic.CIFAR10(cifar10(), classic.Test)
	if err != nil {
		t.Fatal(err)
	}
	if test.Len() != 1 || test.Labels()[0] != 9 {
		t.Errorf("test split has %d samples", test.Len())
	}
}

func TestCIFAR100HasFineAndCoarseLabels(t *testing.T) {
	names := func(n int) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(strings.Repeat("name\n", n-1) + "last\n")}
	}
	fsys := fstest.MapFS{
		"test.bin":               {Data: append(cifarRecord(1, 2, 3, 19, 99), cifarRecord(4, 5, 6, 0, 7)...)},
		"fine_label_names.txt":   names(100),
		"coarse_label_names.txt": names(20),
	}
	ds, err := classic.CIFAR100(fsys, classic.Test)
	if err != nil {
		t.Fatal(err)
	}
	s := datatest.Sample(t, ds, 0)
	if dataset.ValuesOf[int64](s["label"])[0] != 99 || dataset.ValuesOf[int64](s["coarse"])[0] != 19 || dataset.ValuesOf[uint8](s["image"])[0] != 1 {
		t.Errorf("labels %v and %v", s["label"].Data(), s["coarse"].Data())
	}
	if fine, coarse := ds.Classes(), ds.CoarseClasses(); fine[99] != "last" || coarse[19] != "last" {
		t.Errorf("classes %q and %q", fine, coarse)
	}
}

func TestCIFARSaysWhatIsWrong(t *testing.T) {
	with := func(name string, data []byte) fstest.MapFS {
		fsys := cifar10()
		fsys[name] = &fstest.MapFile{Data: data}
		return fsys
	}
	missing := cifar10()
	delete(missing, "data_batch_3.bin")
	oldPickle := func(text string) fstest.MapFS {
		return fstest.MapFS{"data_batch_1": {Data: []byte(text + strings.Repeat("x", 70_000))}}
	}
	python := fstest.MapFS{"data_batch_1": {Data: []byte("\x80\x02}")}}
	for _, c := range []struct {
		fsys  fs.FS
		split classic.Split
		want  string
	}{
		{missing, classic.Train, "classic: read data_batch_3.bin: file does not exist"},
		{fstest.MapFS{}, classic.Train, "classic: CIFAR-10: none of data_batch_1.bin, cifar-10-batches-bin, data_batch_1, cifar-10-batches-py: file does not exist"},
		{python, classic.Train, "classic: read data_batch_1: pickle: byte 3: unexpected EOF"},
		{oldPickle("(dp1\nS'data'\n"), classic.Train, "classic: read data_batch_1: a pickle of protocol 0 or 1, want 2 to 5: pickle.dump(value, file, 2) writes such a file"},
		{oldPickle("}q\x01(U\x04data"), classic.Train, "classic: read data_batch_1: a pickle of protocol 0 or 1, want 2 to 5: pickle.dump(value, file, 2) writes such a file"},
		{with("data_batch_2.bin", make([]byte, 3072)), classic.Train, "classic: read data_batch_2.bin: file of 3072 bytes, want a multiple of 3073: 0 images and 3072 bytes"},
		{with("data_batch_5.bin", nil), classic.Train, "classic: read data_batch_5.bin: file of 0 bytes, want at least one image of 3073"},
		{with("test_batch.bin", append(cifarRecord(0, 0, 0, 1), cifarRecord(0, 0, 0, 10)...)), classic.Test, "classic: read test_batch.bin: image 1: label 10, want 0 to 9"},
		{with("test_batch.bin", []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0, 0}), classic.Test, "classic: read test_batch.bin: compressed by gzip: want the plain file"},
		{with("batches.meta.txt", []byte("cat\n")), classic.Test, "classic: read batches.meta.txt: 1 class names, want 10"},
		{with("batches.meta.txt", make([]byte, 70000)), classic.Test, "classic: read batches.meta.txt: more than 65536 bytes of names"},
		{datatest.Promising{FS: cifar10(), Size: 400_000 * 3073}, classic.Train, "classic: read data_batch_1.bin: 1229200000 bytes of images, more than the 1073741824 that are left of the limit of 1073741824"},
		{cifar10(), "validation", "classic: split \"validation\": want \"train\" or \"test\""},
	} {
		_, err := classic.CIFAR10(c.fsys, c.split)
		if got := fmt.Sprint(err); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// TestCIFARGoesStraightThroughTheTransforms compares with the formula of
// torchvision's ToTensor and Normalize.
func TestCIFARGoesStraightThroughTheTransforms(t *testing.T) {
	train, err := classic.CIFAR10(cifar10(), classic.Train)
	if err != nil {
		t.Fatal(err)
	}
	mean, std := []float32{0.5, 0.25, 0.125}, []float32{0.25, 0.5, 0.75}
	p, err := transform.Images(train, transform.ToTensor(), transform.Normalize(mean, std))
	if err != nil {
		t.Fatal(err)
	}
	raw, s := datatest.Sample(t, train, 3), datatest.Sample(t, p, 3)
	got := dataset.ValuesOf[float32](s["image"])
	for i, v := range dataset.ValuesOf[uint8](raw["image"]) {
		want := (float32(v)/255 - mean[i/1024]) / std[i/1024]
		if got[i] != want {
			t.Fatalf("value %d is %v, want %v", i, got[i], want)
		}
	}
	if !bytes.Equal(s["label"].Bytes(), raw["label"].Bytes()) {
		t.Errorf("label %v, want %v", s["label"].Data(), raw["label"].Data())
	}
}

func TestImagesPlaceWithoutAllocation(t *testing.T) {
	train, err := classic.CIFAR10(cifar10(), classic.Train)
	if err != nil {
		t.Fatal(err)
	}
	r, err := train.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	slot := dataset.NewSlot(train.Spec()...)
	if got := allocs.PerRun(0, 100, func() {
		if err := r.Place(t.Context(), 9, slot); err != nil {
			t.Fatal(err)
		}
	}); got != 0 {
		t.Errorf("%v allocations per sample, want 0", got)
	}
	if err := r.Place(t.Context(), 10, slot); err == nil {
		t.Error("sample 10 of 10 was placed")
	}
}

func FuzzCIFAR(f *testing.F) {
	f.Add(cifarRecord(1, 2, 3, 4))
	f.Add(append(cifarRecord(1, 2, 3, 4), cifarRecord(1, 2, 3, 10)...))
	for name, file := range pythons(f) {
		if strings.HasSuffix(name, "cifar-10-batches-py/data_batch_1") {
			f.Add(file.Data)
		}
	}
	f.Add(manyTypes(1000))
	f.Fuzz(func(t *testing.T, data []byte) {
		var ds *classic.Dataset
		var err error
		hostile.Bounded(t, len(data), 0, func() {
			ds, err = classic.CIFAR10(fstest.MapFS{"test_batch": {Data: data}}, classic.Test)
		})
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := dataset.Each(t.Context(), ds, func(_ int, s dataset.Slot) error {
			again.WriteByte(byte(dataset.Row[int64](s, 1)[0]))
			again.Write(dataset.Row[uint8](s, 0))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if data[0] == 0x80 { // a pickle, whose images are compared
			if ds.Len() == 0 {
				return
			}
			written, err := classic.CIFAR10(fstest.MapFS{"test_batch": {Data: again.Bytes()}}, classic.Test)
			if err != nil {
				t.Fatal(err)
			}
			datatest.Same(t, written, ds)
			return
		}
		if !bytes.Equal(again.Bytes(), data) {
			t.Error("differs after reading and writing")
		}
	})
}
