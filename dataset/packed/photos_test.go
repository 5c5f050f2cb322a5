package packed_test

import (
	"archive/zip"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/internal/datatest"
)

var update = flag.Bool("update", false, "write testdata/photos.packed anew")

// fewPhotos has two small JPEG files and a text, with labels and names.
func fewPhotos(t testing.TB) namedFiles {
	t.Helper()
	archive, err := zip.OpenReader("../../internal/codec/jpeg/testdata/images.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	f := namedFiles{names: []string{"gray-baseline-17x33-q50.jpg", "readme.txt", "sample.jpg"}, files: make([][]byte, 3)}
	f.files[1] = []byte("no image")
	for _, i := range []int{0, 2} {
		r, err := archive.Open(f.names[i])
		if err != nil {
			t.Fatal(err)
		}
		if f.files[i], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	spec := dataset.Spec{{Name: "label", Dtype: dataset.Int64}, {Name: "image", Dtype: dataset.Uint8, Ragged: true}}
	f.Dataset = dataset.Func(len(f.files), spec, func(_ context.Context, i int, dst dataset.Slot) error {
		dataset.Set(dst, 0, int64(10-i))
		copy(dataset.Grow[uint8](dst, 1, len(f.files[i])), f.files[i])
		return nil
	})
	return f
}

type namedFiles struct {
	dataset.Dataset
	names []string
	files [][]byte
}

func (n namedFiles) Name(i int) string { return n.names[i] }

// TestGoldenFileStaysReadableAndIsStillMade compares testdata/photos.packed with what
// Write makes of the same photos.
func TestGoldenFileStaysReadableAndIsStillMade(t *testing.T) {
	photos := fewPhotos(t)
	packing, err := packed.Photos(photos, packed.Fast)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	err = packed.Write(t.Context(), &file, packing, packed.Classes("a", "b"), packed.Origin("three files"),
		packed.Names(func(i int) string { return dataset.Name(packing, i) }))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		write(t, "testdata/photos.packed", file.String())
	}
	ds, err := packed.Open(os.DirFS("testdata"), "photos.packed")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile("testdata/photos.packed")
	if err != nil || !bytes.Equal(kept, file.Bytes()) {
		t.Errorf("Write makes %d bytes, other than the %d golden ones: %v", file.Len(), len(kept), err)
	}
	sameTexts(t, ds, packing)
	if got := fmt.Sprintf("%q %q %q", ds.Classes(), ds.Origin(), ds.Name(2)); got != `["a" "b"] "three files" "sample.jpg"` {
		t.Error(got)
	}
}

func TestPhotosLeavesAllButJPEGFilesAlone(t *testing.T) {
	photos := fewPhotos(t)
	for _, level := range []packed.Level{packed.Fast, packed.Small} {
		ds, err := packed.Photos(photos, level)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range photos.files {
			s := datatest.Sample(t, ds, i)
			if label := s["label"].Data(); label != int64(10-i) {
				t.Errorf("sample %d: label %v", i, label)
			}
			image := dataset.ValuesOf[uint8](s["image"])
			if got := bytes.HasPrefix(image, []byte("\x89photo\r\n")); got != (i != 1) {
				t.Errorf("%s: packed %t", dataset.Name(ds, i), got)
			}
			if i == 1 && !bytes.Equal(image, want) {
				t.Errorf("%s became %q", dataset.Name(ds, i), image)
			}
		}
	}
}

func TestPhotosRefuses(t *testing.T) {
	photos := fewPhotos(t)
	for _, c := range []struct {
		ds    dataset.Dataset
		level packed.Level
		want  string
	}{
		{photos, 2, "packed: photos: level 2: want Fast or Small"},
		{nil, packed.Fast, "packed: photos: the dataset is nil"},
		{datatest.Pairs(t), packed.Fast, `packed: photos: the dataset has no field "image", only pair uint16 (2), label int16 ()`},
		{datatest.Tensors(t, dataset.Named("image", [][2]uint8{{1, 2}})), packed.Fast, "packed: photos: field image uint8 (2): want files as ragged uint8"},
	} {
		if _, err := packed.Photos(c.ds, c.level); fmt.Sprint(err) != c.want {
			t.Errorf("got error %v\nwant      %s", err, c.want)
		}
	}
}

func TestPhotosOfAStreamAreAwaited(t *testing.T) {
	photos := fewPhotos(t)
	ds, err := packed.Photos(datatest.Unknown{Dataset: photos}, packed.Fast)
	if err != nil {
		t.Fatal(err)
	}
	if have, ended, err := dataset.Await(t.Context(), ds, 99, nil); have != photos.Len() || !ended || err != nil {
		t.Errorf("got %d, %v, %v", have, ended, err)
	}
}
