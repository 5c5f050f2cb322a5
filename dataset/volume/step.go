package volume

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/internal/figures"
)

// A Step is an element of the lists for [Prepare], [Process] and [Augment].
// Functions of this package make them; [Apply] makes one of your own
// [Transform]. A Step prints as the call that made it.
type Step interface {
	fmt.Stringer
	add(p *program) error
}

// An operation is a step compiled for volumes of one shape, channels first.
type operation interface {
	Step
	// outline changes the headers as apply does.
	outline(vs []*Volume) error
	apply(vs []*Volume, w *work) error
}

// work is what one run of a program uses: random numbers, and memory for results
// that cannot be made in place.
type work struct {
	ctx    context.Context
	rand   *rand.Rand // nil in a preparation
	sample *buffers   // nil in a preparation, whose results keep their memory
	op     int        // being run
}

// memory is n bytes for the result of operation w.op on volume k.
func (w *work) memory(k, n int) []byte {
	if w.sample == nil {
		return make([]byte, n)
	}
	return w.sample.next(w.op, k, n)
}

// place says how an operation may be used.
type place int

const (
	anywhere   place = iota
	perPatient       // only in a preparation
	perSample        // only after the cut
)

// A program is what steps compile to.
type program struct {
	ops      []operation
	moving   int // the last operation that needs other memory for its result, or -1
	samples  bool
	scans    []string // fields named by ScanFields
	masks    []string // fields named by MaskFields
	names    []string // that steps refer to
	floating []*intensity
	matches  bool // volumes may have grids of their own before the first step
	errs     []error
}

func compile(steps []Step, samples bool) *program {
	p := &program{samples: samples, moving: -1}
	for _, s := range steps {
		if s == nil {
			p.errs = append(p.errs, errors.New("volume: a step is nil"))
			continue
		}
		if err := s.add(p); err != nil {
			p.errs = append(p.errs, fmt.Errorf("volume: %v: %w", s, err))
		}
	}
	return p
}

func (p *program) add(op operation, where place, moves bool) error {
	switch {
	case where == perPatient && p.samples:
		return errors.New("it is for whole volumes: use it in Prepare")
	case where == perSample && !p.samples:
		return errors.New("it is random: use it in Augment")
	}
	if moves {
		p.moving = len(p.ops)
	}
	p.ops = append(p.ops, op)
	return nil
}

// outline changes the headers as run would.
func (p *program) outline(vs []*Volume) error {
	for _, op := range p.ops {
		if err := op.outline(vs); err != nil {
			return fmt.Errorf("%v: %w", op, err)
		}
	}
	return nil
}

func (p *program) run(vs []*Volume, w *work) error {
	for k, op := range p.ops {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		w.op = k
		if err := op.apply(vs, w); err != nil {
			return fmt.Errorf("%v: %w", op, err)
		}
	}
	return nil
}

// validate reports everything that is wrong with p as the preparation of volumes with
// these names.
func (p *program) validate(names []string) error {
	errs := slices.Clone(p.errs)
	if len(p.scans)+len(p.masks) > 0 {
		errs = append(errs, errors.New("volume: ScanFields, MaskFields: a cohort knows its volumes: use these for Augment only"))
	}
	return errors.Join(append(errs, p.checkNames(names))...)
}

// checkNames finds names that steps refer to and no volume has.
func (p *program) checkNames(names []string) error {
	var errs []error
	for _, n := range p.names {
		if !slices.Contains(names, n) {
			errs = append(errs, fmt.Errorf("volume: no volume is named %q: there are %s", n, strings.Join(names, ", ")))
		}
	}
	return errors.Join(errs...)
}

// String lists the steps in their order.
func (p *program) String() string { return figures.Join(p.ops) }

// Process applies the steps to the volumes of one body, as [Prepare] does for
// every patient of a cohort. Use it to prepare the input of a trained
// network as it was for training. Volumes are changed in place, and then have
// channels first. After an error they are undefined. They must be on one grid,
// unless the first step is [ResampleToMatch].
func Process(ctx context.Context, volumes []*Volume, steps ...Step) error {
	if len(volumes) == 0 {
		return errors.New("volume: process: no volumes")
	}
	p := compile(steps, false)
	names := make([]string, len(volumes))
	outlines := make([]*Volume, len(volumes))
	for k, v := range volumes {
		names[k] = v.Name
		err := v.check()
		if err == nil {
			err = v.channelsFirst()
		}
		if err != nil {
			return fmt.Errorf("volume: process %s: %w", v.Name, err)
		}
		outlines[k] = v.Header()
	}
	if err := p.validate(names); err != nil {
		return err
	}
	if err := fit("volume: ", "", outlines, p, defaultTolerance); err != nil {
		return err
	}
	if err := p.run(volumes, &work{ctx: ctx}); err != nil {
		return fmt.Errorf("volume: %w", err)
	}
	return nil
}

// rankOf is the number of spatial axes.
func rankOf(vs []*Volume) int { return len(vs[0].Shape) - 1 }

// axisOf is the index in Shape of an axis as users count axes.
func axisOf(axis, rank int) (int, error) {
	if axis < -rank || axis >= rank {
		return 0, fmt.Errorf("axis %d is out of range: there are %d", axis, rank)
	}
	if axis < 0 {
		axis += rank
	}
	return axis + 1, nil
}
