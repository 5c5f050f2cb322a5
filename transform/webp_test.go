package transform

import (
	"encoding/binary"
	"os"
	"runtime"
	"strings"
	"testing"
)

// promise sets the size in the header of a testdata file, of which WebP and GIF
// files take 14 and 16 bits.
func promise(t *testing.T, name string, w, h int) []byte {
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	switch name {
	case "lossy.webp":
		binary.LittleEndian.PutUint16(data[26:], uint16(w))
		binary.LittleEndian.PutUint16(data[28:], uint16(h))
	case "lossless.webp":
		v := binary.LittleEndian.Uint32(data[21:])
		binary.LittleEndian.PutUint32(data[21:], v>>28<<28|uint32(h-1)<<14|uint32(w-1))
	default:
		binary.LittleEndian.PutUint16(data[6:], uint16(w))
		binary.LittleEndian.PutUint16(data[8:], uint16(h))
	}
	return data
}

func TestSmallFilesCannotPromiseManyPixels(t *testing.T) {
	for _, name := range []string{"lossy.webp", "lossless.webp", "palette.gif"} {
		data := promise(t, name, 12000, 12000)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := place(t, data)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "too few") || !strings.Contains(err.Error(), "MaxPixels") {
			t.Errorf("%s: error %v, want too few bytes", name, err)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
			t.Errorf("%s: %d bytes allocated for an error", name, grown)
		}
	}
}

func TestMaxPixelsLiftsTheLimitOfLosslessFiles(t *testing.T) {
	data := promise(t, "lossless.webp", 4000, 4000)
	if err := place(t, data); err == nil || !strings.Contains(err.Error(), "too few") {
		t.Errorf("error %v, want too few bytes", err)
	}
	// The file is damaged, but the limit is not what it fails by.
	if err := place(t, data, MaxPixels(4000*4000)); err == nil || strings.Contains(err.Error(), "too few") {
		t.Errorf("error %v, want one of the decoder", err)
	}
	if err := place(t, promise(t, "lossless.webp", 19, 13)); err != nil {
		t.Error(err)
	}
}

// TestExtendedFileHasTheSizeOfItsPicture puts a picture into an extended file
// whose header says another size.
func TestExtendedFileHasTheSizeOfItsPicture(t *testing.T) {
	data, err := os.ReadFile("testdata/lossy.webp")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []byte{19, 20} {
		header := []byte{'V', 'P', '8', 'X', 10, 0, 0, 0, 0, 0, 0, 0, w - 1, 0, 0, 12, 0, 0}
		file := append(append(data[:12:12], header...), data[12:]...)
		binary.LittleEndian.PutUint32(file[4:], uint32(len(file)-8))
		err := place(t, file)
		if w == 19 && err != nil {
			t.Error(err)
		}
		if w != 19 && (err == nil || !strings.Contains(err.Error(), "no picture of 20×13 pixels")) {
			t.Errorf("error %v, want one about the size", err)
		}
	}
}
