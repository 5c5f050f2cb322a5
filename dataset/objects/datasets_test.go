package objects_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/npy"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/dataset/volume"
	"github.com/penstock-go/penstock/internal/datatest"
)

// same compares the dataset that open makes of local files with those that it makes of
// a server and of a Folder with the same files.
func same(t *testing.T, files fstest.MapFS, open func(fs.FS) (dataset.Dataset, error)) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	folder, err := objects.NewFS(t.Context(), objects.Folder(dir), "")
	if err != nil {
		t.Fatal(err)
	}
	want, err := open(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	for what, fsys := range map[string]fs.FS{"HTTP": remote(t, files), "Folder": folder} {
		got, err := open(fsys)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got.Len() != want.Len() || got.Len() == 0 {
			t.Fatalf("%s: %d samples, want %d", what, got.Len(), want.Len())
		}
		for i := range want.Len() {
			if g, w := dataset.Name(got, i), dataset.Name(want, i); g != w {
				t.Fatalf("%s: sample %d is %s, want %s", what, i, g, w)
			}
		}
		for _, f := range want.Spec() {
			if !bytes.Equal(datatest.Bytes(t, got, f.Name), datatest.Bytes(t, want, f.Name)) {
				t.Errorf("%s: field %s differs", what, f.Name)
			}
		}
		datatest.RefusesOtherIndices(t, got)
	}
}

func TestImageFolderIsTheSameOverHTTP(t *testing.T) {
	files := fstest.MapFS{"readme.txt": {Data: []byte("no image")}, "class1-/a.jpg": {}}
	r := rand.New(rand.NewPCG(1, 2))
	for k := range 40 {
		image := make([]byte, r.IntN(400_000))
		for i := range image {
			image[i] = byte(r.Uint32())
		}
		files[fmt.Sprintf("class%d/deep %d/ä%d#%%41+.jpg", k%3, k%2, k)] = &fstest.MapFile{Data: image}
	}
	same(t, files, func(fsys fs.FS) (dataset.Dataset, error) { return dataset.ImageFolder(fsys) })
}

func TestPackedIsTheSameOverHTTP(t *testing.T) {
	ds := datatest.Tensors(t, dataset.Named("image", random(20, 3, 70, 50)), dataset.Named("label", make([]int64, 20)))
	var file bytes.Buffer
	if err := packed.Write(t.Context(), &file, ds); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := packed.WriteItems(t.Context(), dir, ds); err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"train.packed": {Data: file.Bytes()}}
	same(t, files, func(fsys fs.FS) (dataset.Dataset, error) { return packed.Open(fsys, "train.packed") })
	for i := range ds.Len() {
		name := fmt.Sprintf("%08d.raw", i)
		data, err := os.ReadFile(dir + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files["items/"+name] = &fstest.MapFile{Data: data}
	}
	same(t, files, func(fsys fs.FS) (dataset.Dataset, error) { return packed.Items(fsys, "items/*.raw", ds.Spec()) })
}

func TestNpyIsTheSameOverHTTP(t *testing.T) {
	var file bytes.Buffer
	ds := datatest.Tensors(t, dataset.Named("x", random(20, 3, 70, 50)))
	if err := npy.Write(t.Context(), &file, ds, "x"); err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"x.npy": {Data: file.Bytes()}, "zipped.npy": {Data: datatest.Gzip(file.Bytes())}}
	for i := range 3 {
		var item bytes.Buffer
		if err := npy.Write(t.Context(), &item, datatest.Tensors(t, dataset.Named("x", random(i+400, 3, 70, 2))), "x"); err != nil {
			t.Fatal(err)
		}
		files[fmt.Sprintf("items/%d.npy", i)] = &fstest.MapFile{Data: item.Bytes()}
	}
	same(t, files, func(fsys fs.FS) (dataset.Dataset, error) { return npy.Open(fsys, "x.npy", "x") })
	same(t, files, func(fsys fs.FS) (dataset.Dataset, error) { return npy.Open(fsys, "zipped.npy", "x") })
	same(t, files, func(fsys fs.FS) (dataset.Dataset, error) { return npy.Items(fsys, "items/0.npy", "x") })
}

func TestVolumesAreTheSameOverHTTP(t *testing.T) {
	files := fstest.MapFS{}
	for i, gzip := range []bool{false, true} {
		ct := &volume.Volume{Dtype: dataset.Float32, Shape: dataset.Shape{40, 60, 50}, Axes: make([]volume.Axis, 3)}
		ct.SetFloat32(dataset.ValuesOf[float32](random(40, 1, 60, 50)))
		var file bytes.Buffer
		if err := volume.WriteNRRD(&file, ct, gzip); err != nil {
			t.Fatal(err)
		}
		files[fmt.Sprintf("patient%d/ct.nrrd", i)] = &fstest.MapFile{Data: file.Bytes()}
	}
	same(t, files, func(fsys fs.FS) (dataset.Dataset, error) {
		cohort, err := volume.Open(fsys, volume.Scan("ct", "{patient}/ct.nrrd"))
		if err != nil {
			return nil, err
		}
		return cohort.Slices(t.Context())
	})
}

func random(n, c, h, w int) dataset.Tensor {
	values := make([]float32, n*c*h*w)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range values {
		values[i] = r.Float32()
	}
	return dataset.TensorOf(values, n, c, h, w)
}
