package transform

import (
	"fmt"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// A lane applies the steps to one image after the other. It keeps its memory
// between images and belongs to one goroutine at a time.
type lane struct {
	*program
	output output // the program's; where it is ragged, with this image's size
	files  source.Files
	turned source.Upright
	engine engine
	planes Planes // of the PlanesTransform that is running
}

func newLane(p *program) *lane {
	l := &lane{program: p, output: p.output}
	l.engine.of = p.field
	l.engine.limit = p.limit
	l.files.Take(p.limit, p.cut, p.deep != nil, source.Formats(p.formats, p.field), p.codecs)
	l.engine.frame = newFrame(p)
	return l
}

// file begins with an encoded image.
func (l *lane) file(e source.Encoded, slot dataset.Slot) error {
	w, h, err := l.files.Open(e)
	if err != nil {
		return err
	}
	if l.upright {
		if o := l.files.Orientation(); o > 1 {
			w, h = l.turned.Begin(&l.files, o, w, h)
			l.engine.Begin(&l.turned, w, h, slot)
			return nil
		}
	}
	l.engine.Begin(&l.files, w, h, slot)
	return nil
}

// lead applies the leading steps that do not need pixels, and returns how many.
func (l *lane) lead(r *rand.Rand) (n int, err error) {
	for _, op := range l.ops {
		if _, ok := op.(moving); !ok {
			break
		}
		if err := op.do(&l.engine, r); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// run applies the steps to the image, until it can be stored row by row.
func (l *lane) run(r *rand.Rand) error { return l.runFrom(0, r) }

// runFrom is run without the first n steps.
func (l *lane) runFrom(n int, r *rand.Rand) error {
	e, o := &l.engine, &l.output
	for _, op := range l.ops[n:] {
		if err := op.do(e, r); err != nil {
			return err
		}
	}
	w, h := e.Size()
	switch {
	case l.ragged:
		if err := source.CheckSize(w, h, l.limit); err != nil {
			return err
		}
		o.w, o.h = w, h
	case w != o.w || h != o.h:
		return fmt.Errorf("transform: the steps made %s, want %d×%d", figures.Pixels(w, h), o.h, o.w)
	}
	return e.frame.prepare(e)
}
