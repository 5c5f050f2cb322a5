package transform

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"image"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/transform/internal/source"
)

var images = flag.String("images", "", "a folder of images with the pillow.json that testdata/pillow.py writes")

// TestSuitesBecomePillowsRGB compares the images of a folder with Pillow:
// other projects' test suites, for one. A file is refused or has Pillow's pixels,
// in every window.
func TestSuitesBecomePillowsRGB(t *testing.T) {
	testenv.OneGoroutine(t)
	if *images == "" {
		t.Skip("no -images")
	}
	var want map[string]struct {
		What, RGB, Error string
		W, H             int
	}
	datatest.JSON(t, filepath.Join(*images, "pillow.json"), &want)
	var f source.Files
	f.Limit = source.DefaultMaxPixels
	equal, both, more := map[string]int{}, 0, 0
	for _, name := range slices.Sorted(maps.Keys(want)) {
		data, err := os.ReadFile(filepath.Join(*images, name))
		if err != nil {
			t.Fatal(err)
		}
		pillow := want[name]
		w, h, sum, err := decodeWhole(t, &f, data, name)
		switch {
		case err != nil && pillow.Error != "":
			both++
			t.Logf("both refuse %s: %v; Pillow: %s", name, err, pillow.Error)
		case err != nil:
			t.Logf("refused %s (%s): %v", name, pillow.What, err)
			equal["refused "+pillow.What]++
		case pillow.Error != "":
			more++
			t.Logf("accepted %s: Pillow: %s", name, pillow.Error)
		case w != pillow.W || h != pillow.H || sum != pillow.RGB:
			t.Errorf("%s (%s): %d×%d, other pixels than Pillow's %d×%d", name, pillow.What, w, h, pillow.W, pillow.H)
		default:
			equal["equal "+pillow.What]++
		}
	}
	for _, what := range slices.Sorted(maps.Keys(equal)) {
		t.Logf("%4d %s", equal[what], what)
	}
	t.Logf("%d refused by both, %d only by Pillow", both, more)
}

// decodeWhole decodes a file, and checks that a window of it is a crop.
func decodeWhole(t *testing.T, f *source.Files, data []byte, name string) (w, h int, sum string, err error) {
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: panic: %v", name, p)
			err = errors.New("panic")
		}
	}()
	if w, h, err = f.Open(source.Encoded{Data: data}); err != nil {
		return 0, 0, "", err
	}
	pix := make([]byte, 4*w*h)
	if err := f.Decode(pix, 4*w, image.Rect(0, 0, w, h)); err != nil {
		return 0, 0, "", err
	}
	r := rand.New(rand.NewPCG(uint64(w), uint64(h)))
	for range 3 {
		x, y := r.IntN(w), r.IntN(h)
		window := image.Rect(x, y, x+1+r.IntN(w-x), y+1+r.IntN(h-y))
		part := make([]byte, 4*window.Dx()*window.Dy())
		if err := f.Decode(part, 4*window.Dx(), window); err != nil {
			t.Errorf("%s: window %v: %v", name, window, err)
			continue
		}
		for y := range window.Dy() {
			got := part[4*y*window.Dx():][:4*window.Dx()]
			for i := range got {
				if i%4 < 3 && got[i] != pix[4*((window.Min.Y+y)*w+window.Min.X)+i] {
					t.Fatalf("%s: window %v differs from the whole image in row %d", name, window, y)
				}
			}
		}
	}
	rgb := make([]byte, 0, 3*w*h)
	for i := 0; i < len(pix); i += 4 {
		rgb = append(rgb, pix[i:i+3]...)
	}
	s := sha256.Sum256(rgb)
	return w, h, hex.EncodeToString(s[:]), nil
}
