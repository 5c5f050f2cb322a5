package engine

import (
	"errors"
	"fmt"
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// An Erasing sets a random rectangle of the result.
type Erasing struct {
	P            float64
	Scale, Ratio Span
	Value        []float32
	Noise        bool
}

func (t *target[T]) erase(o *Output, out []T, r *rand.Rand) {
	for k := range o.Erasings {
		t.eraseOnce(o, &o.Erasings[k], out, r)
	}
}

func (t *target[T]) eraseOnce(o *Output, s *Erasing, out []T, r *rand.Rand) {
	if r.Float64() >= s.P {
		return
	}
	for range 10 {
		h, w := DrawPart(o.W, o.H, s.Scale, s.Ratio, r)
		if h < 0 || w < 0 || h >= o.H || w >= o.W {
			continue
		}
		top := r.IntN(o.H - h + 1)
		left := r.IntN(o.W - w + 1)
		for c := range o.Channels {
			for y := top; y < top+h; y++ {
				for x := left; x < left+w; x++ {
					out[o.index(c, y, x)] = t.convert(s.next(c, r))
				}
			}
		}
		return
	}
}

func (s *Erasing) next(c int, r *rand.Rand) float32 {
	switch {
	case s.Noise:
		return float32(r.NormFloat64())
	case s.Value == nil:
		return 0
	}
	return s.Value[c%len(s.Value)]
}

// index is where the value of channel c at (x, y) is in the output.
func (o *Output) index(c, y, x int) int {
	if o.Planar() {
		return (c*o.H+y)*o.W + x
	}
	return (y*o.W+x)*o.Channels + c
}

// blank calls zero with the ranges of values that PadTo added around the image.
func (o *Output) blank(shown image.Rectangle, zero func(from, to int)) {
	if !o.Blanks {
		return
	}
	planes, pixel := o.Channels, 1
	if !o.Planar() {
		planes, pixel = 1, o.Channels
	}
	row := o.W * pixel
	for c := range planes {
		zero(c*o.H*row, (c*o.H+shown.Min.Y)*row)
		for y := shown.Min.Y; y < shown.Max.Y; y++ {
			line := (c*o.H + y) * row
			zero(line, line+shown.Min.X*pixel)
			zero(line+shown.Max.X*pixel, line+row)
		}
		zero((c*o.H+shown.Max.Y)*row, (c+1)*o.H*row)
	}
}

// A target stores pixels as values of type T: float32, or uint16 for the bits of float16 and bfloat16.
type target[T float32 | uint16] struct {
	table   *[3][256]T
	norm    *resize.Norm[T] // does what table says for three planes; nil for other layouts
	convert func(float32) T
}

// aim chooses how values are stored. It is called when all steps are known.
func (o *Output) aim() {
	if len(o.Norms) == 0 {
		o.Std = [3]float32{1, 1, 1}
	}
	kernels := o.Planar() && o.Channels == 3 && !o.Deep
	usual := !o.Rescaled && len(o.Norms) < 2
	mean, std := byColour(o, &o.Mean), byColour(o, &o.Std)
	if o.Dtype == dataset.Float32 {
		o.full = &target[float32]{table: &o.Table, convert: func(v float32) float32 { return v }}
		switch {
		case kernels && usual:
			o.full.norm = resize.NewNorm(mean, std)
		case kernels:
			o.full.norm = resize.NewTable(byColour(o, &o.Table))
		}
		return
	}
	t := &target[uint16]{table: new([3][256]uint16), convert: resize.Round(o.Dtype)}
	for c := range o.Table {
		for x, v := range o.Table[c] {
			t.table[c][x] = t.convert(v)
		}
	}
	switch {
	case kernels && usual:
		t.norm = resize.NewHalfNorm(mean, std, o.Dtype)
	case kernels:
		t.norm = resize.NewTable(byColour(o, t.table))
	}
	o.halves = t
}

// byColour returns values of the channels in the order red, green, blue.
func byColour[V any](o *Output, v *[3]V) [3]V {
	return [3]V{v[o.from[0]], v[o.from[1]], v[o.from[2]]}
}

// hasNorm reports whether planes only have to be normalised.
func (o *Output) hasNorm() bool {
	return o.full != nil && o.full.norm != nil || o.halves != nil && o.halves.norm != nil
}

// Store writes the image that the lane has run to memory aligned for the result's dtype.
func (l *lane) Store(out []byte, r *rand.Rand) error {
	n := l.Crops.N
	switch {
	case l.Plan.Tiles != nil:
		return l.storeTiles(out, r)
	case n == 0:
		return l.Engine.Frame.Store(l, out, r)
	}
	size := len(out) / n
	for k := range n {
		if err := l.Crops.show(&l.Engine, k); err != nil {
			return err
		}
		if err := l.Engine.Frame.Store(l, out[k*size:(k+1)*size], r); err != nil {
			return err
		}
	}
	return nil
}

func (t *target[T]) Store(l *lane, f *ByteFrame, out []T, r *rand.Rand) {
	v := &l.Engine.View
	for y := range l.output.H {
		t.row(&l.output, out, f.shown(v, y), y)
	}
	l.output.blank(l.Engine.Shown, func(from, to int) { clear(out[from:to]) })
	t.erase(&l.output, out, r)
}

// row writes row y of the image, 4 bytes per pixel.
func (t *target[T]) row(o *Output, out []T, row []byte, y int) {
	w := o.W
	row = row[:4*w]
	if !o.Planar() {
		out = out[y*w*o.Channels:][:w*o.Channels]
		for x := range w {
			for c := range o.Channels {
				out[x*o.Channels+c] = t.table[c][row[4*x+o.from[c]]]
			}
		}
		return
	}
	plane := o.W * o.H
	if o.Channels == 1 {
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
func (o *Output) storeBytes(out []uint8, row []byte, y int) {
	w, n := o.W, o.Channels
	row = row[:4*w]
	if !o.Planar() && n == 3 {
		resize.Interleave(out[3*y*w:][:3*w], row, o.from)
		return
	}
	for c := range n {
		resize.Separate(out[(c*o.H+y)*w:][:w], row, o.from[c])
	}
}

// Holds is the error of an image whose values the result's dtype cannot hold.
func (o *Output) Holds(dt dataset.Dtype) error {
	if dt == o.Dtype || o.Float || o.Dtype == dataset.Int32 && raster.DepthOf(dt).Whole || o.Dtype == dataset.Uint16 && dt == dataset.Uint8 {
		return nil
	}
	return fmt.Errorf("transform: the image has %s values, which %s does not hold: want ToTensor or ToDtype", dt, o.Dtype)
}

// scale converts a row of values of that dtype to floats, and normalises those of channel c.
func (o *Output) scale(row []float32, c int, dt dataset.Dtype) {
	unit := o.Unit && raster.DepthOf(dt).Whole
	most := raster.DepthOf(dt).Most
	switch {
	case o.Factor != 0:
		for i, v := range row {
			row[i] = float32(float64(v) * o.Factor)
		}
	case unit && o.Scaled:
		factor := float32(1 / float64(most))
		for i, v := range row {
			row[i] = v * factor
		}
	case unit:
		for i, v := range row {
			row[i] = v / most
		}
	}
	for k := range o.Norms {
		mean, std := o.Norms[k].of(c)
		for i, v := range row {
			row[i] = float32(v-mean) / std
		}
	}
}

// of is the numbers of channel c.
func (n *ChannelNorm) of(c int) (mean, std float32) {
	return n.Mean[c%len(n.Mean)], n.Std[c%len(n.Std)]
}

// storeValues stores an image of that dtype, whose rows rowOf writes for every colour. Row is memory for one of them.
func (l *lane) storeValues(out []byte, row []float32, dt dataset.Dtype, r *rand.Rand, rowOf func(dst []float32, colour, y int)) {
	o := &l.output
	direct := o.Dtype == dataset.Float32 && o.Planar()
	for c := range o.Channels {
		from := c
		if o.Reversed && o.Channels == 3 {
			from = o.from[c]
		}
		for y := range o.H {
			if direct {
				row = dense.Values[float32](out)[(c*o.H+y)*o.W:][:o.W]
			}
			rowOf(row, from, y)
			if o.Float {
				o.scale(row, c, dt)
			}
			if !direct {
				o.storeRow(out, row, c, y)
			}
		}
	}
	size := o.Dtype.Size()
	o.blank(l.Engine.Shown, func(from, to int) { clear(out[from*size : to*size]) })
	switch {
	case o.full != nil:
		o.full.erase(o, dense.Values[float32](out), r)
	case o.halves != nil:
		o.halves.erase(o, dense.Values[uint16](out), r)
	}
}

// storeRow converts row y of channel c to the result's dtype.
func (o *Output) storeRow(out []byte, row []float32, c, y int) {
	at, step := o.index(c, y, 0), 1
	if !o.Planar() {
		step = o.Channels
	}
	switch {
	case o.Dtype == dataset.Float32:
		storeAs(dense.Values[float32](out), at, step, row, func(v float32) float32 { return v })
	case o.halves != nil:
		storeAs(dense.Values[uint16](out), at, step, row, o.halves.convert)
	case o.Dtype == dataset.Uint16:
		storeAs(dense.Values[uint16](out), at, step, row, func(v float32) uint16 { return uint16(int32(v)) })
	case o.Dtype == dataset.Int16:
		storeAs(dense.Values[int16](out), at, step, row, func(v float32) int16 { return int16(int32(v)) })
	case o.Dtype == dataset.Int32:
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

// An Output says how the last image is stored in the slot.
type Output struct {
	Tensor   bool // the steps have ToTensor or PILToTensor
	Float    bool
	Axes     Axes // 0: the default
	Channels int
	W, H     int
	Rescaled bool   // by another factor than 1/255
	Reversed bool   // BGR was there
	from     [3]int // the colour that a channel holds: 0 is red
	Blanks   bool   // PadTo was there
	Patches  Patches

	Deep   bool    // Depth16 was there
	Unit   bool    // ToTensor was there, or ToDtype with Scaled
	Scaled bool    // ToDtype with Scaled was there: unit is a product
	Factor float64 // of Rescale; 0 without it
	Cast   bool    // ToDtype was there

	Table    [3][256]float32 // per channel: the result of each byte, if float
	Mean     [3]float32      // of the last Normalize
	Std      [3]float32
	Norms    []ChannelNorm
	Preset   string // the preset that has normalised
	Dtype    dataset.Dtype
	Erasings []Erasing
	Calls    []string

	full   *target[float32] // one of the two, where float
	halves *target[uint16]
}

func (o *Output) Planar() bool {
	return o.Axes == CHW || o.Axes == 0 && o.Tensor
}

// Check is called after all steps. It returns the errors and chooses how the image is stored.
func (o *Output) Check() []error {
	o.from = [3]int{0, 1, 2}
	if o.Reversed {
		o.from = [3]int{2, 1, 0}
	}
	if o.Float {
		o.aim()
	}
	if !o.Float && len(o.Erasings) > 0 {
		return []error{errors.New("RandomErasing: must come after ToTensor")}
	}
	return nil
}

func (o *Output) String() string {
	axes := HWC
	if o.Planar() {
		axes = CHW
	}
	text := ""
	for _, c := range o.Calls {
		text += c + ", "
	}
	if o.Patches.Side > 0 {
		return fmt.Sprintf("%s%s rows", text, o.Dtype)
	}
	return fmt.Sprintf("%s%s %v", text, o.Dtype, axes)
}

// Axes is the order of an image's dimensions.
type Axes uint8

// The orders: one plane per channel, or the channels of each pixel together. 0 is what the steps say.
const (
	CHW Axes = iota + 1
	HWC
)

// String is the order's name.
func (a Axes) String() string { return raster.Named(int(a), "unknown", "CHW", "HWC") }
