package transform

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/penstock-go/penstock/transform/internal/source"
)

func TestTIFFIsTurnedWithoutExifTranspose(t *testing.T) {
	folder := filepath.Join("..", "internal", "codec", "tiff", "testdata")
	for _, name := range []string{"orientation6-deflate.tif", "jpeg-orientation6.tif", "xmp6.tif"} {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		var f source.Files
		f.Limit = source.DefaultMaxPixels
		w, h, err := f.Open(source.Encoded{Data: data})
		if err != nil {
			t.Fatal(err)
		}
		if w >= h {
			t.Errorf("%s: got %d×%d, want it upright", name, w, h)
		}
		if o := f.Orientation(); o > 1 {
			t.Errorf("%s: orientation %d is left to do", name, o)
		}
	}
}
