// Package pillowtest tests decoders of image files against Pillow's convert("RGB"). The
// caller's testdata/golden.json has the SHA-256 sums of Pillow's pixels.
package pillowtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"image"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/datatest"
)

// A Decoder is the decoder under test. Header reads the image's size from a whole file.
// Decode writes a window of the image, with 4 bytes per pixel.
type Decoder interface {
	Header(data []byte) (w, h int, err error)
	Decode(dst []byte, stride int, window image.Rectangle) error
}

// A File is a file of testdata and Pillow's result for it.
type File struct {
	Name string
	Data []byte
	W, H int
	RGB  string // SHA-256 of the pixels; empty if Pillow refuses the file or misreads it
}

// Files are the files in testdata/golden.json, sorted by name.
func Files(t testing.TB) []File {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	golden := map[string]File{}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	var files []File
	for _, name := range slices.Sorted(maps.Keys(golden)) {
		f := golden[name]
		f.Name = name
		if f.Data, err = os.ReadFile(filepath.Join("testdata", name)); err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// decode decodes the whole image, with 4 bytes per pixel. Pix is nil if it has more
// than limit pixels.
func decode(d Decoder, data []byte, limit int) (pix []byte, w, h int, err error) {
	w, h, err = d.Header(data)
	if err != nil || w > limit/h {
		return nil, w, h, err
	}
	pix = make([]byte, 4*w*h)
	return pix, w, h, d.Decode(pix, 4*w, image.Rect(0, 0, w, h))
}

// sum is the SHA-256 of the pixels without their fourth bytes.
func sum(pix []byte) string {
	rgb := make([]byte, 0, len(pix)/4*3)
	for i := 0; i < len(pix); i += 4 {
		rgb = append(rgb, pix[i:i+3]...)
	}
	s := sha256.Sum256(rgb)
	return hex.EncodeToString(s[:])
}

// Equal decodes all files with one Decoder. The pixels must be Pillow's. Files without
// pixels of Pillow must be errors.
func Equal(t *testing.T, d Decoder) {
	for _, f := range Files(t) {
		pix, w, h, err := decode(d, f.Data, 1<<24)
		switch {
		case f.RGB == "" && err == nil:
			t.Errorf("%s: no error", f.Name)
		case f.RGB == "":
		case err != nil:
			t.Errorf("%s: %v", f.Name, err)
		case w != f.W || h != f.H || sum(pix) != f.RGB:
			t.Errorf("%s: other pixels than Pillow's: got %d×%d, want %d×%d", f.Name, w, h, f.W, f.H)
		}
	}
}

// An Animation is a decoder of files of several frames. Seek says which of them Decode is to write.
type Animation interface {
	Decoder
	Len() int
	Seek(k int)
}

// An Animated is a file of testdata/animations.json, with the first 16 digits of the sums of Pillow's frames.
type Animated struct {
	Data   []byte
	W, H   int
	Frames []string
}

// Animations are the files in testdata/animations.json.
func Animations(t testing.TB) (all []Animated) {
	t.Helper()
	datatest.JSON(t, "testdata/animations.json", &all)
	if len(all) < 100 {
		t.Fatalf("only %d animations", len(all))
	}
	return all
}

// Frame is the sum of a frame, as [Animated] has it.
func Frame(a Animation, k, w, h int) (string, error) {
	a.Seek(k)
	pix := make([]byte, 4*w*h)
	if err := a.Decode(pix, 4*w, image.Rect(0, 0, w, h)); err != nil {
		return "", err
	}
	return sum(pix)[:16], nil
}

// Frames decodes all animations with one Animation: frame after frame, and then some again, also backwards and past frames that are not needed.
func Frames(t *testing.T, a Animation) {
	for i, f := range Animations(t) {
		w, h, err := a.Header(f.Data)
		if err != nil || w != f.W || h != f.H || a.Len() != len(f.Frames) {
			t.Errorf("animation %d: %d×%d, %d frames, %v: want %d×%d, %d frames", i, w, h, a.Len(), err, f.W, f.H, len(f.Frames))
			continue
		}
		for k, want := range f.Frames {
			if got, err := Frame(a, k, w, h); got != want {
				t.Errorf("animation %d: frame %d of %d is another than Pillow's (%v)", i, k, len(f.Frames), err)
			}
		}
		for _, k := range []int{0, len(f.Frames) - 1, len(f.Frames) / 2} {
			if got, err := Frame(a, k, w, h); got != f.Frames[k] {
				t.Errorf("animation %d: frame %d differs when it is read again (%v)", i, k, err)
			}
		}
	}
}

// Windows decodes windows of all files. They must be crops of the whole image.
func Windows(t *testing.T, d Decoder) {
	for _, f := range Files(t) {
		if f.RGB != "" {
			crops(t, d, f.Name, f.Data, 10)
		}
	}
}

// crops compares n random windows of a file with the whole image, and reports whether
// the file is valid.
func crops(t *testing.T, d Decoder, name string, data []byte, n int) bool {
	pix, w, h, err := decode(d, data, 1<<22)
	if err != nil || pix == nil {
		return false
	}
	r := rand.New(rand.NewPCG(uint64(w), uint64(h)))
	for range n {
		x, y := r.IntN(w), r.IntN(h)
		window := image.Rect(x, y, x+1+r.IntN(w-x), y+1+r.IntN(h-y))
		stride := 4*window.Dx() + r.IntN(9)
		part := make([]byte, stride*(window.Dy()-1)+4*window.Dx())
		if err := d.Decode(part, stride, window); err != nil {
			t.Errorf("%s: window %v: %v", name, window, err)
			return false
		}
		for y := range window.Dy() {
			got := part[y*stride:][:4*window.Dx()]
			want := pix[4*((window.Min.Y+y)*w+window.Min.X):][:len(got)]
			if !bytes.Equal(got, want) {
				t.Errorf("%s: window %v differs from the whole image in row %d", name, window, y)
				return false
			}
		}
	}
	return true
}

// Still decodes every file several times. After the first time it must not allocate. Files whose names
// begin with one of except may, because a library does.
func Still(t *testing.T, d Decoder, except ...string) {
	for _, f := range Files(t) {
		if f.RGB == "" || slices.ContainsFunc(except, func(e string) bool { return strings.HasPrefix(f.Name, e) }) {
			continue
		}
		pix := make([]byte, 4*f.W*f.H)
		n := allocs.PerRun(0, 5, func() {
			if _, _, err := d.Header(f.Data); err != nil {
				t.Errorf("%s: %v", f.Name, err)
			}
			if err := d.Decode(pix, 4*f.W, image.Rect(0, 0, f.W, f.H)); err != nil {
				t.Errorf("%s: %v", f.Name, err)
			}
		})
		if n > 0 {
			t.Errorf("%s: %v allocations per image, want none", f.Name, n)
		}
	}
}

// Cut shortens every file for which ends is true: those whose end can be recognised. The
// result must be an error, or the same pixels if only unneeded bytes are missing.
func Cut(t *testing.T, d Decoder, ends func(name string) bool) {
	for _, f := range Files(t) {
		if f.RGB == "" || !ends(f.Name) {
			continue
		}
		for n := range f.Data {
			pix, _, _, err := decode(d, f.Data[:n:n], 1<<24)
			if err == nil && sum(pix) != f.RGB {
				t.Errorf("%s: %d of %d bytes give other pixels and no error", f.Name, n, len(f.Data))
				break
			}
		}
	}
}
