package bench_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/penstock-go/penstock/bench/data"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/transform"
)

var (
	photosDir = flag.String("photos", "", "folder of photos, with a folder per class, relative to the folder bench; made-up ones by default")
	dataDir   = flag.String("data", "", "folder for made-up data, which stays; penstock-bench in the user's cache folder by default")
)

// photos is a dataset of the photos in -photos, or of made-up ones of about 110 KB, with
// the given steps.
func photos(b *testing.B, steps ...transform.Item) dataset.Dataset {
	b.Helper()
	return transformed(b, os.DirFS(photosFolder(b)), steps...)
}

func photosFolder(b *testing.B) string {
	b.Helper()
	if *photosDir != "" {
		return *photosDir
	}
	return given(b, func(root string) (string, error) { return data.Photos(b.Context(), root, 128) })
}

func transformed(b *testing.B, fsys fs.FS, steps ...transform.Item) dataset.Dataset {
	b.Helper()
	folder, err := dataset.ImageFolder(fsys)
	if err != nil {
		b.Fatal(err)
	}
	ds, err := transform.Images(folder, steps...)
	if err != nil {
		b.Fatal(err)
	}
	return ds
}

// given calls make with the folder of made-up data, and returns its result.
func given(b *testing.B, make func(root string) (string, error)) string {
	b.Helper()
	root := *dataDir
	if root == "" {
		var err error
		if root, err = data.Root(); err != nil {
			b.Fatal(err)
		}
	}
	path, err := make(root)
	if err != nil {
		b.Fatal(err)
	}
	return path
}

// repeated extends ds to n samples by repeating it.
func repeated(b *testing.B, ds dataset.Dataset, n int) dataset.Dataset {
	b.Helper()
	indices := make([]int, n)
	for i := range indices {
		indices[i] = i % ds.Len()
	}
	long, err := dataset.Subset(ds, indices)
	if err != nil {
		b.Fatal(err)
	}
	return long
}

// preprocessed is a dataset of images of the given size, one per file.
func preprocessed(b *testing.B, size int) dataset.Dataset {
	b.Helper()
	dir := given(b, func(root string) (string, error) { return data.Items(b.Context(), root, items, size) })
	ds, err := packed.Items(os.DirFS(dir), "*.raw", data.Image(size))
	if err != nil {
		b.Fatal(err)
	}
	return ds
}

// cache is the folder for data that every run makes again.
var cache = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "penstock-bench-") })

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if dir, err := cache(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// made returns a folder of the cache, which fill fills once.
func made(b *testing.B, name string, fill func(dir string) error) string {
	b.Helper()
	root, err := cache()
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(root, name)
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		b.Fatal(err)
	}
	if err := fill(dir); err != nil {
		b.Fatal(err)
	}
	return dir
}
