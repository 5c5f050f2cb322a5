package voc_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/voc"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// palette has a colour for every class number.
var palette = func() color.Palette {
	p := make(color.Palette, 256)
	for i := range p {
		p[i] = color.Gray{uint8(i)}
	}
	return p
}()

// TestTransformRemovesObjectsOutside crops two images: of the first one object is left, of the
// second none.
func TestTransformRemovesObjectsOutside(t *testing.T) {
	fsys := devkit(horse)
	fsys["JPEGImages/2008_000008.jpg"] = &fstest.MapFile{Data: photo(200, 150)}
	fsys["JPEGImages/2008_000015.jpg"] = &fstest.MapFile{Data: photo(60, 160)}
	photos, err := voc.Detection(fsys, "train")
	if err != nil {
		t.Fatal(err)
	}
	ds, err := transform.Images(photos,
		transform.Crop(80, 20, 50, 40), transform.SanitizeBoundingBoxes(), transform.ConvertBoundingBoxFormat(dataset.BoxesXYWH), transform.ToTensor())
	if err != nil {
		t.Fatal(err)
	}
	wholeEpoch(t, ds, map[string]any{
		"boxes":     []float32{32, 6, 8, 44},
		"label":     []int64{13},
		"difficult": []uint8{0},
		"truncated": []uint8{1},
	}, []int{0, 1, 1})
}

// TestTransformMovesMasksWithImages gives both the same numbers.
func TestTransformMovesMasksWithImages(t *testing.T) {
	grey, mask := image.NewGray(image.Rect(0, 0, 30, 20)), image.NewPaletted(image.Rect(0, 0, 30, 20), palette)
	for i := range grey.Pix {
		grey.Pix[i], mask.Pix[i] = uint8(i%256), uint8(i%256)
	}
	var photo, numbers bytes.Buffer
	if err := png.Encode(&photo, grey); err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(&numbers, mask); err != nil {
		t.Fatal(err)
	}
	fsys := devkit(horse)
	fsys["JPEGImages/2008_000015.jpg"] = &fstest.MapFile{Data: photo.Bytes()}
	fsys["SegmentationClass/2008_000015.png"] = &fstest.MapFile{Data: numbers.Bytes()}
	photos, err := voc.Segmentation(fsys, "train")
	if err != nil {
		t.Fatal(err)
	}
	ds, err := transform.Images(photos, transform.RandomRotation(-40, 40), transform.RandomCrop(16), transform.RandomVerticalFlip(0.5),
		transform.Grayscale(1), transform.PILToTensor())
	if err != nil {
		t.Fatal(err)
	}
	l, err := loader.New(ds)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for b, err := range l.Epochs(t.Context(), 0, 20) {
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes("image"), b.Bytes("mask")) {
			t.Errorf("epoch %d: the mask differs from its image", b.Epoch())
		}
	}
}
