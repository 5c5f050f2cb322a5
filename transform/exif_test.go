package transform

import (
	"bytes"
	"encoding/hex"
	"image"
	"os"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/testenv"
)

func TestExifTransposeIsPillows(t *testing.T) {
	testenv.OneGoroutine(t)
	golden := readGolden(t).Exif
	if len(golden) != 8 {
		t.Fatalf("%d orientations", len(golden))
	}
	for _, c := range golden {
		data, err := hex.DecodeString(c.File)
		if err != nil {
			t.Fatal(err)
		}
		got := result(t, encoded(data), ExifTranspose(), cut(image.Rect(0, 0, c.W, c.H)))
		if sum(got.Data()) != c.SHA {
			t.Errorf("orientation %d: other pixels than Pillow's", c.Orientation)
		}
		got = result(t, encoded(data), ExifTranspose(), Resize([2]int{9, 7}), cut(image.Rect(1, 2, 6, 9)))
		if sum(got.Data()) != c.Small {
			t.Errorf("orientation %d, resized: other pixels than Pillow's", c.Orientation)
		}
	}
}

func TestOrientationIsFoundWherePillowFindsIt(t *testing.T) {
	testenv.OneGoroutine(t)
	for _, c := range readGolden(t).Turned {
		data, err := hex.DecodeString(c.File)
		if err != nil {
			t.Fatal(err)
		}
		got := result(t, encoded(data), ExifTranspose(), cut(image.Rect(0, 0, c.W, c.H)))
		if sum(got.Data()) != c.SHA {
			t.Errorf("%s: other pixels than Pillow's", c.Name)
		}
	}
}

func TestOrientationIsLeftAloneUnlessAskedFor(t *testing.T) {
	plain, err := os.ReadFile("testdata/half.jpg")
	if err != nil {
		t.Fatal(err)
	}
	data, err := hex.DecodeString(readGolden(t).Exif[5].File)
	if err != nil {
		t.Fatal(err)
	}
	whole := cut(image.Rect(0, 0, 19, 13))
	if !bytes.Equal(dataset.ValuesOf[uint8](result(t, encoded(data), whole)), dataset.ValuesOf[uint8](result(t, encoded(plain), whole))) {
		t.Error("the image was turned")
	}
}

// TestExifTransposeTurnsValues compares with the pixels of 8 bits, of which the values of Depth16 are 257 times as much.
func TestExifTransposeTurnsValues(t *testing.T) {
	turned := 0
	for _, c := range readGolden(t).Exif {
		data, err := hex.DecodeString(c.File)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []image.Rectangle{image.Rect(0, 0, c.W, c.H), image.Rect(1, 2, 6, 9)} {
			pixels := dataset.ValuesOf[uint8](result(t, encoded(data), ExifTranspose(), cut(part), PILToTensor()))
			values := dataset.ValuesOf[uint16](result(t, encoded(data), Depth16(3), ExifTranspose(), cut(part), PILToTensor()))
			for i, v := range pixels {
				if values[i] != 257*uint16(v) {
					t.Errorf("orientation %d, %v: value %d is %d, want %d", c.Orientation, part, i, values[i], 257*uint16(v))
					break
				}
			}
		}
		turned++
	}
	if turned < 8 {
		t.Errorf("%d files", turned)
	}
}

func TestExifTransposeComesFirst(t *testing.T) {
	data, err := os.ReadFile("testdata/half.jpg")
	if err != nil {
		t.Fatal(err)
	}
	for _, before := range []Item{CenterCrop(3), Apply(nothing{}), ExifTranspose(), ToTensor()} {
		_, err := Images(encoded(data), before, ExifTranspose(), CenterCrop(3))
		if err == nil || !strings.Contains(err.Error(), "ExifTranspose(): must come") {
			t.Errorf("after %v: error %v", before, err)
		}
	}
}

func TestTruncatedJPEGIsAnImageWhereAllowed(t *testing.T) {
	data, err := os.ReadFile("testdata/rgb.jpg")
	if err != nil {
		t.Fatal(err)
	}
	part := data[:len(data)-40]
	if place(t, part) == nil {
		t.Error("no error without AllowTruncated")
	}
	if err := place(t, part, AllowTruncated()); err != nil {
		t.Error(err)
	}
}
