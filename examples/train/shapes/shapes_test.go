package shapes_test

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/examples/train/shapes"
)

func TestImagesDependOnTheSeedAlone(t *testing.T) {
	draw := func(class int, seed uint64) []uint8 { return shapes.Draw(class, rand.New(rand.NewPCG(seed, 0))).Pix }
	for class := range shapes.Names {
		if !bytes.Equal(draw(class, 1), draw(class, 1)) || bytes.Equal(draw(class, 1), draw(class, 2)) {
			t.Errorf("class %d: the image does not depend on the seed alone", class)
		}
		if next := (class + 1) % len(shapes.Names); bytes.Equal(draw(class, 1), draw(next, 1)) {
			t.Errorf("classes %d and %d look alike", class, next)
		}
	}
}

func TestFolderIsWrittenOnceWithAllClasses(t *testing.T) {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		t.Skip("XDG_CACHE_HOME does not move the cache here")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir, err := shapes.Folder(23, 4)
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(os.DirFS(dir), "*/*.jpg")
	if err != nil || len(files) != 23 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	classes, err := os.ReadDir(dir)
	if err != nil || !slices.IsSorted(shapes.Names) {
		t.Fatal(err)
	}
	for i, c := range classes {
		if c.Name() != shapes.Names[i] {
			t.Errorf("folder %d is %s, want %s", i, c.Name(), shapes.Names[i])
		}
	}
	if err := os.Remove(filepath.Join(dir, files[0])); err != nil {
		t.Fatal(err)
	}
	again, err := shapes.Folder(23, 4)
	if _, missing := os.Stat(filepath.Join(dir, files[0])); err != nil || again != dir || missing == nil {
		t.Errorf("got %s and wrote it again, want %s as it was: %v", again, dir, err)
	}
	other, err := shapes.Folder(23, 5)
	if err != nil || other == dir {
		t.Errorf("got %s for another seed: %v", other, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "half-*")); len(left) > 0 {
		t.Errorf("%v were left", left)
	}
}
