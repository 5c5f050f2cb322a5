package transform

import (
	"fmt"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// storeDeep writes the image that the lane has run.
func (l *lane) storeDeep(out []byte, r *rand.Rand) error {
	e, o := &l.engine, &l.output
	d := e.deep
	if err := o.holds(d.Dtype); err != nil {
		return err
	}
	direct := o.dtype == dataset.Float32 && o.planar()
	d.row = raster.GrowFloats(d.row, o.w)
	for c := range o.channels {
		from := c
		if o.reversed && o.channels == 3 {
			from = o.from[c]
		}
		for y := range o.h {
			row := d.row
			if direct {
				row = dense.Values[float32](out)[(c*o.h+y)*o.w:][:o.w]
			}
			d.rowOf(e, row, from, y)
			if o.float {
				l.deep.scale(o, row, c, d.Dtype)
			}
			if !direct {
				o.storeRow(out, row, c, y)
			}
		}
	}
	size := o.dtype.Size()
	o.blank(e.shown, func(from, to int) { clear(out[from*size : to*size]) })
	switch {
	case o.full != nil:
		o.full.erase(o, dense.Values[float32](out), r)
	case o.halves != nil:
		o.halves.erase(o, dense.Values[uint16](out), r)
	}
	return nil
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
