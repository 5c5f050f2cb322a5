package transform

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// A program is a compiled list of steps: operations in order, and how the last
// image is stored.
type program struct {
	engine.Plan
	inputs    dataset.Spec // of Inputs; nil without it
	samplings []*engine.Sampling
	annotated
	groups   []*group
	cropping tenCropping // if it was there, crops is not 0
	cropsAt  int         // its place in ops

	varying string // the step after which the size varies
	errs    []error
	lines   []string // of the plan as it prints
	run     []string // geometry that one resampling does
	resized bool     // the run has a resize
	settled bool     // another resize needs another run
	nested  bool     // it is part of a random step: only the image may change
	how     effect   // the greatest of the effects so far
	pixels  bool     // some step needs pixels
}

// A geometry moves and scales pixels. The engine collects it and applies it later.
type geometry interface {
	Step
	after(w, h int) (int, int) // the size after it; 0, 0 if that varies
	Move(e *engine.Engine, r *rand.Rand) error
}

// An editor changes the pixels that the engine has rendered, but not the size.
type editor interface {
	Step
	edit(e *engine.Engine, r *rand.Rand) error
}

// A sizing is an operation after which the size may be another.
type sizing interface {
	engine.Operation
	fmt.Stringer
	after(w, h int) (int, int)
}

type moving struct{ geometry }

func (moving) Leads() {}

func (m moving) Do(e *engine.Engine, r *rand.Rand) error {
	err := m.Move(e, r)
	if size, ok := err.(engine.Impossible); ok {
		return fmt.Errorf("transform: %v: %w", m.geometry, size)
	}
	return err
}

type editing struct{ editor }

func (d editing) Do(e *engine.Engine, r *rand.Rand) error {
	if err := e.Render(); err != nil {
		return err
	}
	e.Slot.Stage(dataset.StageAugment)
	return d.edit(e, r)
}

// compile checks all steps, and joins their errors, which do not name the package yet.
func compile(items []Item) (*program, error) { return compileFor(nil, items) }

// compileFor is compile for samples of a dataset with these fields, or if nil with those of Inputs.
func compileFor(spec dataset.Spec, items []Item) (*program, error) {
	p := &program{Plan: engine.Plan{Field: "image", Limit: source.DefaultMaxPixels, Pillow: 12}}
	steps, options, err := divide(items)
	p.errs = append(p.errs, err)
	p.settle(options)
	if spec == nil {
		spec = p.inputs
	}
	p.errs = append(p.errs, p.findKinds(spec))
	return p, p.finish(steps)
}

// divide parts a list.
func divide(items []Item) (steps []Step, options []Option, err error) {
	for _, it := range items {
		switch it := it.(type) {
		case Step:
			steps = append(steps, it)
		case Option:
			options = append(options, it)
		default:
			err = errors.New("a step is nil")
		}
	}
	return steps, options, err
}

// settle makes the settings.
func (p *program) settle(options []Option) {
	given := map[string]bool{}
	for _, o := range options {
		switch {
		case o.call == nil:
			p.errs = append(p.errs, errors.New("an option is empty"))
		case o.use == nil:
			p.errs = append(p.errs, fmt.Errorf("has no option %s", o.name))
		case given[o.name] && !o.several:
			p.errs = append(p.errs, fmt.Errorf("%v: must come only once", o))
		default:
			given[o.name] = true
			err := o.mistake
			if err == nil {
				err = o.use(p)
			}
			p.errs = append(p.errs, within(o.String(), err))
		}
	}
}

// finish compiles the steps with the settings so far.
func (p *program) finish(steps []Step) error {
	p.Output.Channels, p.Output.Dtype = 3, dataset.Uint8
	if p.Deep != nil {
		p.Output.Channels, p.Output.Dtype, p.Output.Deep = p.Deep.Channels, dataset.Uint16, true
	}
	p.Moves = p.annotated.any()
	p.addAll(steps)
	p.endRun()
	p.errs = append(p.errs, p.Output.Check()...)
	if p.Upright && p.annotated.any() {
		p.errs = append(p.errs, errors.New("ExifTranspose(): not with Boxes, Mask, Masks or KeyPoints, which belong to the pixels of the file"))
	}
	p.errs = append(p.errs, p.compileViews(steps)...)
	if err := p.splitCrops(); err != nil {
		p.errs = append(p.errs, err)
	}
	return errors.Join(p.errs...)
}

func (p *program) addAll(steps []Step) {
	for _, s := range steps {
		if s == nil {
			p.errs = append(p.errs, errors.New("a step is nil"))
			continue
		}
		var err error
		if c, ok := s.(interface{ wrong() error }); ok {
			err = c.wrong()
		}
		if err == nil {
			err = s.add(p)
		}
		p.errs = append(p.errs, within(nameOf(s), err))
	}
}

// An effect is how a geometry takes part in a run.
type effect int

const (
	crops effect = iota
	moves
	pads
	resizes
)

func (p *program) geometry(g geometry, how effect) error {
	if err := errors.Join(p.beforeTensor(), p.takes(g)); err != nil {
		return err
	}
	p.join(g.String(), how)
	p.Ops = append(p.Ops, moving{g})
	return nil
}

// join adds geometry to the run, or begins another.
func (p *program) join(text string, how effect) {
	if how == resizes && p.settled {
		p.endRun()
	}
	p.run = append(p.run, text)
	p.resized = p.resized || how == resizes
	p.settled = p.settled || how != crops
	p.how = max(p.how, how)
}

func (p *program) edit(ed editor) error {
	if err := p.beforeTensor(); err != nil {
		return err
	}
	p.pause("augment   " + ed.String())
	p.Ops = append(p.Ops, editing{ed})
	return nil
}

// editAlone adds an editor that also moves pixels, which annotations cannot follow.
func (p *program) editAlone(ed editor) error {
	if err := errors.Join(p.annotated.still(), p.warps(ed), p.greyOrRGB()); err != nil {
		return err
	}
	return p.edit(ed)
}

// editBytes is edit for a step that works with pixels of 8 bits alone.
func (p *program) editBytes(ed editor) error {
	if p.Deep != nil {
		p.errs = append(p.errs, fmt.Errorf("%v: %w", ed, errColours))
	}
	return p.edit(ed)
}

// pause ends the run, because a step needs pixels.
func (p *program) pause(line string) {
	p.endRun()
	p.lines = append(p.lines, line)
	p.pixels = true
}

// Warp adds a geometry that needs pixels. Its annotations must follow.
func (p *program) Warp(g geometry) error { return p.warpBy(g, moving{g}) }

// warpBy adds a step that moves pixels, and its operation.
func (p *program) warpBy(s Step, op engine.Operation) error {
	if err := errors.Join(p.beforeTensor(), p.warps(s)); err != nil {
		return err
	}
	p.pause("warp      " + s.String())
	p.Ops = append(p.Ops, op)
	return nil
}

func (p *program) beforeTensor() error {
	if p.Output.Tensor {
		return errors.New("must come before ToTensor and PILToTensor")
	}
	return nil
}

// First is the error of a step that must come before all steps that change the
// image.
func (p *program) First() error {
	if len(p.Ops) > 0 || p.Upright {
		return errors.New("must come once, before all steps that change the image")
	}
	return p.beforeTensor()
}

func (p *program) endRun() {
	if len(p.run) > 0 {
		stage := "window    "
		if p.resized {
			stage = "resample  "
		}
		p.lines = append(p.lines, stage+strings.Join(p.run, ", "))
	}
	p.run, p.resized, p.settled = nil, false, false
}

// sized is the size of the last image, from images of w×h. Zeros mean that the
// size varies.
func (p *program) sized(w, h int) (int, int) {
	p.varying = "the images of the dataset"
	for _, op := range p.Ops {
		if s, ok := op.(sizing); ok {
			w, h = s.after(w, h)
			p.varying = s.String()
		}
	}
	return w, h
}

// fieldOf is the field of the results, from images of w×h. Zeros mean that the
// size varies.
func (p *program) fieldOf(w, h int) (dataset.Field, error) {
	if p.Ragged {
		f := dataset.Field{Name: p.Field, Dtype: p.Output.Dtype, Ragged: true}
		return f, dataset.Spec{f}.Validate()
	}
	w, h = p.sized(w, h)
	if w == 0 || h == 0 {
		return dataset.Field{}, fmt.Errorf("the size varies from image to image after %s: "+
			"add CenterCrop(n), RandomCrop(n), RandomResizedCrop(n) or Resize([2]int{h, w}), or after all steps PadTo([2]int{h, w}) or Ragged()", p.varying)
	}
	shape := dataset.Shape{h, w, p.Output.Channels}
	if p.Output.Planar() {
		shape = dataset.Shape{p.Output.Channels, h, w}
	}
	f := dataset.Field{Name: p.Field, Dtype: p.Output.Dtype, Shape: shape}
	p.Output.W, p.Output.H = w, h
	return f, dataset.Spec{f}.Validate()
}
