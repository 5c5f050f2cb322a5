package transform

import (
	"math/rand/v2"
)

// SanitizeBoundingBoxes removes boxes that are smaller than [MinSize] or [MinArea], by default 1, or
// reach beyond the image, together with their rows in the fields [With] them and their planes in
// [Masks]. It needs [Boxes]. As in torchvision, [RandomIoUCrop] needs it after itself.
func SanitizeBoundingBoxes(options ...Option) Step {
	return sanitizing{calling("SanitizeBoundingBoxes", keyMinSize|keyMinArea, arguments{minSize: 1, minArea: 1}, options)}
}

type sanitizing struct{ *call }

func (s sanitizing) add(p *program) error {
	if err := p.needBoxes(); err != nil {
		return err
	}
	p.endRun()
	p.plan = append(p.plan, "boxes     "+s.String())
	p.ops = append(p.ops, s)
	return nil
}

func (s sanitizing) do(e *engine, _ *rand.Rand) error {
	a := e.annotations
	size, area, w, h := float32(s.minSize), float32(s.minArea), float32(a.w), float32(a.h)
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
