package transform

import (
	"slices"

	"github.com/penstock-go/penstock/dataset"
)

// A viewPart is a field of annotations in the results of a group of views.
type viewPart struct {
	from, to int // fields of the dataset and of the results
	row      int // bytes of a row
	counts   int // the field with the number of rows of every view; -1: none of its own
}

// withParts adds the fields of the annotations to the spec of the results. Those of the
// first group take the places of the fields that they come from.
func (v *views) withParts(spec, given dataset.Spec, images string, first bool) (dataset.Spec, error) {
	if !v.program.annotated.any() {
		return spec, nil
	}
	var err error
	if v.layout, v.made, err = v.program.annotate(slices.Clone(given), given, images); err != nil {
		return spec, err
	}
	prefix := ""
	if v.target != images {
		prefix = v.target + "_"
	}
	fields, heads := v.layout.fields()
	counted := dataset.Spec{}
	for k, from := range fields {
		f := v.made[from]
		part := viewPart{from: from, to: from, row: f.Bytes(), counts: -1}
		f.Name, f.Kind, f.Of = prefix+f.Name, dataset.Plain, "" // of several images
		if !f.Ragged {
			f.Shape = append(dataset.Shape{v.n}, f.Shape...)
		}
		if first {
			spec[from] = f
		} else {
			part.to = len(spec)
			spec = append(spec, f)
		}
		if f.Ragged && heads[k] {
			part.counts = len(counted)
			counted = append(counted, dataset.Field{Name: f.Name + "_counts", Dtype: dataset.Int64, Shape: dataset.Shape{v.n}})
		}
		v.parts = append(v.parts, part)
	}
	for k := range v.parts {
		if p := &v.parts[k]; p.counts >= 0 {
			p.counts += len(spec)
		}
	}
	return append(spec, counted...), nil
}

// fields are the fields of the annotations. Heads are those on which the number of rows of
// the others depends.
func (l *layout) fields() (fields []int, heads []bool) {
	add := func(f int, head bool) {
		if !slices.Contains(fields, f) {
			fields, heads = append(fields, f), append(heads, head)
		}
	}
	if l.boxes >= 0 {
		add(l.boxes, true)
	}
	for _, f := range l.rows {
		add(f, false)
	}
	for _, p := range l.points {
		add(p.field, true)
		for _, f := range p.rows {
			add(f, false)
		}
	}
	for _, m := range l.masks {
		add(m.field, l.boxes < 0)
	}
	return fields, heads
}

// A viewSource is what the dataset places for all views.
type viewSource struct {
	field int
	cell  dataset.Cell
}

// viewCells are the cells of one view. Those of annotations are its own, all others those
// of the sample.
type viewCells struct {
	cells []dataset.Cell
	own   []dataset.Cell // one per viewPart
}

// annotate gives every view annotations of its own. Spec is that of the dataset.
func (w *viewer) annotate(spec dataset.Spec) {
	var first *annotations
	for i := range w.groups {
		g := &w.groups[i]
		for _, l := range g.lanes {
			l.engine.annotations = newAnnotations(g.layout, g.program, spec, first)
			if first == nil {
				first = l.engine.annotations
			}
			var c viewCells
			for _, part := range g.parts {
				c.own = append(c.own, dataset.NewCell(g.made[part.from]))
			}
			g.cells = append(g.cells, c)
		}
	}
	for _, part := range w.groups[0].parts {
		s := viewSource{part.from, dataset.NewCell(spec[part.from])}
		for k, m := range first.layout.masks {
			if m.field == part.from {
				s.cell = first.masks[k].cell
			}
		}
		w.sources = append(w.sources, s)
	}
}

// inputs lets the dataset place annotations in memory of this reader.
func (w *viewer) inputs(cells []dataset.Cell) {
	if w == nil {
		return
	}
	for _, s := range w.sources {
		cells[s.field] = s.cell
	}
}

// beginParts gives view k of a group the annotations of the sample.
func (w *viewer) beginParts(g *viewing, k int, dst dataset.Slot) error {
	l := g.lanes[k]
	a := l.engine.annotations
	if a == nil {
		return nil
	}
	c := &g.cells[k]
	c.cells = c.cells[:0]
	for f := range dst.Len() {
		c.cells = append(c.cells, dst.Cell(f))
	}
	for i, part := range g.parts {
		c.cells[part.from] = c.own[i]
		if Image := w.sources[i].cell.Bytes(); a.layout.isMask(part.from) {
			continue // masks are read where they are
		} else if c.own[i].Ragged() {
			copy(c.own[i].Grow(len(Image)), Image)
		} else {
			copy(c.own[i].Bytes(), Image)
		}
	}
	l.engine.slot = dst.With(c.cells)
	return a.Begin(l, l.engine.slot)
}

func (l *layout) isMask(field int) bool {
	return slices.ContainsFunc(l.masks, func(m maskAt) bool { return m.field == field })
}

// placeParts puts the annotations of all views into the sample.
func (g *viewing) placeParts(dst dataset.Slot) {
	for i, part := range g.parts {
		cell := dst.Cell(part.to)
		if cell.Ragged() {
			n := 0
			for _, c := range g.cells {
				n += len(c.own[i].Bytes())
			}
			cell.Grow(n)
		}
		at := 0
		for k, c := range g.cells {
			own := c.own[i].Bytes()
			at += copy(cell.Bytes()[at:], own)
			if part.counts >= 0 {
				dataset.Row[int64](dst, part.counts)[k] = int64(len(own) / part.row)
			}
		}
	}
}
