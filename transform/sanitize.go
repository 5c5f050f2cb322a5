package transform

import (
	"errors"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/steps"
)

// SanitizeBoundingBoxes removes boxes that are smaller than [Sanitizing.MinSize] or
// [Sanitizing.MinArea], or reach beyond the image, together with their rows in the
// fields of [BoxField.With] and their planes in [Masks]. It needs [Boxes]. As in
// torchvision, [RandomIoUCrop] needs it after itself.
func SanitizeBoundingBoxes() Sanitizing { return Sanitizing{size: 1, area: 1} }

// Sanitizing is the step that [SanitizeBoundingBoxes] makes.
type Sanitizing struct{ size, area float64 }

// MinSize sets the least width and height of a box that stays, in pixels: 1 or more.
// The default is 1.
func (s Sanitizing) MinSize(n float64) Sanitizing {
	s.size = n
	return s
}

// MinArea sets the least area of a box that stays, in pixels: 1 or more. The default
// is 1.
func (s Sanitizing) MinArea(n float64) Sanitizing {
	s.area = n
	return s
}

// String prints the call that made the step.
func (s Sanitizing) String() string {
	text := "SanitizeBoundingBoxes()"
	if s.size != 1 {
		text += steps.Call(".MinSize", s.size)
	}
	if s.area != 1 {
		text += steps.Call(".MinArea", s.area)
	}
	return text
}

func (s Sanitizing) add(p *program) error {
	if !(s.size >= 1 && s.area >= 1) {
		return errors.New("want a MinSize and a MinArea of 1 or more")
	}
	if err := p.needBoxes(); err != nil {
		return err
	}
	p.endRun()
	p.plan = append(p.plan, "boxes     "+s.String())
	p.ops = append(p.ops, s)
	return nil
}

func (s Sanitizing) do(e *engine, _ *rand.Rand) error {
	a := e.annotations
	size, area, w, h := float32(s.size), float32(s.area), float32(a.w), float32(a.h)
	n := 0
	for k := range len(a.box) / 4 {
		b := toXYXY([4]float32(a.box[4*k:]), a.format)
		bw, bh := b[2]-b[0], b[3]-b[1]
		if !(bw >= size && bh >= size && b[0] >= 0 && b[1] >= 0 && b[2] >= 0 && b[3] >= 0 && bw*bh >= area &&
			b[0] <= w && b[2] <= w && b[1] <= h && b[3] <= h) {
			continue
		}
		a.keep(n, k)
		n++
	}
	a.truncate(n)
	return nil
}

// keep makes box k box to, with its rows.
func (a *annotations) keep(to, k int) {
	if to == k {
		return
	}
	copy(a.box[4*to:4*to+4], a.box[4*k:4*k+4])
	a.kept[to] = a.kept[k]
	for _, f := range a.rows {
		a.moveRow(f, to, k)
	}
}

// moveRow makes row k of field f row to.
func (a *annotations) moveRow(f, to, k int) {
	n, rows := a.spec[f].Bytes(), a.dst.Cell(f).Bytes()
	copy(rows[n*to:n*(to+1)], rows[n*k:n*(k+1)])
}

// truncate keeps the first n boxes.
func (a *annotations) truncate(n int) {
	a.box, a.kept = a.box[:4*n], a.kept[:n]
	a.dst.Cell(a.layout.boxes).Grow(16 * n)
	for _, f := range a.rows {
		a.dst.Cell(f).Grow(n * a.spec[f].Bytes())
	}
	for k, at := range a.layout.points {
		cell := a.dst.Cell(at.field).Bytes()
		a.points[k].xy = a.points[k].xy[:len(cell)/4]
	}
}
