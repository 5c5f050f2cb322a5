// Package volume prepares and augments medical volumes and their slices and
// patches, in the words of MONAI and TorchIO: resample to match another volume,
// resample, window, z-score, pad or crop, flip, rotate, random crop.
//
// Steps stand at two places of a volume's way into the batch:
//
//	study, err := dataset.Volumes(fsys,
//		dataset.Scan("ct", "{patient}/ct.nrrd"),
//		dataset.Mask("tumour", "{patient}/tumour.nrrd"),
//		dataset.Prepare(volume.Steps( // once per patient, before the cache
//			volume.Resample(2, 1, 1), volume.Window(40, 400))))
//	patches, err := study.Patches([]int{32, 96, 96}, dataset.Positives("tumour", 0.5))
//	ds, err := volume.Samples(patches, volume.RandomFlip(0.5)) // for every sample
//
// What is the same in every epoch and expensive belongs into the preparation,
// which [Steps] makes; its result is cached. What is random belongs behind the
// cut, in [Samples].
//
// All volumes of a patient are on one grid, on that of the scan which
// [ResampleToMatch] names if they come on several, and move together. Steps that move voxels take labels from
// the nearest voxel, and steps that change values leave masks alone. Axes are
// those of space, the slowest first, 0, 1 and 2 for z, y and x, or 0 and 1 for
// rows and columns of a slice; -1 is the last one. Channels are never mixed.
// Geometry is kept true: after every step [dataset.Volume.Position] tells where a
// voxel lies in the body.
package volume

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
)

// A Step is one entry of the lists that [Steps] and [Samples] take: a call of
// one of this package's functions, or [Apply] around a [Transform] of one's own.
// It prints as the call that made it.
type Step interface {
	fmt.Stringer
	add(p *program) error
}

// An operation is a step at work on volumes of one shape, channels first.
type operation interface {
	Step
	// outline changes the headers as apply does.
	outline(vs []*dataset.Volume) error
	apply(vs []*dataset.Volume, w *work) error
}

// work is what one run of a program takes: random numbers, and memory for
// results that cannot be made in place.
type work struct {
	ctx    context.Context
	rand   *rand.Rand // nil in a preparation
	sample *buffers   // nil in a preparation, whose results keep their memory
	op     int        // being run
}

// memory is where operation w.op shall put n bytes of volume k.
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
	perSample        // only behind the cut
)

// A program is what steps compile to.
type program struct {
	ops      []operation
	moving   int // the last operation that needs other memory for its result, or -1
	samples  bool
	images   []string // fields named by Images
	masks    []string
	names    []string // that steps ask for
	floating []*intensity
	matches  bool // volumes may have grids of their own before the first step
	errs     []error
}

func compile(steps []Step, samples bool) *program {
	p := &program{samples: samples, moving: -1}
	p.addAll(steps)
	return p
}

func (p *program) addAll(steps []Step) {
	for _, s := range steps {
		if s == nil {
			p.errs = append(p.errs, errors.New("volume: a step is nil"))
			continue
		}
		if err := s.add(p); err != nil {
			p.errs = append(p.errs, fmt.Errorf("volume: %v: %w", s, err))
		}
	}
}

func (p *program) add(op operation, where place, moves bool) error {
	switch {
	case where == perPatient && p.samples:
		return errors.New("want it in a preparation, by dataset.Prepare(volume.Steps(…))")
	case where == perSample && !p.samples:
		return errors.New("it is random: want it behind the cut, in volume.Samples")
	}
	if moves {
		p.moving = len(p.ops)
	}
	p.ops = append(p.ops, op)
	return nil
}

func (p *program) outline(vs []*dataset.Volume) error {
	for _, op := range p.ops {
		if err := op.outline(vs); err != nil {
			return fmt.Errorf("volume: %v: %w", op, err)
		}
	}
	return nil
}

func (p *program) run(vs []*dataset.Volume, w *work) error {
	for k, op := range p.ops {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		w.op = k
		if err := op.apply(vs, w); err != nil {
			return fmt.Errorf("volume: %v: %w", op, err)
		}
	}
	return nil
}

// checkNames finds names that steps ask for and no volume has.
func (p *program) checkNames(names []string) error {
	var errs []error
	for _, n := range p.names {
		if !slices.Contains(names, n) {
			errs = append(errs, fmt.Errorf("volume: no volume is named %q: there are %s", n, strings.Join(names, ", ")))
		}
	}
	return errors.Join(errs...)
}

// A Preparation is a list of steps that a study takes its volumes through once
// per patient, see [dataset.Prepare].
type Preparation struct{ p *program }

// Steps makes a preparation of the steps. What is wrong with them is told by
// [dataset.Volumes], all at once.
func Steps(steps ...Step) *Preparation { return &Preparation{compile(steps, false)} }

// Validate reports everything that is wrong with the steps, for a study whose
// volumes have these names.
func (x *Preparation) Validate(names []string) error {
	errs := slices.Clone(x.p.errs)
	if len(x.p.images)+len(x.p.masks) > 0 {
		errs = append(errs, errors.New("volume: Images, Masks: the study itself knows: want them in volume.Samples alone"))
	}
	return errors.Join(append(errs, x.p.checkNames(names))...)
}

// MatchesGrids reports whether the steps begin with [ResampleToMatch].
func (x *Preparation) MatchesGrids() bool { return x.p.matches }

// Outline changes headers as Prepare would.
func (x *Preparation) Outline(volumes []*dataset.Volume) error { return x.p.outline(volumes) }

// Prepare takes one patient's volumes through the steps.
func (x *Preparation) Prepare(ctx context.Context, volumes []*dataset.Volume) error {
	return x.p.run(volumes, &work{ctx: ctx})
}

// String is the steps in their order.
func (x *Preparation) String() string { return join(x.p.ops) }

func join[T fmt.Stringer](items []T) string {
	texts := make([]string, len(items))
	for i, s := range items {
		texts[i] = s.String()
	}
	return strings.Join(texts, ", ")
}

// call prints a step: its name and arguments.
func call(name string, args ...any) string {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = fmt.Sprint(a)
	}
	return name + "(" + strings.Join(texts, ", ") + ")"
}

func anys[T any](v []T) []any {
	args := make([]any, len(v))
	for i, x := range v {
		args[i] = x
	}
	return args
}

// rankOf is the number of axes of space.
func rankOf(vs []*dataset.Volume) int { return len(vs[0].Shape) - 1 }

// axisOf is the place in Shape of an axis as users count them.
func axisOf(axis, rank int) (int, error) {
	if axis < -rank || axis >= rank {
		return 0, fmt.Errorf("axis %d of %d", axis, rank)
	}
	if axis < 0 {
		axis += rank
	}
	return axis + 1, nil
}

func checkProbability(p float64) error {
	if !(p >= 0 && p <= 1) {
		return errors.New("want a probability from 0 to 1")
	}
	return nil
}
