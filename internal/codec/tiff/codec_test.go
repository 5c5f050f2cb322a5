package tiff_test

import (
	"errors"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/penstock-go/penstock/internal/codec/tiff"
)

// withZstd adds zstd to a decoder, as package transform/zstd does.
func withZstd(d tiff.Decoder) *tiff.Decoder {
	frames, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.IgnoreChecksum(true), zstd.WithDecodeAllCapLimit(true))
	d.Codecs = append(d.Codecs, tiff.Codec{Code: 50000, Decompress: func(dst, src []byte) error {
		if err != nil {
			return err
		}
		out, err := frames.DecodeAll(src, dst[:0:len(dst)])
		switch {
		case len(out) == len(dst):
			return nil
		case err != nil:
			return err
		}
		return errors.New("too few bytes")
	}})
	return &d
}

func TestZstdIsUnsupportedWithoutItsCodec(t *testing.T) {
	names, err := filepath.Glob(filepath.Join("testdata", "*zstd*.tif"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, stored := range []bool{false, true} {
			_, _, err = (&tiff.Decoder{Stored: stored}).Header(data)
			if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "compression 50000 (zstd; package transform/zstd adds it)") {
				t.Errorf("%s: %v, want an error that names the package with zstd", name, err)
			}
		}
	}
}

func TestCodecComesBeforeTheCompressions(t *testing.T) {
	fill := func(dst, src []byte) error {
		for i := range dst {
			dst[i] = src[0]
		}
		return nil
	}
	for _, code := range []int{5, 34925} {
		data := file(1, field{259, uint32(code)})
		data[8] = 77
		d := tiff.Decoder{Codecs: []tiff.Codec{{Code: code, Decompress: fill}}}
		pix := make([]byte, 4*8*8)
		_, _, err := d.Header(data)
		if err == nil {
			err = d.Decode(pix, 4*8, image.Rect(0, 0, 8, 8))
		}
		if err != nil || pix[0] != 77 || pix[len(pix)-2] != 77 {
			t.Errorf("compression %d: %v, %v", code, pix, err)
		}
	}
}
