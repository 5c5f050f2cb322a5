package transform

import (
	"fmt"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// A target stores pixels as values of type T: float32, or uint16 for the bits of
// float16 and bfloat16.
type target[T float32 | uint16] struct {
	table   *[3][256]T
	norm    *resize.Norm[T] // does what table says for three planes; nil for other layouts
	convert func(float32) T
}

// aim chooses how values are stored. It is called when all steps are known.
func (o *output) aim() {
	if o.norms == 0 {
		o.std = [3]float32{1, 1, 1}
	}
	kernels := o.planar() && o.channels == 3
	usual := !o.rescaled && o.norms < 2
	mean, std := byColour(o, &o.mean), byColour(o, &o.std)
	if o.dtype == dataset.Float32 {
		o.full = &target[float32]{table: &o.table, convert: func(v float32) float32 { return v }}
		switch {
		case kernels && usual:
			o.full.norm = resize.NewNorm(mean, std)
		case kernels:
			o.full.norm = resize.NewTable(byColour(o, &o.table))
		}
		return
	}
	t := &target[uint16]{table: new([3][256]uint16), convert: resize.Round(o.dtype)}
	for c := range o.table {
		for x, v := range o.table[c] {
			t.table[c][x] = t.convert(v)
		}
	}
	switch {
	case kernels && usual:
		t.norm = resize.NewHalfNorm(mean, std, o.dtype)
	case kernels:
		t.norm = resize.NewTable(byColour(o, t.table))
	}
	o.halves = t
}

// byColour returns values of the channels in the order red, green, blue.
func byColour[V any](o *output, v *[3]V) [3]V {
	return [3]V{v[o.from[0]], v[o.from[1]], v[o.from[2]]}
}

// hasNorm reports whether planes only have to be normalised.
func (o *output) hasNorm() bool {
	return o.full != nil && o.full.norm != nil || o.halves != nil && o.halves.norm != nil
}

// store writes the image that the lane has run to memory aligned for the result's
// dtype.
func (l *lane) store(out []byte, r *rand.Rand) error {
	if err := l.engine.frame.store(l, out, r); err != nil {
		return err
	}
	return l.applyOwn(out, r)
}

func (t *target[T]) store(l *lane, f *byteFrame, out []T, r *rand.Rand) {
	v := &l.engine.view
	for y := range l.output.h {
		f.rowOf(v, f.row, y)
		t.row(&l.output, out, f.row, y)
	}
	l.output.blank(l.engine.shown, func(from, to int) { clear(out[from:to]) })
	t.erase(&l.output, out, r)
}

// row writes row y of the image, 4 bytes per pixel.
func (t *target[T]) row(o *output, out []T, row []byte, y int) {
	w := o.w
	row = row[:4*w]
	if !o.planar() {
		out = out[y*w*o.channels:][:w*o.channels]
		for x := range w {
			for c := range o.channels {
				out[x*o.channels+c] = t.table[c][row[4*x+o.from[c]]]
			}
		}
		return
	}
	plane := o.w * o.h
	if o.channels == 1 {
		r := out[y*w:][:w]
		for x := range r {
			r[x] = t.table[0][row[4*x]]
		}
		return
	}
	r := out[o.from[0]*plane+y*w:][:w]
	g := out[plane+y*w:][:len(r)]
	b := out[o.from[2]*plane+y*w:][:len(r)]
	t.norm.Store(r, g, b, row)
}

// storeBytes is row for uint8, without a table.
func (o *output) storeBytes(out []uint8, row []byte, y int) {
	w, n := o.w, o.channels
	row = row[:4*w]
	if !o.planar() {
		out = out[y*w*n:][:w*n]
		for x := range w {
			for c := range n {
				out[x*n+c] = row[4*x+o.from[c]]
			}
		}
		return
	}
	for c := range n {
		plane := out[(c*o.h+y)*w:][:w]
		for x := range plane {
			plane[x] = row[4*x+o.from[c]]
		}
	}
}

// isDirect reports whether images are planes that only have to be normalised, as
// those of CIFAR are.
func (x *Pipeline) isDirect() bool {
	return x.raw.Pixel == 1 && x.deep == nil && len(x.output.own) == 0 && len(x.ops) == 0 && x.output.hasNorm() && !x.ragged && x.sizes == "" && !x.annotated.any() && len(x.views) == 0
}

// storeDirect normalises the planes that lie in the image's cell.
func (r *reader) storeDirect(dst dataset.Slot) {
	dst.Stage(dataset.StageStore)
	out := dst.Cell(r.field).Bytes()
	if t := r.output.full; t != nil {
		t.planes(r, dense.Values[float32](out), dst.Rand())
	} else {
		r.output.halves.planes(r, dense.Values[uint16](out), dst.Rand())
	}
}

func (t *target[T]) planes(r *reader, out []T, random *rand.Rand) {
	pix, n := r.input.Bytes(), r.raw.W*r.raw.H
	for c, from := range [3]int{0, r.raw.Green, r.raw.Blue} {
		t.norm.StorePlane(out[r.output.from[c]*n:][:n], pix[from:], c)
	}
	t.erase(&r.output, out, random)
}

// holds is the error of an image whose values the result's dtype cannot hold.
func (o *output) holds(dt dataset.Dtype) error {
	if dt == o.dtype || o.float || o.dtype == dataset.Int32 && raster.DepthOf(dt).Whole || o.dtype == dataset.Uint16 && dt == dataset.Uint8 {
		return nil
	}
	return fmt.Errorf("transform: the image has %s values, which %s does not hold: want ToTensor or ToDtype", dt, o.dtype)
}

// scale converts a row of values of that dtype to floats, and normalises those of channel c.
func (d *deepPlan) scale(o *output, row []float32, c int, dt dataset.Dtype) {
	unit := o.unit && raster.DepthOf(dt).Whole
	most := raster.DepthOf(dt).Most
	switch {
	case o.factor != 0:
		for i, v := range row {
			row[i] = float32(float64(v) * o.factor)
		}
	case unit && o.scaled:
		factor := float32(1 / float64(most))
		for i, v := range row {
			row[i] = v * factor
		}
	case unit:
		for i, v := range row {
			row[i] = v / most
		}
	}
	for k := range d.norms {
		mean, std := d.norms[k].of(c)
		for i, v := range row {
			row[i] = float32(v-mean) / std
		}
	}
}

// of is the numbers of channel c.
func (n *channelNorm) of(c int) (mean, std float32) {
	return n.mean[c%len(n.mean)], n.std[c%len(n.std)]
}

// storeRow converts row y of channel c to the result's dtype.
func (o *output) storeRow(out []byte, row []float32, c, y int) {
	at, step := o.index(c, y, 0), 1
	if !o.planar() {
		step = o.channels
	}
	switch {
	case o.dtype == dataset.Float32:
		storeAs(dense.Values[float32](out), at, step, row, func(v float32) float32 { return v })
	case o.halves != nil:
		storeAs(dense.Values[uint16](out), at, step, row, o.halves.convert)
	case o.dtype == dataset.Uint16:
		storeAs(dense.Values[uint16](out), at, step, row, func(v float32) uint16 { return uint16(int32(v)) })
	case o.dtype == dataset.Int16:
		storeAs(dense.Values[int16](out), at, step, row, func(v float32) int16 { return int16(int32(v)) })
	case o.dtype == dataset.Int32:
		storeAs(dense.Values[int32](out), at, step, row, func(v float32) int32 { return int32(v) })
	default:
		storeAs(out, at, step, row, func(v float32) uint8 { return uint8(int32(v)) })
	}
}

func storeAs[T any](out []T, at, step int, row []float32, convert func(float32) T) {
	for _, v := range row {
		out[at] = convert(v)
		at += step
	}
}

// aimDeep is aim for images of Depth16, whose values are computed one by one.
func (o *output) aimDeep() {
	if o.dtype == dataset.Float32 {
		o.full = &target[float32]{convert: func(v float32) float32 { return v }}
		return
	}
	o.halves = &target[uint16]{convert: resize.Round(o.dtype)}
}
