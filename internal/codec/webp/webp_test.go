package webp_test

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/webp"
	"github.com/penstock-go/penstock/internal/pillowtest"
	"github.com/penstock-go/penstock/internal/testenv"
)

func TestFilesBecomePillowsRGB(t *testing.T) { pillowtest.Equal(t, new(webp.Decoder)) }
func TestWindowsAreCrops(t *testing.T)       { pillowtest.Windows(t, new(webp.Decoder)) }

func TestCutFilesAreErrors(t *testing.T) {
	testenv.OneGoroutine(t)
	for _, f := range pillowtest.Files(t) {
		if f.RGB == "" || f.Name == "trailing.webp" {
			continue
		}
		for n := range f.Data {
			if _, _, err := new(webp.Decoder).Header(f.Data[:n:n]); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s: %d of %d bytes: error %v, want an unexpected end", f.Name, n, len(f.Data), err)
			}
		}
	}
}

func TestOrientationIsThatOfExifOrXMP(t *testing.T) {
	still, err := os.ReadFile("testdata/extended.webp")
	if err != nil {
		t.Fatal(err)
	}
	exif := []byte("EXIF\x1a\x00\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00")
	empty := []byte("EXIF\x0e\x00\x00\x00II*\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	xmp := []byte("XMP \x14\x00\x00\x00tiff:Orientation=\"8\"")
	for name, c := range map[string]struct {
		flags byte
		more  []byte
		want  int
	}{
		"none":            {0, nil, 0},
		"Exif":            {8, exif, 6},
		"XMP":             {4, xmp, 8},
		"both":            {12, slices.Concat(xmp, exif), 6},
		"unsaid":          {0, exif, 0},
		"Exif without it": {12, slices.Concat(empty, xmp), 8},
	} {
		file := slices.Concat(still, c.more)
		file[20] |= c.flags
		binary.LittleEndian.PutUint32(file[4:], uint32(len(file)-8))
		var d webp.Decoder
		if _, _, err := d.Header(file); err != nil || d.Orientation() != c.want {
			t.Errorf("%s: got %d, error %v, want %d", name, d.Orientation(), err, c.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	open := func() pillowtest.Decoder { return new(webp.Decoder) }
	// The decoders of x/image keep whole macroblocks of a lossy file, with 1.5 bytes per pixel,
	// and for a lossless one twice 4 bytes per pixel and tables for groups of codes.
	pillowtest.Fuzz(f, open, func(w, h int) int { return groupsMemory + 16*(w+16)*(h+16) })
}
