package transform_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// sizes of mosaics, among them the smallest.
var sizes = []image.Point{{31, 23}, {1, 1}, {1, 17}, {19, 1}, {2, 3}, {40, 37}, {8, 8}, {25, 60}}

// mosaics are grey PNG files of 8 or 16 bits with themselves as mask, with 0 to 3 boxes, each with a plane, a
// label and a keypoint, and with keypoints of their own. Every fifth image is cut off.
func mosaics(t testing.TB, bits int) dataset.Dataset {
	t.Helper()
	const n = 16
	var photos, masks [][]byte
	for i := range n {
		size := sizes[i%len(sizes)]
		grey, deep := image.NewGray(image.Rectangle{Max: size}), image.NewGray16(image.Rectangle{Max: size})
		for k := range grey.Pix {
			v := uint16(1 + 7*(k%size.X) + 31*(k/size.X) + i)
			grey.Pix[k] = uint8(v)
			deep.SetGray16(k%size.X, k/size.X, color.Gray16{Y: 100 * v})
		}
		var file bytes.Buffer
		var m image.Image = grey
		if bits == 16 {
			m = deep
		}
		if err := png.Encode(&file, m); err != nil {
			t.Fatal(err)
		}
		masks = append(masks, file.Bytes())
		if i%5 == 4 {
			file.Truncate(file.Len() - 20)
		}
		photos = append(photos, file.Bytes())
	}
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Ragged: true},
		{Name: "boxes", Dtype: dataset.Float32, Shape: dataset.Shape{4}, Ragged: true},
		{Name: "label", Dtype: dataset.Int64, Ragged: true},
		{Name: "points", Dtype: dataset.Float32, Shape: dataset.Shape{3}, Ragged: true},
		{Name: "planes", Dtype: dataset.Uint8, Ragged: true},
		{Name: "mask", Dtype: dataset.Uint8, Ragged: true},
		{Name: "spots", Dtype: dataset.Float32, Shape: dataset.Shape{2, 2}},
		{Name: "number", Dtype: dataset.Int32, Shape: dataset.Shape{1}},
	}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		size, objects := sizes[i%len(sizes)], i%4
		w, h := float32(size.X), float32(size.Y)
		copy(dataset.Grow[uint8](dst, 0, len(photos[i])), photos[i])
		boxes, labels, points := dataset.Grow[float32](dst, 1, objects), dataset.Grow[int64](dst, 2, objects), dataset.Grow[float32](dst, 3, objects)
		planes := dataset.Grow[uint8](dst, 4, objects*size.X*size.Y)
		for k := range objects {
			f := float32(k) / 4
			copy(boxes[4*k:], []float32{f * w, f * h, (f + 0.5) * w, (f + 0.4) * h})
			copy(points[3*k:], []float32{f * w, f * h, float32(k)})
			labels[k] = int64(10*i + k)
			for p := range size.X * size.Y {
				planes[k*size.X*size.Y+p] = uint8(1 + k)
			}
		}
		copy(dataset.Grow[uint8](dst, 5, len(masks[i])), masks[i])
		copy(dataset.Row[float32](dst, 6), []float32{0, 0, w / 2, h / 3})
		dataset.Row[int32](dst, 7)[0] = int32(i)
		return nil
	})
}

// shrunk is an own step that halves the numbers of the mask, of the planes and of all that lies in the image.
type shrunk struct{}

func (f shrunk) ApplySample(s *transform.Sample, r *rand.Rand) error {
	for k, v := range dataset.Row[int32](s.Fields, 0) {
		dataset.Row[int32](s.Fields, 0)[k] = v / 2
	}
	for k, v := range dataset.Row[uint8](s.Fields, 1) {
		dataset.Row[uint8](s.Fields, 1)[k] = v / 2
	}
	for field := 2; field < 5; field++ {
		for k, v := range dataset.Row[float32](s.Fields, field) {
			dataset.Row[float32](s.Fields, field)[k] = v / 2
		}
	}
	dataset.Row[int32](s.Fields, 5)[0] += 1000 + r.Int32N(9)
	return nil
}

// inverted changes the mask and the label together with the image.
func inverted(s *transform.Sample, _ *rand.Rand) error {
	for k, v := range dataset.Row[int32](s.Fields, 0) {
		dataset.Row[int32](s.Fields, 0)[k] = 65535 - v
	}
	for k := range dataset.Row[int64](s.Fields, 1) {
		dataset.Row[int64](s.Fields, 1)[k]++
	}
	if s.Planes != nil {
		for k, v := range s.Planes.Pix {
			s.Planes.Pix[k] = 65535 - v
		}
	}
	return nil
}
