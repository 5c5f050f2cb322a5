package program

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// A Program is a compiled list of steps: operations in order, and how the last image is stored.
type Program struct {
	engine.Plan
	samplings []*engine.Sampling
	annotated
	groups []*group
	inView bool // it is that of a view

	varying string // the step after which the size varies
	errs    []error
	Lines   []string // of the plan as it prints
	run     []string // geometry that one resampling does
	resized bool     // the run has a resize
	settled bool     // another resize needs another run
	floats  string   // the step whose resize makes floats
	spent   bool     // its run has ended
	nested  bool     // it is part of a random step: only the image may change
	how     effect   // the greatest of the effects so far
	pixels  bool     // some step needs pixels
}

// A sizing is an operation after which the size may be another.
type sizing interface {
	engine.Operation
	fmt.Stringer
	after(w, h int) (int, int)
}

// Compile checks all steps and settings for samples of a dataset with these fields, or if spec is nil for single images.
// It joins their errors, which do not name the package yet, and err.
func Compile(spec dataset.Spec, steps, settings []*Call, err error) (*Program, error) {
	p := &Program{Plan: engine.Plan{Field: "image", Limit: source.DefaultMaxPixels, Pillow: 12}}
	p.errs = append(p.errs, err)
	p.settle(settings)
	p.errs = append(p.errs, p.findKinds(spec))
	return p, p.finish(steps)
}

// settle makes the settings.
func (p *Program) settle(settings []*Call) {
	given := map[*Kind]bool{}
	for _, o := range settings {
		switch {
		case o == nil:
			p.errs = append(p.errs, errors.New("an option is empty"))
		case o.add == nil:
			p.errs = append(p.errs, fmt.Errorf("has no option %s", o.name))
		case given[o.Kind] && !o.several:
			p.errs = append(p.errs, fmt.Errorf("%v: must come only once", o))
		default:
			given[o.Kind] = true
			err := o.mistake
			if err == nil {
				err = o.add(p, o)
			}
			p.errs = append(p.errs, within(o.String(), err))
		}
	}
}

// finish compiles the steps with the settings so far.
func (p *Program) finish(steps []*Call) error {
	p.Output.Channels, p.Output.Dtype = 3, dataset.Uint8
	if p.Deep != nil {
		p.Output.Channels, p.Output.Dtype, p.Output.Deep = p.Deep.Channels, dataset.Uint16, true
	}
	p.Moves = p.any()
	p.addAll(steps)
	p.endRun()
	p.errs = append(p.errs, p.Output.Check()...)
	if p.floats != "" && !p.Output.Float {
		p.errs = append(p.errs, fmt.Errorf("%s: want ToTensor, Rescale or ToDtype with Scaled after it, because its values are not whole numbers", p.floats))
	}
	if p.Upright && p.any() {
		p.errs = append(p.errs, errors.New("ExifTranspose(): not with Boxes, Mask, Masks or KeyPoints, which belong to the pixels of the file"))
	}
	p.errs = append(p.errs, p.compileViews(steps)...)
	if p.Crops.N > 0 && (p.Ragged || p.Sizes != "") {
		p.errs = append(p.errs, fmt.Errorf("%s: not with Ragged and Sizes: all crops have one size", p.Crops.Text))
	}
	return errors.Join(p.errs...)
}

func (p *Program) addAll(steps []*Call) {
	for _, s := range steps {
		if s == nil {
			p.errs = append(p.errs, errors.New("a step is nil"))
			continue
		}
		err := errors.Join(s.mistake, p.checkFill(s), p.checkFilter(s))
		if err == nil {
			err = s.add(p, s)
		}
		if err == nil {
			err = p.checkFloats(s)
		}
		p.errs = append(p.errs, within(s.nameOf(), err))
	}
}

// checkFloats notes a resize that makes floats. After it, a step that needs pixels is an error, because they are bytes.
func (p *Program) checkFloats(c *Call) error {
	switch {
	case p.spent:
		text := p.floats
		p.floats, p.spent = "", false
		return fmt.Errorf("must come before %s, whose values are not whole numbers", text)
	case c.filter(resize.Bilinear) != resize.TensorFlowBilinear:
	case p.nested:
		return errors.New("not in a random step: its values are not whole numbers")
	default:
		p.floats = c.String()
	}
	return nil
}

// An effect is how a geometry takes part in a run.
type effect int

const (
	crops effect = iota
	moves
	pads
	resizes
)

// join adds geometry to the run, or begins another.
func (p *Program) join(text string, how effect) {
	if how == resizes && p.settled {
		p.endRun()
	}
	p.run = append(p.run, text)
	p.resized = p.resized || how == resizes
	p.settled = p.settled || how != crops
	p.how = max(p.how, how)
}

// pause ends the run, because a step needs pixels.
func (p *Program) pause(line string) {
	p.endRun()
	p.Lines = append(p.Lines, line)
	p.pixels = true
}

func (p *Program) beforeTensor() error {
	if p.Output.Tensor {
		return errors.New("must come before ToTensor and PILToTensor")
	}
	return p.beforeCrops()
}

// beforeCrops is the error of a step after FiveCrop, TenCrop or Tiles that does more than say what the result is.
func (p *Program) beforeCrops() error {
	if text := p.several(); text != "" {
		return fmt.Errorf("must come before %s", text)
	}
	return nil
}

// several is the step that makes several images of one, or "".
func (p *Program) several() string {
	if p.Tiles != nil {
		return p.Tiles.Text
	}
	return p.Crops.Text
}

func (p *Program) endRun() {
	if len(p.run) > 0 {
		stage := "window    "
		if p.resized {
			stage = "resample  "
		}
		p.Lines = append(p.Lines, stage+strings.Join(p.run, ", "))
	}
	p.run, p.resized, p.settled = nil, false, false
	p.spent = p.floats != ""
}

// sized is the size of the last image, from images of w×h. Zeros mean that the size varies.
func (p *Program) sized(w, h int) (int, int) {
	p.varying = "the images of the dataset"
	for _, op := range p.Ops {
		if s, ok := op.(sizing); ok {
			w, h = s.after(w, h)
			p.varying = s.String()
		}
	}
	return w, h
}

// fieldOf is the field of the results, from images of w×h. Zeros mean that the size varies.
func (p *Program) fieldOf(w, h int) (dataset.Field, error) {
	cut, row := p.Output.Patches, dataset.Shape(nil)
	switch t := p.Tiles; {
	case t != nil && !p.Ragged:
		return dataset.Field{}, fmt.Errorf("the size varies from image to image after %s: add Ragged()", t.Text)
	case cut.Side > 0:
		row = dataset.Shape{cut.Row(p.Output.Channels)}
	case t != nil && p.Output.Planar():
		row = dataset.Shape{p.Output.Channels, t.Size.Y, t.Size.X}
	case t != nil:
		row = dataset.Shape{t.Size.Y, t.Size.X, p.Output.Channels}
	}
	if p.Ragged {
		f := dataset.Field{Name: p.Field, Dtype: p.Output.Dtype, Shape: row, Ragged: true}
		return f, dataset.Spec{f}.Validate()
	}
	if cut.Most > 0 {
		f := dataset.Field{Name: p.Field, Dtype: p.Output.Dtype, Shape: dataset.Shape{cut.Most, row[0]}}
		return f, dataset.Spec{f}.Validate()
	}
	w, h = p.sized(w, h)
	if p.Crops.N > 0 {
		w, h = p.Crops.Size.X, p.Crops.Size.Y
	}
	if w == 0 || h == 0 {
		return dataset.Field{}, fmt.Errorf("the size varies from image to image after %s: "+
			"add CenterCrop(n), RandomCrop(n), RandomResizedCrop(n) or Resize([2]int{h, w}), or after all steps PadTo([2]int{h, w}) or Ragged()", p.varying)
	}
	shape := dataset.Shape{h, w, p.Output.Channels}
	if p.Output.Planar() {
		shape = dataset.Shape{p.Output.Channels, h, w}
	}
	if cut.Side > 0 {
		if err := cut.Check(w, h, p.Limit); err != nil {
			return dataset.Field{}, err
		}
		shape = dataset.Shape{cut.Count(w, h), row[0]}
	}
	if p.Crops.N > 0 {
		shape = append(dataset.Shape{p.Crops.N}, shape...)
	}
	f := dataset.Field{Name: p.Field, Dtype: p.Output.Dtype, Shape: shape}
	p.Output.W, p.Output.H = w, h
	return f, dataset.Spec{f}.Validate()
}

// notNested is the error of a step that does not only change the image, within a random step.
func (p *Program) notNested() error {
	if p.nested {
		return errors.New("must not be part of a random step")
	}
	return nil
}

// Over is what becomes of the samples of a dataset with these fields.
func (p *Program) Over(in dataset.Spec) (x *engine.Task, err error) {
	spec := slices.Clone(in)
	x = &engine.Task{Plan: &p.Plan, In: in, Out: spec, Field: spec.Index(p.Field)}
	if x.Field < 0 {
		return nil, fmt.Errorf("the dataset has no field %q, only %v", p.Field, spec)
	}
	f := spec[x.Field]
	if err = p.input(x, f); err != nil {
		return nil, fmt.Errorf("field %v: %w", f, err)
	}
	if err := p.findFields(spec); err != nil {
		return nil, err
	}
	if p.Memory > 0 {
		return nil, fmt.Errorf("MaxMemory(%d): only for Compile: here every worker has one image at a time", p.Memory)
	}
	if len(p.groups) > 0 {
		if p.Frames > 0 {
			return nil, fmt.Errorf("%s: not for clips: dataset.Zip joins an Images per view", Views.name)
		}
		if x.Out, err = p.withViews(spec, x.Field, x.Raw.W, x.Raw.H); err != nil {
			return nil, err
		}
		return x, nil
	}
	if spec[x.Field], err = p.fieldOf(x.Raw.W, x.Raw.H); err != nil {
		return nil, err
	}
	if err := p.ofClip(&spec[x.Field]); err != nil {
		return nil, err
	}
	if p.Output.Patches.Side == 0 && p.Tiles == nil {
		spec[x.Field].Kind = dataset.Image
	}
	if x.Layout, spec, err = p.annotate(spec, in); err != nil {
		return nil, err
	}
	if x.Out, err = p.withSizes(spec); err != nil {
		return nil, err
	}
	return x, nil
}

// Alone are the fields of the results for single images.
func (p *Program) Alone() (dataset.Spec, error) {
	if len(p.groups) > 0 {
		return nil, fmt.Errorf("%s: only for Images: here an image has one result", Views.name)
	}
	if p.any() {
		return nil, fmt.Errorf("%v: only for Images: here the image is alone", p.parts[0])
	}
	if err := p.findFields(nil); err != nil {
		return nil, err
	}
	f, err := p.fieldOf(0, 0)
	if err == nil {
		err = p.ofClip(&f)
	}
	if err != nil {
		return nil, err
	}
	return p.withDerived(dataset.Spec{f})
}
