package jpeg_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"image"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
	"github.com/penstock-go/penstock/internal/testenv"
)

const shared = "../../../../shared"

// A photo is Pillow's result for a shared photo.
type photo struct {
	Width, Height int
	RGB           string // SHA-256 of the pixels, 3 bytes each
}

func goldenPhotos(tb testing.TB) map[string]photo {
	raw, err := os.ReadFile(filepath.Join(shared, "golden", "photos.json"))
	if err != nil {
		tb.Skipf("shared photos are missing: %v", err)
	}
	var golden struct{ Photos map[string]photo }
	if err := json.Unmarshal(raw, &golden); err != nil {
		tb.Fatal(err)
	}
	return golden.Photos
}

// readPhoto reads a photo from the folder of its class.
func readPhoto(tb testing.TB, name string) []byte {
	paths, err := filepath.Glob(filepath.Join(shared, "photos", "*", name))
	if err != nil || len(paths) != 1 {
		tb.Fatalf("%d shared photos are called %s, want 1: %v", len(paths), name, err)
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func TestPhotosMatchPillow(t *testing.T) {
	testenv.OneGoroutine(t)
	var d jpeg.Decoder
	matched := 0
	photos := goldenPhotos(t)
	if testing.Short() {
		photos = everyTwentieth(photos)
	}
	for name, want := range photos {
		data := readPhoto(t, name)
		c, err := d.Header(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c.Width != want.Width || c.Height != want.Height {
			t.Errorf("%s: got %d×%d, want %d×%d", name, c.Width, c.Height, want.Width, want.Height)
			continue
		}
		pixels, err := whole(&d, c)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := hash(pixels); got != want.RGB {
			t.Errorf("%s: %+v: pixels differ from Pillow's", name, c)
			continue
		}
		matched++
	}
	if matched != len(photos) || matched == 0 {
		t.Errorf("%d of %d photos match", matched, len(photos))
	}
}

// everyTwentieth keeps one photo in twenty, for emulators.
func everyTwentieth(photos map[string]photo) map[string]photo {
	few := map[string]photo{}
	for i, name := range slices.Sorted(maps.Keys(photos)) {
		if i%20 == 0 {
			few[name] = photos[name]
		}
	}
	return few
}

// whole decodes the image whose header d has read.
func whole(d *jpeg.Decoder, c jpeg.Config) ([]byte, error) {
	pixels := make([]byte, 4*c.Width*c.Height)
	return pixels, d.Decode(pixels, 4*c.Width, image.Rect(0, 0, c.Width, c.Height))
}

// hash returns the SHA-256 of the pixels' red, green and blue.
func hash(rgbx []byte) string {
	rgb := make([]byte, 0, len(rgbx)/4*3)
	for i := 0; i < len(rgbx); i += 4 {
		rgb = append(rgb, rgbx[i:i+3]...)
	}
	sum := sha256.Sum256(rgb)
	return hex.EncodeToString(sum[:])
}
