package tiff_test

import (
	"encoding/binary"
	"image"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/codec/tiff"
	"github.com/penstock-go/penstock/internal/pillowtest"
)

func FuzzDecodeSamples(f *testing.F) {
	open := func() pillowtest.SampleDecoder { return withZstd(tiff.Decoder{MaxPixels: chunkPixels, Stored: true}) }
	f.Add(file(64*3, field{277, 3}, field{284, 2}))
	f.Add(file(64*12*2, field{277, 12}, field{258, 16}, field{274, 7}))
	f.Add(file(64*4, field{258, 32}, field{339, 3}))
	pillowtest.FuzzSamples(f, open, chunkPixels*pixelMemory)
}

func TestSamplesStayAsTheyAreStored(t *testing.T) {
	data := file(64*4, field{258, 16}, field{277, 2}, field{274, 6})
	for i := range 128 {
		binary.LittleEndian.PutUint16(data[8+2*i:], uint16(500*i))
	}
	d := tiff.Decoder{Stored: true}
	if _, _, err := d.Header(data); err != nil {
		t.Fatal(err)
	}
	if n, dtype, ok := d.StoredSamples(); n != 2 || dtype != dataset.Uint16 || !ok {
		t.Errorf("%d samples of %v, %v", n, dtype, ok)
	}
	got := make([]float32, 2*2)
	if err := d.DecodeSamples(got, image.Rect(6, 2, 8, 3)); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float32{500 * 2 * (8*1 + 2), 500 * 2 * 2, 500 * (2*(8*1+2) + 1), 500 * (2*2 + 1)} {
		if got[i] != want { // column 6 of the rotated image is row 1 of the stored one
			t.Errorf("value %d is %v, want %v", i, got[i], want)
		}
	}
	if err := d.Decode(make([]byte, 4), 4, image.Rect(0, 0, 1, 1)); err == nil {
		t.Error("pixels of stored samples: no error")
	}
}

// TestFilesOfColoursHaveNoStoredSamples asks for files that Decode alone reads.
func TestFilesOfColoursHaveNoStoredSamples(t *testing.T) {
	for _, f := range pillowtest.Files(t) {
		colours := strings.HasPrefix(f.Name, "jpeg") || strings.HasPrefix(f.Name, "fax") || strings.HasPrefix(f.Name, "p3") || strings.HasPrefix(f.Name, "p1-1uint")
		if !colours || f.RGB == "" {
			continue
		}
		d := tiff.Decoder{Stored: true}
		w, h, err := d.Header(f.Data)
		if err != nil {
			t.Fatal(f.Name, err)
		}
		if _, _, ok := d.StoredSamples(); ok {
			t.Errorf("%s: has stored samples", f.Name)
		}
		if err := d.Decode(make([]byte, 4*w*h), 4*w, image.Rect(0, 0, w, h)); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}

func TestPromisesOfSamplesTakeNoMemory(t *testing.T) {
	for _, compression := range []uint32{1, 5, 8, 32773, 50000} {
		for _, samples := range []uint32{1, 12, 4096, 4097, 1 << 30} {
			for _, planar := range []uint32{1, 2} {
				data := file(99, field{256, 12000}, field{257, 12000}, field{278, 12000}, field{258, 16}, field{277, samples}, field{259, compression}, field{284, planar})
				var err error
				if used := allocs.Bytes(little, func() { _, _, err = withZstd(tiff.Decoder{Stored: true}).Header(data) }); err == nil || used > little {
					t.Errorf("compression %d, %d samples: %d bytes allocated: %v", compression, samples, used, err)
				}
			}
		}
	}
}

// TestSmallFilesDoNotPromiseManySamples has files whose planes share their bytes, and tiles that decompress to
// many samples.
func TestSmallFilesDoNotPromiseManySamples(t *testing.T) {
	const table = 4 * 4096 // bytes of the planes' offsets
	planes := file(table+512*512, field{256, 512}, field{257, 512}, field{278, 512}, field{284, 2}, field{277, 4096})
	planes = renamed(planes, 273, 273, 4096)
	for i := range 4096 {
		binary.LittleEndian.PutUint32(planes[8+4*i:], 8+table)
	}
	d := tiff.Decoder{Stored: true}
	if _, _, err := d.Header(planes); err == nil {
		t.Error("4096 planes in the bytes of one: no error")
	}
	tile := []field{{256, 512}, {257, 512}, {278, 512}, {258, 8}, {277, 64}, {259, 50000}}
	for limit, want := range map[int]string{512 * 512 * 64: "", 512*512*64 - 1: "strips of 512×512 pixels and 64 samples, more than the limit"} {
		d := withZstd(tiff.Decoder{Stored: true, MaxPixels: limit})
		if _, _, err := d.Header(file(512*512, tile...)); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("limit %d: got %v, want %q", limit, err, want)
		}
	}
}
