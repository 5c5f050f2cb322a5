package volume

import (
	"bytes"
	"context"
)

// Outline changes headers as Run changes volumes.
func Outline(volumes []*Volume, steps ...Step) error {
	return compile(steps, false).outline(volumes)
}

// Run applies steps to volumes without the checks of Process.
func Run(ctx context.Context, volumes []*Volume, steps ...Step) error {
	return compile(steps, false).run(volumes, &work{ctx: ctx})
}

// Enlarge is a step that repeats the planes of the named volume, or of all volumes if
// the name is "", made times. Its outline claims that it repeats them outlined times.
func Enlarge(name string, outlined, made int) Step { return enlarging{name, outlined, made} }

type enlarging struct {
	name           string
	outlined, made int
}

func (e enlarging) String() string       { return "enlarging" }
func (e enlarging) add(p *program) error { return p.whole(e) }

func (e enlarging) outline(vs []*Volume) error {
	for _, v := range vs {
		if e.name == "" || e.name == v.Name {
			v.Shape[1] *= e.outlined
		}
	}
	return nil
}

func (e enlarging) apply(vs []*Volume, _ *work) error {
	for _, v := range vs {
		if e.name == "" || e.name == v.Name {
			v.Shape[1] *= e.made
			v.Data = bytes.Repeat(v.Data, e.made)
		}
	}
	return nil
}

// Header is a copy of the volume without its values.
func (v *Volume) Header() *Volume { return v.header() }

// Bytes is the size of the values.
func (v *Volume) Bytes() int64 { return v.size() }

// Headers are the prepared volumes of patient i without values.
func (c *Cohort) Headers(i int) []*Volume { return c.patient(i).outlines }

// Bytes is the size of the prepared volumes of all patients.
func (c *Cohort) Bytes() int64 { return c.size() }
