package main

import (
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/dataset/shards"
)

func TestShardsHaveThePixelsOfTheImages(t *testing.T) {
	loads := map[string]func(j job) (dataset.Dataset, error){
		"packed": func(j job) (dataset.Dataset, error) { return openPacked(j.Out) },
		"tar": func(j job) (dataset.Dataset, error) {
			store := objects.Folder(j.Out)
			index, err := shards.Scan(t.Context(), store, shards.WebDataset(), []string{"*.tar"})
			if err != nil {
				return nil, err
			}
			return shards.Open(store, index, []shards.Field{shards.Array[uint8]("image", []int{3, 28, 28}, "npy"), shards.Scalar[int64]("label", "cls")})
		},
	}
	for format, load := range loads {
		j := small(format, t.TempDir())
		if err := run(t.Context(), j, "", false, 3); err != nil {
			t.Fatal(err)
		}
		got, err := load(j)
		if err != nil {
			t.Fatal(err)
		}
		folder, err := j.prepare()
		if err != nil {
			t.Fatal(err)
		}
		want, err := j.samples(folder)
		if err != nil {
			t.Fatal(err)
		}
		if got.Len() != 29 {
			t.Fatalf("%s: %d samples, want 29", format, got.Len())
		}
		for i := range got.Len() { // the damaged image is the last one
			g, err := dataset.At(t.Context(), got, i)
			if err != nil {
				t.Fatal(err)
			}
			w, err := dataset.At(t.Context(), want, i)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(dataset.ValuesOf[uint8](g["image"]), dataset.ValuesOf[uint8](w["image"])) || g["label"].Data() != w["label"].Data() {
				t.Errorf("%s: sample %d differs from %s", format, i, folder.Name(i))
			}
		}
	}
}

// openPacked opens all packed shards of a folder as one dataset.
func openPacked(dir string) (dataset.Dataset, error) {
	fsys := os.DirFS(dir)
	names, err := fs.Glob(fsys, "*.packed")
	if err != nil {
		return nil, err
	}
	var all []dataset.Dataset
	for _, name := range names { // sorted, so in the order of the images
		file, err := packed.Open(fsys, name)
		if err != nil {
			return nil, err
		}
		all = append(all, file)
	}
	return dataset.Concat(all...)
}
