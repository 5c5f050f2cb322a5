package resize

import (
	"encoding/binary"
	"image"
	"math"
	"slices"
)

// OpenCV computes cv2.resize for 8 bits per channel with INTER_LINEAR and INTER_AREA, bit for bit. Models that were
// trained on images of OpenCV expect it. Pixels are 4 bytes, and the fourth becomes 255. The zero value is ready for use.
//
// INTER_LINEAR takes two source pixels per axis, also where an image shrinks. Weights have 11 bits of fraction. The sum of
// a row loses 4 bits, and its product with the weight of the row 16, before the two rows are added. INTER_AREA is the mean
// of the covered pixels, in float32. Where one of the axes grows it is INTER_LINEAR with weights of its own.
type OpenCV struct {
	x, y axisOfTwo
	rows twoRows[uint64] // sums of source rows: 21 bits each for red, green and blue

	mean      bool // the areas count, not the two pixels
	whole     int  // how many pixels every area has, if each is whole: then sums are integers
	halves    bool // areas are 2×2 pixels
	over, off axisOfAreas
	sums      [2][]float32 // of a source row, and of all rows

	src    []byte
	stride int
	memory int64 // the most that weights have taken
}

const openCVOne = 1 << 11

// IsOpenCV reports whether the filter is one of OpenCV.
func (f Filter) IsOpenCV() bool { return f == OpenCVLinear || f == OpenCVArea }

// ByRows reports whether rows of the result are computed one by one, in place of two passes over all pixels.
func (f Filter) ByRows() bool { return f.IsOpenCV() || f == TensorFlowBilinear }

// Begin prepares a resize, and returns the source pixels that it needs. Both axes have the filter.
func (o *OpenCV) Begin(x, y Axis) image.Rectangle {
	o.memory = o.Memory(x, y)
	sx, sy := openCVScale(x), openCVScale(y)
	o.mean = x.Filter == OpenCVArea && sx >= 1 && sy >= 1
	var r image.Rectangle
	if !o.mean {
		r.Min.X, r.Max.X = o.x.compute(x, true)
		r.Min.Y, r.Max.Y = o.y.compute(y, false)
		return r
	}
	o.whole = 0
	if nx, ny := math.RoundToEven(sx), math.RoundToEven(sy); math.Abs(sx-nx) < epsilon && math.Abs(sy-ny) < epsilon {
		o.whole, o.halves = int(nx)*int(ny), nx == 2 && ny == 2
	}
	r.Min.X, r.Max.X = o.over.compute(x, sx)
	r.Min.Y, r.Max.Y = o.off.compute(y, sy)
	return r
}

// Memory is how many bytes the weights take at most once a resize has begun.
func (o *OpenCV) Memory(x, y Axis) int64 { return max(o.memory, x.Memory()+y.Memory()) }

// epsilon is C's DBL_EPSILON.
const epsilon = 0x1p-52

// openCVScale is the number of source pixels per pixel, as OpenCV rounds it.
func openCVScale(a Axis) float64 { return 1 / (float64(a.Out) / float64(a.In)) }

// position is which position of the result is computed as number i.
func (a *Axis) position(i int) int {
	if a.Reverse {
		return a.To - 1 - i
	}
	return a.From + i
}

// From sets the source, which has the pixels that Begin has asked for. The stride is in bytes.
func (o *OpenCV) From(src []byte, stride int) {
	o.src, o.stride = src, stride
	if o.mean {
		n := 3 * o.over.len()
		for i := range o.sums {
			if cap(o.sums[i]) < n {
				o.sums[i] = make([]float32, n)
			}
			o.sums[i] = o.sums[i][:n]
		}
		return
	}
	o.rows.begin(len(o.x.at))
}

// Row writes row y of the positions of Begin to dst. Rows that follow each other share what they have in common.
func (o *OpenCV) Row(dst []byte, y int) {
	switch {
	case o.mean && o.whole > 0:
		o.wholeRow(dst, y)
	case o.mean:
		o.areaRow(dst, y)
	default:
		o.linearRow(dst, y)
	}
}

// An axisOfTwo says for every computed position which two source pixels contribute, and their weights.
type axisOfTwo struct {
	twoPixels
	weight [][2]uint64
}

// compute returns the bounds of the source positions. Those of the axis begin at the lower one. Beyond the image's edge the
// edge is repeated; where columns are, it has all of the weight.
func (t *axisOfTwo) compute(a Axis, columns bool) (lo, hi int) {
	t.weight = slices.Grow(t.weight[:0], a.To-a.From)
	return t.find(a, func(d int) (first, second int) {
		s, f := a.between(d)
		if columns && (s < 0 || s >= a.In-1) {
			f = 0
		}
		t.weight = append(t.weight, [2]uint64{
			uint64(math.RoundToEven(float64((1 - f) * openCVOne))),
			uint64(math.RoundToEven(float64(f * openCVOne))),
		})
		return s, s + 1
	})
}

// between is the first of the two source positions of position d, and the part of the second one.
func (a *Axis) between(d int) (s int, f float32) {
	if a.Filter == OpenCVArea {
		s = int(math.Floor(float64(d) * openCVScale(*a)))
		f = float32(float64(d+1) - float64(float64(s+1)*(float64(a.Out)/float64(a.In))))
		if f <= 0 {
			return s, 0
		}
		return s, f - float32(math.Floor(float64(f)))
	}
	x := float32(float64((float64(d)+0.5)*(float64(a.In)/float64(a.Out))) - 0.5)
	s = int(math.Floor(float64(x)))
	return s, x - float32(s)
}

func (o *OpenCV) linearRow(dst []byte, y int) {
	at := o.y.at[y]
	near, far := o.row(int(at[0]), int(at[1])), o.row(int(at[1]), int(at[0]))
	weights := o.y.weight[y]
	dst = dst[:4*len(near)]
	for x, a := range near {
		b := far[x]
		redBlue := product(a&sum21|a>>42<<32, weights[0]) + product(b&sum21|b>>42<<32, weights[1])
		green := product(a>>21&sum21, weights[0]) + product(b>>21&sum21, weights[1])
		redBlue = (redBlue + 2<<32 + 2) >> 2
		binary.LittleEndian.PutUint32(dst[4*x:], uint32(redBlue&0xff|(green+2)>>2<<8|redBlue>>32<<16)|255<<24)
	}
}

const sum21 = 1<<21 - 1

// product multiplies two sums, in the lower and the upper half, by a weight and drops 16 bits of each.
func product(sums, weight uint64) uint64 { return sums * weight >> 16 & (0x3ff<<32 | 0x3ff) }

// row returns the sums of a source row, and keeps those of another one if they are there.
func (o *OpenCV) row(y, other int) []uint64 {
	row, there := o.rows.of(y, other)
	if there {
		return row
	}
	line := o.src[y*o.stride:]
	for x, at := range o.x.at {
		a, b := binary.LittleEndian.Uint32(line[4*at[0]:]), binary.LittleEndian.Uint32(line[4*at[1]:])
		sums := spread(a)*o.x.weight[x][0] + spread(b)*o.x.weight[x][1]
		row[x] = sums >> 4 & (0x1ffff<<42 | 0x1ffff<<21 | 0x1ffff)
	}
	return row
}

// twoPixels are the two source pixels that contribute to every computed position.
type twoPixels struct{ at [][2]int32 }

// find asks for those of every position, where beyond the image's edge the edge is repeated, and returns the bounds of them. They
// begin at the lower one.
func (t *twoPixels) find(a Axis, of func(position int) (first, second int)) (lo, hi int) {
	n := a.To - a.From
	t.at, lo = slices.Grow(t.at[:0], n), a.In
	for i := range n {
		first, second := of(a.position(i))
		first, second = min(max(first, 0), a.In-1), min(max(second, 0), a.In-1)
		t.at = append(t.at, [2]int32{int32(first), int32(second)})
		lo, hi = min(lo, first), max(hi, second+1)
	}
	for i := range t.at {
		t.at[i][0] -= int32(lo)
		t.at[i][1] -= int32(lo)
	}
	return lo, hi
}

// twoRows are two source rows, each of which is computed once while results need it.
type twoRows[T any] struct {
	rows [2][]T
	held [2]int // which rows these are
}

// begin forgets the rows, and makes room for two of n values.
func (t *twoRows[T]) begin(n int) {
	for i := range t.rows {
		if cap(t.rows[i]) < n {
			t.rows[i] = make([]T, n)
		}
		t.rows[i] = t.rows[i][:n]
	}
	t.forget()
}

func (t *twoRows[T]) forget() { t.held = [2]int{-1, -1} }

// of is the memory of row y, which takes that of a row other than the other one, and whether the row is there.
func (t *twoRows[T]) of(y, other int) (row []T, there bool) {
	for i, held := range t.held {
		if held == y {
			return t.rows[i], true
		}
	}
	i := 0
	if t.held[0] == other {
		i = 1
	}
	t.held[i] = y
	return t.rows[i], false
}

// spread gives red, green and blue 21 bits each.
func spread(pixel uint32) uint64 {
	p := uint64(pixel)
	return p&0xff | p&0xff00<<13 | p&0xff0000<<26
}

// An axisOfAreas says for every computed position which source pixels it covers, and which part of it each of them is.
type axisOfAreas struct {
	first []int32
	end   []int32 // of its weights, which begin where those of the position before end
	part  []float32
}

func (t *axisOfAreas) len() int { return len(t.first) }

// of is what position i covers.
func (t *axisOfAreas) of(i int) (first int, part []float32) {
	from := int32(0)
	if i > 0 {
		from = t.end[i-1]
	}
	return int(t.first[i]), t.part[from:t.end[i]]
}

// compute returns the bounds of the source positions. Those of the axis begin at the lower one. Parts of a pixel up to a
// thousandth do not count.
func (t *axisOfAreas) compute(a Axis, scale float64) (lo, hi int) {
	n := a.To - a.From
	if most := n * (int(scale) + 2); cap(t.part) < most || cap(t.first) < n {
		t.first, t.end, t.part = make([]int32, 0, n), make([]int32, 0, n), make([]float32, 0, most)
	}
	t.first, t.end, t.part = t.first[:0], t.end[:0], t.part[:0]
	lo, hi = a.In, 0
	for i := range n {
		begin := float64(float64(a.position(i)) * scale)
		end := begin + scale
		width := min(scale, float64(a.In)-begin)
		last := min(int(math.Floor(end)), a.In-1)
		first := min(int(math.Ceil(begin)), last)
		at := first
		if over := float64(first) - begin; over > 1e-3 {
			at--
			t.part = append(t.part, float32(over/width))
		}
		for range last - first {
			t.part = append(t.part, float32(1/width))
		}
		next := last
		if over := end - float64(last); over > 1e-3 {
			t.part = append(t.part, float32(min(over, 1, width)/width))
			next++
		}
		t.first, t.end = append(t.first, int32(at)), append(t.end, int32(len(t.part)))
		lo, hi = min(lo, at), max(hi, next)
	}
	for i := range t.first {
		t.first[i] -= int32(lo)
	}
	return lo, hi
}

// wholeRow is the mean of areas that are whole pixels.
func (o *OpenCV) wholeRow(dst []byte, y int) {
	top, rows := o.off.of(y)
	scale := 1 / float32(o.whole)
	for x := range o.over.len() {
		left, columns := o.over.of(x)
		var sum [3]int64
		for j := range rows {
			p := o.src[(top+j)*o.stride+4*left:][:4*len(columns)]
			for ; len(p) >= 4; p = p[4:] {
				sum[0] += int64(p[0])
				sum[1] += int64(p[1])
				sum[2] += int64(p[2])
			}
		}
		out := dst[4*x:][:4]
		for c, s := range sum {
			if o.halves {
				out[c] = uint8((s + 2) >> 2)
			} else {
				out[c] = uint8(math.RoundToEven(float64(float32(s) * scale)))
			}
		}
		out[3] = 255
	}
}

// areaRow is the mean of areas that have parts of pixels.
func (o *OpenCV) areaRow(dst []byte, y int) {
	line, all := o.sums[0], o.sums[1]
	top, rows := o.off.of(y)
	for j, part := range rows {
		o.lineOf(line, o.src[(top+j)*o.stride:])
		for i, v := range line {
			if j == 0 {
				all[i] = float32(part * v)
			} else {
				all[i] += float32(part * v)
			}
		}
	}
	for x := range len(all) / 3 {
		out := dst[4*x:][:4]
		for c := range 3 {
			out[c] = uint8(math.RoundToEven(float64(min(all[3*x+c], 255))))
		}
		out[3] = 255
	}
}

// lineOf computes the sums of a source row.
func (o *OpenCV) lineOf(line []float32, src []byte) {
	for x := range o.over.len() {
		left, columns := o.over.of(x)
		p := src[4*left:][:4*len(columns)]
		var red, green, blue float32
		for _, part := range columns {
			red += float32(float32(p[0]) * part)
			green += float32(float32(p[1]) * part)
			blue += float32(float32(p[2]) * part)
			p = p[4:]
		}
		line[3*x], line[3*x+1], line[3*x+2] = red, green, blue
	}
}
