package photos_test

import (
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io/fs"
	"log"
	"os"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/images/photos"
)

func ExampleFiles() {
	folders, err := fs.ReadDir(photos.Files, ".")
	if err != nil {
		log.Fatal(err)
	}
	for _, folder := range folders {
		files, err := fs.ReadDir(photos.Files, folder.Name())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(folder.Name(), len(files))
	}
	// Output:
	// hills 8
	// spheres 7
	// stripes 7
	// tiles 8
}

// In a clone of the repository, a program may load the folder itself.
func TestTheFolderIsADatasetToo(t *testing.T) {
	want, err := dataset.ImageFolder(photos.Files)
	if err != nil {
		t.Fatal(err)
	}
	got, err := dataset.ImageFolder(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if got.Len() != want.Len() || !slices.Equal(got.Classes(), want.Classes()) {
		t.Errorf("%d images of the classes %v, want %d of %v", got.Len(), got.Classes(), want.Len(), want.Classes())
	}
}

func TestOnlyTheTruncatedImageIsBroken(t *testing.T) {
	shapes := map[image.Point]bool{}
	grays, total := 0, int64(0)
	err := fs.WalkDir(photos.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		total += info.Size()
		f, err := photos.Files.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		m, err := jpeg.Decode(f)
		if broken := path == "tiles/truncated.jpg"; broken != (err != nil) {
			t.Errorf("%s: decoding gave error %v, want broken %v", path, err, broken)
		}
		if err != nil {
			return nil
		}
		shapes[m.Bounds().Size()] = true
		if m.ColorModel() == color.GrayModel {
			grays++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if grays != 1 {
		t.Errorf("got %d grey images, want 1", grays)
	}
	if len(shapes) < 7 {
		t.Errorf("got %d shapes, want 7 or more", len(shapes))
	}
	if total > 600<<10 {
		t.Errorf("the images have %d bytes, want 600 KiB at most", total)
	}
}
