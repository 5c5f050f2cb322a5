package engine

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"unsafe"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/raster"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// A Lent is what a step of the user's own sees during one call: the image, and the fields that it names.
type Lent struct {
	Image  *raster.Image  // nil with Depth16
	Planes *raster.Planes // nil without it
	Fields dataset.Slot
	User   any // what the caller keeps from call to call

	cells []dataset.Cell
	sizes []int // bytes of the cells before
}

// A Sampling is a step of the user's own.
type Sampling struct {
	Text   string
	Fields []string
	Call   func(l *Lent, r *rand.Rand) error
	At     []int // the fields in the dataset
	Masks  []int // of each field: which mask of the annotations it is, or -1
	Sees   bool  // one of them is a mask
}

// Do makes the image and runs it.
func (s *Sampling) Do(e *Engine, r *rand.Rand) error {
	if err := e.Render(); err != nil {
		return err
	}
	e.Slot.Stage(dataset.StageAugment)
	if err := s.apply(e, r); err != nil {
		return fmt.Errorf("transform: %s: %w", s.Text, err)
	}
	return nil
}

func (s *Sampling) apply(e *Engine, r *rand.Rand) error {
	v := &e.lent
	v.cells, v.sizes = v.cells[:0], v.sizes[:0]
	if s.Sees {
		if err := e.Annotations.settle(); err != nil {
			return err
		}
	}
	for k, f := range s.At {
		c := e.Slot.Cell(f)
		if m := s.Masks[k]; m >= 0 {
			c = e.Annotations.masks[m].own[0]
		}
		v.cells, v.sizes = append(v.cells, c), append(v.sizes, len(c.Bytes()))
	}
	v.Fields = e.Slot.With(v.cells)
	if err := e.Frame.lend(v, s, e.of, r); err != nil {
		return err
	}
	for k, c := range v.cells {
		if n := len(c.Bytes()); n != v.sizes[k] {
			return fmt.Errorf("changed field %q from %d to %d bytes: want as many as before", s.Fields[k], v.sizes[k], n)
		}
		if m := s.Masks[k]; m >= 0 {
			mask := &e.Annotations.masks[m]
			mask.pix = c.Bytes()
			if err := mask.checkNumbers(); err != nil {
				return fmt.Errorf("mask %q: %w", s.Fields[k], err)
			}
		}
	}
	return nil
}

// call runs the user's code on the image of a field.
func (s *Sampling) call(l *Lent, field string, r *rand.Rand) error {
	return source.Guard(field, func() error { return s.Call(l, r) })
}

func (f *ByteFrame) lend(l *Lent, s *Sampling, field string, r *rand.Rand) error {
	before := f.Image
	l.Image = &f.Image
	err := s.call(l, field, r)
	after := f.Image
	f.Image = before
	if err != nil {
		return err
	}
	if after.Width != before.Width || after.Height != before.Height || len(after.Pix) != len(before.Pix) {
		return fmt.Errorf("made %s, want %s: a step of your own keeps the size", after.Describe(), before.Describe())
	}
	f.Pix = inOwn(before.Pix, after.Pix)
	return nil
}

func (f *floatFrame) lend(l *Lent, s *Sampling, field string, r *rand.Rand) error {
	before := f.Planes
	l.Planes = &f.Planes
	err := s.call(l, field, r)
	after := f.Planes
	f.Planes = before
	if err != nil {
		return err
	}
	if after.Width != before.Width || after.Height != before.Height || after.Channels != before.Channels || len(after.Pix) != len(before.Pix) || after.Dtype != before.Dtype {
		return fmt.Errorf("made %s, want %s: a step of your own keeps the size", after.Describe(), before.Describe())
	}
	f.Pix = inOwn(before.Pix, after.Pix)
	raster.DepthOf(f.Dtype).Settle(f.Pix)
	return nil
}

// inOwn returns the values in mem, the memory that they had before a user's step. The step may have
// given the image other memory, which must not be reused for the next image.
func inOwn[T uint8 | float32](mem, values []T) []T {
	if unsafe.SliceData(mem) == unsafe.SliceData(values) {
		return values
	}
	return append(mem[:0], values...)
}

// DrawPart draws the size of a part: its area uniformly in scale, and the
// logarithm of its ratio uniformly between the logarithms of ratio.
func DrawPart(w, h int, scale, ratio Span, r *rand.Rand) (pw, ph int) {
	area := float64(w) * float64(h) * scale.Draw(r)
	aspect := math.Exp(Span{math.Log(ratio.Least), math.Log(ratio.Greatest)}.Draw(r))
	return Round(math.Sqrt(area * aspect)), Round(math.Sqrt(area / aspect))
}

// Round rounds as Python does: halves go to the even neighbour. Numbers that are too large for a side give -1.
func Round(v float64) int {
	if !(v < math.MaxInt32) {
		return -1
	}
	return int(math.RoundToEven(v))
}

// A Span is a range of numbers.
type Span struct{ Least, Greatest float64 }

func (s Span) Draw(r *rand.Rand) float64 {
	return s.Least + r.Float64()*(s.Greatest-s.Least)
}

func (s Span) Check(name string) error {
	if !(s.Least > 0 && s.Least <= s.Greatest && s.Greatest < math.Inf(1)) {
		return fmt.Errorf("want a %s above 0, with the least number first", name)
	}
	return nil
}

// Beta draws from the distribution Beta(alpha, alpha), as x/(x+y) with x and y from
// Gamma(alpha). Logarithms keep small alphas exact, whose x and y may both be 0.
func Beta(alpha float64, r *rand.Rand) float64 {
	return 1 / (1 + math.Exp(LogGamma(alpha, r)-LogGamma(alpha, r)))
}

// LogGamma draws the logarithm of a number from the distribution Gamma(alpha, 1).
//
// Source: Marsaglia and Tsang, "A Simple Method for Generating Gamma Variables", 2000.
func LogGamma(alpha float64, r *rand.Rand) float64 {
	if alpha < 1 {
		return LogGamma(alpha+1, r) + math.Log(1-r.Float64())/alpha
	}
	d := alpha - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		if math.Log(1-r.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return math.Log(d * v)
		}
	}
}

// CheckAngles reports angles that are not finite or not in order.
func (s Span) CheckAngles(name string) error {
	if !(s.Least >= -maxAngle && s.Least <= s.Greatest && s.Greatest <= maxAngle) {
		return errors.New("want finite " + name + ", with the least number first")
	}
	return nil
}

// maxAngle is the limit of angles in steps. Larger ones are not exact.
const maxAngle = 1e6
