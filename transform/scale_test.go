package transform_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// TestToTensorDividesAndScaleMultiplies has all 256 levels, in rows that are long enough for
// kernels, without and with Depth16.
func TestToTensorDividesAndScaleMultiplies(t *testing.T) {
	scale := transform.ToDtype(dataset.Float32, transform.Scaled())
	quotient := func(x uint8) float32 { return float32(x) / 255 }
	product := func(x uint8) float32 { return float32(x) * math.Float32frombits(0x3b808081) } // 1/255
	mean, std := []float32{0.485, 0.456, 0.406}, []float32{0.229, 0.224, 0.225}
	different := 0
	for x := range 256 {
		if quotient(uint8(x)) != product(uint8(x)) {
			different++
		}
	}
	if different != 126 || math.Float32bits(product(3)) != 0x3c40c0c2 || math.Float32bits(quotient(3)) != 0x3c40c0c1 {
		t.Errorf("%d levels differ, and 3 becomes %#x and %#x", different, math.Float32bits(product(3)), math.Float32bits(quotient(3)))
	}
	for _, shape := range [][]int{{32, 24, 3}, {3, 32, 24}} {
		ds := ramp(t, shape...) // 7·i, so every level three times per channel
		for _, begin := range [][]transform.Item{nil, {transform.Depth16(3)}, {transform.RandomHorizontalFlip(0)}} {
			pix := valuesOf[uint8](t, ds, append(slices.Clone(begin), transform.PILToTensor())...)
			for _, test := range []struct {
				step transform.Step
				unit func(uint8) float32
			}{{transform.ToTensor(), quotient}, {scale, product}} {
				name := fmt.Sprint(shape, begin, test.step)
				steps := append(slices.Clone(begin), test.step)
				for i, v := range valuesOf[float32](t, ds, steps...) {
					if v != test.unit(pix[i]) {
						t.Fatalf("%s: %d becomes %v, want %v", name, pix[i], v, test.unit(pix[i]))
					}
				}
				steps = append(steps, transform.Normalize(mean, std))
				want := make([]float32, len(pix))
				for i, v := range valuesOf[float32](t, ds, steps...) {
					c := i / (len(pix) / 3)
					if want[i] = float32(test.unit(pix[i])-mean[c]) / std[c]; v != want[i] {
						t.Fatalf("%s, Normalize: %d becomes %v, want %v", name, pix[i], v, want[i])
					}
				}
				steps = append(steps, transform.ToDtype(dataset.BFloat16))
				for i, v := range deepValues[dataset.BF16](t, images(t, ds, steps...), 0) {
					if v != dataset.ToBF16(want[i]) {
						t.Fatalf("%s, Normalize, bfloat16: %d becomes %v, want %v", name, pix[i], v, dataset.ToBF16(want[i]))
					}
				}
			}
		}
	}
}

func TestScaleStandsInPlaceOfToTensor(t *testing.T) {
	scale := transform.ToDtype(dataset.Float32, transform.Scaled())
	for want, steps := range map[string][]transform.Item{
		"transform: ToDtype(float16, Scaled()): want dataset.Float32 with Scaled, and another ToDtype after it":          {transform.ToDtype(dataset.Float16, transform.Scaled())},
		"transform: ToDtype(float32, Scaled()): want only one of ToTensor, PILToTensor, Rescale and ToDtype with Scaled": {transform.ToTensor(), scale},
	} {
		if _, err := transform.Images(ramp(t, 8, 8, 3), steps...); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	plan := images(t, ramp(t, 8, 8, 3), scale).String()
	if want := "store     ToDtype(float32, Scaled()), float32 CHW"; plan[len(plan)-len(want):] != want {
		t.Errorf("plan\n%s\nwant %s at its end", plan, want)
	}
}
