package resize

import (
	"encoding/binary"
	"image"
	"math"
)

// OpenCV computes cv2.resize with INTER_LINEAR for 8 bits per channel, bit for bit: two source pixels per axis, also
// where an image shrinks. Models that were trained on images of OpenCV expect it. Pixels are 4 bytes, and the
// fourth becomes 255. The zero value is ready for use.
//
// Weights have 11 bits of fraction. The sum of a row loses 4 bits, and its product with the weight of the row 16, before
// the two rows are added.
type OpenCV struct {
	x, y axisOfTwo
	rows [2][]uint64 // sums of two source rows: 21 bits each for red, green and blue
	held [2]int      // which rows these are
}

const openCVOne = 1 << 11

// An axisOfTwo says for every computed position which two source pixels contribute, and their weights.
type axisOfTwo struct {
	at     [][2]int32
	weight [][2]uint64
}

// Begin prepares a resize, and returns the source pixels that it needs.
func (o *OpenCV) Begin(x, y Axis) image.Rectangle {
	left, right := o.x.compute(x, true)
	top, bottom := o.y.compute(y, false)
	return image.Rect(left, top, right, bottom)
}

// compute returns the bounds of the source positions. Those of the axis begin at the lower one. Beyond the image's edge the
// edge is repeated; where columns are, it has all of the weight.
func (t *axisOfTwo) compute(a Axis, columns bool) (lo, hi int) {
	n := a.To - a.From
	if cap(t.at) < n {
		t.at, t.weight = make([][2]int32, n), make([][2]uint64, n)
	}
	t.at, t.weight = t.at[:n], t.weight[:n]
	scale := float64(a.In) / float64(a.Out)
	lo, hi = a.In, 0
	for i := range n {
		d := a.From + i
		if a.Reverse {
			d = a.To - 1 - i
		}
		x := float32(float64((float64(d)+0.5)*scale) - 0.5)
		s := int(math.Floor(float64(x)))
		f := x - float32(s)
		if columns && (s < 0 || s >= a.In-1) {
			f = 0
		}
		first, second := min(max(s, 0), a.In-1), min(max(s+1, 0), a.In-1)
		t.at[i] = [2]int32{int32(first), int32(second)}
		t.weight[i] = [2]uint64{
			uint64(math.RoundToEven(float64((1 - f) * openCVOne))),
			uint64(math.RoundToEven(float64(f * openCVOne))),
		}
		lo, hi = min(lo, first), max(hi, second+1)
	}
	for i := range t.at {
		t.at[i][0] -= int32(lo)
		t.at[i][1] -= int32(lo)
	}
	return lo, hi
}

// Resize writes the positions of Begin to dst. src has the pixels that Begin has asked for. Strides are in bytes.
func (o *OpenCV) Resize(dst []byte, dstStride int, src []byte, srcStride int) {
	wide := len(o.x.at)
	for i := range o.rows {
		if cap(o.rows[i]) < wide {
			o.rows[i] = make([]uint64, wide)
		}
		o.rows[i], o.held[i] = o.rows[i][:wide], -1
	}
	for y, at := range o.y.at {
		near, far := o.row(src, srcStride, int(at[0]), int(at[1])), o.row(src, srcStride, int(at[1]), int(at[0]))
		weights := o.y.weight[y]
		row := dst[y*dstStride:][:4*wide]
		for x, a := range near {
			b := far[x]
			redBlue := product(a&sum21|a>>42<<32, weights[0]) + product(b&sum21|b>>42<<32, weights[1])
			green := product(a>>21&sum21, weights[0]) + product(b>>21&sum21, weights[1])
			redBlue = (redBlue + 2<<32 + 2) >> 2
			binary.LittleEndian.PutUint32(row[4*x:], uint32(redBlue&0xff|(green+2)>>2<<8|redBlue>>32<<16)|255<<24)
		}
	}
}

const sum21 = 1<<21 - 1

// product multiplies two sums, in the lower and the upper half, by a weight and drops 16 bits of each.
func product(sums, weight uint64) uint64 { return sums * weight >> 16 & (0x3ff<<32 | 0x3ff) }

// row returns the sums of a source row, and keeps those of another one if they are there.
func (o *OpenCV) row(src []byte, stride, y, other int) []uint64 {
	for i, held := range o.held {
		if held == y {
			return o.rows[i]
		}
	}
	i := 0
	if o.held[0] == other {
		i = 1
	}
	o.held[i] = y
	line := src[y*stride:]
	for x, at := range o.x.at {
		a, b := binary.LittleEndian.Uint32(line[4*at[0]:]), binary.LittleEndian.Uint32(line[4*at[1]:])
		sums := spread(a)*o.x.weight[x][0] + spread(b)*o.x.weight[x][1]
		o.rows[i][x] = sums >> 4 & (0x1ffff<<42 | 0x1ffff<<21 | 0x1ffff)
	}
	return o.rows[i]
}

// spread gives red, green and blue 21 bits each.
func spread(pixel uint32) uint64 {
	p := uint64(pixel)
	return p&0xff | p&0xff00<<13 | p&0xff0000<<26
}
