package transform

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// maskFormats are files of other formats than PNG and TIFF, by their paths below internal, and
// the SHA-256 of Pillow's numbers: see testdata/annotations/formats.py.
func maskFormats(t testing.TB) (files map[string][]byte, sums map[string]string) {
	t.Helper()
	datatest.JSON(t, "testdata/annotations/formats.json", &sums)
	files = map[string][]byte{}
	for name := range sums {
		data, err := os.ReadFile(path.Join("../internal/codec", path.Dir(name), "testdata", path.Base(name)))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = data
	}
	return files, sums
}

// TestMasksOfAllFormatsHaveTheNumbersOfPillow reads the upper rows, and then all.
func TestMasksOfAllFormatsHaveTheNumbersOfPillow(t *testing.T) {
	testenv.OneGoroutine(t)
	files, sums := maskFormats(t)
	var f source.Mask
	refused := 0
	for name, data := range files {
		err := f.Open(data, false, 1<<20)
		var pix []byte
		if err == nil {
			upper, wrong := f.First((f.H + 1) / 2)
			half := slices.Clone(upper)
			if err = errors.Join(wrong, f.Open(data, false, 1<<20)); err == nil {
				pix, err = f.First(f.H)
			}
			if err == nil && !bytes.Equal(half, pix[:len(half)]) {
				t.Errorf("%s: other upper rows", name)
			}
		}
		sum := sha256.Sum256(pix)
		switch want := sums[name]; {
		case want == "" && err == nil:
			t.Errorf("%s: no error", name)
		case want == "":
			refused++
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case hex.EncodeToString(sum[:]) != want:
			t.Errorf("%s: other numbers than numpy.asarray(PIL.Image.open(…)): %d×%d, %v", name, f.W, f.H, pix[:min(len(pix), 40)])
		}
	}
	if read := len(files) - refused; read < 90 {
		t.Errorf("%d files are read, want 90 or more", read)
	}
}

func TestMaskFilesInColourAreErrors(t *testing.T) {
	files, _ := maskFormats(t)
	for name, want := range map[string]string{
		"bmp/rgb24-40.bmp":   "BMP: in colour, want a palette or grey",
		"pnm/colour-255.ppm": "PNM: in colour or in floats, want grey",
		"pnm/low-first.pfm":  "PNM: in colour or in floats, want grey",
		"gif/no-frame.gif":   "GIF: gif: header: no frame",
	} {
		if err := new(source.Mask).Open(files[name], false, 1<<20); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
	if err := new(source.Mask).Open(files["gif/plain.gif"], true, 1<<20); err == nil || !strings.HasSuffix(err.Error(), "a GIF file: want PNG") {
		t.Errorf("SegmentIDs of a GIF file: %v", err)
	}
}

func TestMaskFilesAllocateNothing(t *testing.T) {
	files, _ := maskFormats(t)
	var f source.Mask
	for _, name := range []string{"gif/interlaced5.gif", "bmp/palette4.bmp", "pnm/bits.pbm", "pnm/gray-65535.pgm", "pnm/plain-100.pgm"} {
		if n := allocs.PerRun(0, 20, func() {
			if err := f.Open(files[name], false, 1<<20); err != nil {
				t.Fatal(err)
			}
			if _, err := f.First(f.H); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
