package transform_test

import (
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// TestPlanesGiveTheSameAsPixels takes images as planes, which go straight into
// the slot, and as pixels, which do not.
func TestPlanesGiveTheSameAsPixels(t *testing.T) {
	const w, h = 13, 9
	for _, channels := range []int{1, 3, 4} {
		pixels, planes := make([]uint8, w*h*channels), make([]uint8, w*h*channels)
		for i := range w * h {
			for c := range channels {
				v := uint8(31*i + 101*c)
				pixels[i*channels+c], planes[c*w*h+i] = v, v
			}
		}
		normal := []transform.Item{transform.ToTensor(), transform.Normalize([]float32{0.1, 0.2, 0.3}, []float32{0.4, 0.5, 0.6}), transform.RandomErasing(1)}
		run := func(shape dataset.Shape, data []uint8) []float32 {
			ds, err := dataset.Tensors(dataset.Named("image", dataset.TensorOf(data, shape...)))
			if err != nil {
				t.Fatal(err)
			}
			p, err := transform.Images(ds, normal...)
			if err != nil {
				t.Fatal(err)
			}
			sample, err := dataset.At(t.Context(), p, 0)
			if err != nil {
				t.Fatal(err)
			}
			return dataset.ValuesOf[float32](sample["image"])
		}
		got, want := run(dataset.Shape{1, channels, h, w}, planes), run(dataset.Shape{1, h, w, channels}, pixels)
		if !slices.Equal(got, want) {
			t.Errorf("%d channels: planes and pixels differ", channels)
		}
	}
}
