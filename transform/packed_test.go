package transform

import (
	"bytes"
	"encoding/hex"
	"image"
	"os"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/internal/codec/photo"
)

func TestPackedPhotosKeepTheirOrientation(t *testing.T) {
	golden := readGolden(t)
	for _, c := range golden.Exif {
		data, err := hex.DecodeString(c.File)
		if err != nil {
			t.Fatal(err)
		}
		for _, level := range []packed.Level{packed.Fast, packed.Small} {
			record := packedFiles(t, encoded(data), level)[0]
			if !bytes.HasPrefix(record, []byte(photo.Signature)) {
				t.Fatalf("orientation %d: not packed", c.Orientation)
			}
			got := result(t, encoded(record), ExifTranspose(), cut(image.Rect(0, 0, c.W, c.H)))
			if sum(got.Data()) != c.SHA {
				t.Errorf("orientation %d: other pixels than Pillow's", c.Orientation)
			}
		}
	}
}

func TestFilesThatCannotBePackedStayAsTheyAre(t *testing.T) {
	whole, err := os.ReadFile("testdata/half.jpg")
	if err != nil {
		t.Fatal(err)
	}
	for what, data := range map[string][]byte{
		"empty":     {},
		"text":      []byte("no image"),
		"PNG":       []byte("\x89PNG\r\n\x1a\n and so on"),
		"truncated": whole[:len(whole)*2/3],
		"packed":    packedFiles(t, encoded(whole), packed.Fast)[0],
	} {
		if got := packedFiles(t, encoded(data), packed.Fast)[0]; !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes became %d others", what, len(data), len(got))
		}
	}
}

func TestDamagedPackedPhotoIsNamed(t *testing.T) {
	data, err := os.ReadFile("testdata/half.jpg")
	if err != nil {
		t.Fatal(err)
	}
	record := packedFiles(t, encoded(data), packed.Fast)[0]
	record[len(record)-1] ^= 1
	err = place(t, record)
	if err == nil || !strings.Contains(err.Error(), "transform: decode: packed photo: photo: MCU row ") || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("error %v, want one that names the row", err)
	}
}
