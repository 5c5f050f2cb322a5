package photo_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"image"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/codec/blockcode"
	"github.com/penstock-go/penstock/internal/codec/jpeg"
	"github.com/penstock-go/penstock/internal/codec/photo"
)

const shared = "../../../../shared"

var levels = map[string]blockcode.Level{"fast": blockcode.Fast, "small": blockcode.Small}

// A picture is a JPEG file.
type picture struct {
	name string
	data []byte
}

// testImages are the synthetic images of package jpeg, in all samplings and modes, with
// what is wrong with some.
func testImages(tb testing.TB) []picture {
	archive, err := zip.OpenReader("../jpeg/testdata/images.zip")
	if err != nil {
		tb.Fatal(err)
	}
	defer archive.Close()
	var set []picture
	for _, f := range archive.File {
		if !strings.HasSuffix(f.Name, ".jpg") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			tb.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			tb.Fatal(err)
		}
		set = append(set, picture{f.Name, data})
	}
	return set
}

// sharedPhotos are the shared photos, one in twenty in short tests.
func sharedPhotos(tb testing.TB) []picture {
	paths, err := filepath.Glob(filepath.Join(shared, "photos", "*", "*.JPEG"))
	if err != nil || len(paths) == 0 {
		tb.Skip("shared photos are missing")
	}
	var set []picture
	for i, path := range paths {
		if testing.Short() && i%20 != 0 {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		set = append(set, picture{filepath.Base(path), data})
	}
	return set
}

func newDecoder() *photo.Decoder { return &photo.Decoder{JPEG: new(jpeg.Decoder)} }

func pack(tb testing.TB, data []byte, level blockcode.Level) []byte {
	tb.Helper()
	var p photo.Packer
	record, err := p.Pack(nil, data, level)
	if err != nil {
		tb.Fatal(err)
	}
	return record
}

// whole decodes all of an image.
func whole(d interface {
	Header(data []byte) (jpeg.Config, error)
	Decode(dst []byte, stride int, window image.Rectangle) error
}, data []byte) (c jpeg.Config, pixels []byte, err error) {
	if c, err = d.Header(data); err != nil {
		return c, nil, err
	}
	pixels = make([]byte, 4*c.Width*c.Height)
	return c, pixels, d.Decode(pixels, 4*c.Width, image.Rect(0, 0, c.Width, c.Height))
}

// crop is a window of an image with these pixels.
func crop(c jpeg.Config, pixels []byte, w image.Rectangle) []byte {
	var part []byte
	for y := w.Min.Y; y < w.Max.Y; y++ {
		part = append(part, pixels[4*(y*c.Width+w.Min.X):4*(y*c.Width+w.Max.X)]...)
	}
	return part
}

// sameAsFile compares a record with its file: the header, all pixels, and some windows.
func sameAsFile(t *testing.T, from *jpeg.Decoder, to *photo.Decoder, p picture, record []byte) {
	t.Helper()
	want, pixels, err := whole(from, p.data)
	if err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	got, again, err := whole(to, record)
	if err != nil {
		t.Errorf("%s: %v", p.name, err)
		return
	}
	if got.Width != want.Width || got.Height != want.Height || got.Model != want.Model || got.Orientation != want.Orientation {
		t.Errorf("%s: header %+v, want %+v", p.name, got, want)
	}
	if !bytes.Equal(again, pixels) {
		t.Errorf("%s: %+v: other pixels than the file's", p.name, got)
	}
	r := rand.New(rand.NewPCG(1, uint64(len(record))))
	for range 3 {
		x, y := r.IntN(want.Width), r.IntN(want.Height)
		w := image.Rect(x, y, x+1+r.IntN(want.Width-x), y+1+r.IntN(want.Height-y))
		part := make([]byte, 4*w.Dx()*w.Dy())
		if err := to.Decode(part, 4*w.Dx(), w); err != nil || !bytes.Equal(part, crop(want, pixels, w)) {
			t.Errorf("%s: window %v differs: %v", p.name, w, err)
		}
	}
}

func TestRecordsHaveTheFilesPixels(t *testing.T) {
	for name, level := range levels {
		t.Run(name, func(t *testing.T) {
			from, to, packer := new(jpeg.Decoder), newDecoder(), new(photo.Packer)
			packed := 0
			for _, p := range testImages(t) {
				c, _, wrong := whole(from, p.data)
				record, err := packer.Pack(nil, p.data, level)
				if err != nil {
					if wrong == nil && !errors.Is(err, errors.ErrUnsupported) {
						t.Errorf("%s: %v", p.name, err)
					}
					continue
				}
				if wrong != nil || c.Components == 4 {
					t.Errorf("%s was packed, though it has %d components and decodes with %v", p.name, c.Components, wrong)
					continue
				}
				sameAsFile(t, from, to, p, record)
				packed++
			}
			if packed < 90 {
				t.Errorf("%d images were packed", packed)
			}
		})
	}
}

func TestAllSharedPhotosHaveTheirPixels(t *testing.T) {
	photos := sharedPhotos(t)
	for name, level := range levels {
		t.Run(name, func(t *testing.T) {
			from, to, packer := new(jpeg.Decoder), newDecoder(), new(photo.Packer)
			bytes, files := 0, 0
			for _, p := range photos {
				record, err := packer.Pack(nil, p.data, level)
				if err != nil {
					t.Errorf("%s: %v", p.name, err)
					continue
				}
				sameAsFile(t, from, to, p, record)
				bytes, files = bytes+len(record), files+len(p.data)
			}
			most := map[blockcode.Level]float64{blockcode.Fast: 1.33, blockcode.Small: 1.05}[level]
			if ratio := float64(bytes) / float64(files); ratio > most {
				t.Errorf("the records of %d photos have %.3f times the bytes of their files, want at most %.2f", len(photos), ratio, most)
			}
		})
	}
}

func find(tb testing.TB, set []picture, name string) []byte {
	for _, p := range set {
		if p.name == name {
			return p.data
		}
	}
	tb.Fatalf("no image %s in the set", name)
	return nil
}

func TestDecodingAllocatesNothing(t *testing.T) {
	record := pack(t, find(t, testImages(t), "sample.jpg"), blockcode.Fast)
	d := newDecoder()
	c, err := d.Header(record)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]byte, 4*c.Width*c.Height)
	if n := allocs.PerRun(0, 20, func() {
		if _, err := d.Header(record); err != nil {
			t.Fatal(err)
		}
		if err := d.Decode(dst, 4*c.Width, image.Rect(0, 0, c.Width, c.Height)); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations for a photo", n)
	}
}
