package transform

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"
)

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
