package program

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/engine"
)

// Steps that say what the result is.
var (
	ToTensor = result("ToTensor", func(p *Program, c *Call) error {
		p.Output.Unit = true
		return p.toFloats(c, func(x float32) float32 { return x / 255 })
	})
	PILToTensor = result("PILToTensor", func(p *Program, c *Call) error { return p.toTensor(c.String()) })
	ToDtype     = &Kind{name: "ToDtype", takes: []*Kind{Scaled}, add: addToDtype}
	Normalize   = result("Normalize", addNormalize)
	Rescale     = result("Rescale", func(p *Program, c *Call) error {
		factor := c.Args.float(0)
		if v := float32(255 * factor); v-v != 0 || v == 0 {
			return errors.New("want a finite factor other than 0")
		}
		if err := p.toFloats(c, func(x float32) float32 { return float32(float64(x) * factor) }); err != nil {
			return err
		}
		p.Output.Factor = factor
		return nil
	})
	BGR = result("BGR", func(p *Program, c *Call) error {
		o := &p.Output
		switch {
		case o.Channels != 3:
			return errors.New("want 3 channels")
		case o.Reversed:
			return errors.New("must come only once")
		case len(o.Norms) > 0 || len(o.Erasings) > 0:
			return errors.New("must come before Normalize and RandomErasing")
		}
		o.Reversed = true
		o.Calls = append(o.Calls, c.String())
		return nil
	})
	// Patches has the side of a patch.
	Patches = &Kind{name: "Patches", takes: []*Kind{Merge, Frames, MaxPatches, Layout}, add: addPatches}
	// SizesFunc has the field and the function.
	SizesFunc = result("SizesFunc", func(p *Program, c *Call) error {
		d := engine.Derived{
			Text: c.String(), Of: c.Own.(func(image, result [2]int, out []int64)),
			Field: dataset.Field{Name: c.Args.text(0), Dtype: dataset.Int64, Shape: c.Args[1].(dataset.Shape)},
		}
		if p.inView {
			return errors.New("not in Views")
		}
		p.Derived = append(p.Derived, d)
		p.Output.Calls = append(p.Output.Calls, d.Text)
		return dataset.Spec{d.Field}.Validate()
	})
	RandomErasing = &Kind{name: "RandomErasing", chance: true, takes: []*Kind{Scale, Ratio, Value, RandomValue}, add: func(p *Program, c *Call) error {
		e := engine.Erasing{P: c.prob(), Scale: c.span(Scale, 0.02, 0.33), Ratio: c.span(Ratio, 0.3, 3.3), Noise: c.has(RandomValue)}
		for _, v := range of[float64](c.option(Value)) {
			e.Value = append(e.Value, float32(v))
		}
		err := errors.Join(p.notNested(), p.beforeCrops())
		switch n := len(e.Value); {
		case err != nil:
			return err
		case e.Scale.Greatest > 1:
			return errors.New("want a Scale up to 1")
		case c.has(Value) && n != 1 && n != p.Output.Channels:
			return errors.New("want a Value per channel, or one for all")
		case e.Noise && c.has(Value):
			return errors.New("want a Value or RandomValue, not both")
		case !p.Output.Float:
			return errors.New("must come after ToTensor")
		case p.Output.Patches.Side > 0:
			return errors.New("not with Patches")
		}
		p.Output.Erasings = append(p.Output.Erasings, e)
		p.Output.Calls = append(p.Output.Calls, c.String())
		return nil
	}}
)

// result is a kind of steps that only say what the result is, and do not change the image.
func result(name string, add func(p *Program, c *Call) error) *Kind {
	return &Kind{name: name, add: func(p *Program, c *Call) error {
		if err := p.notNested(); err != nil {
			return err
		}
		return add(p, c)
	}}
}

// toFloats makes the result floats. Value is that of a byte.
func (p *Program) toFloats(c *Call, value func(x float32) float32) error {
	if err := p.toTensor(c.String()); err != nil {
		return err
	}
	o := &p.Output
	o.Float, o.Dtype = true, dataset.Float32
	for c := range o.Table {
		for x := range o.Table[c] {
			o.Table[c][x] = value(float32(x))
			o.Rescaled = o.Rescaled || o.Table[c][x] != float32(x)/255
		}
	}
	return nil
}

func (p *Program) toTensor(call string) error {
	if p.Output.Tensor {
		return errors.New("want only one of ToTensor, PILToTensor, Rescale and ToDtype with Scaled")
	}
	if p.Output.Cast {
		return errors.New("must come before ToDtype")
	}
	p.Output.Tensor = true
	p.Output.Calls = append(p.Output.Calls, call)
	return nil
}

func addToDtype(p *Program, c *Call) error {
	o, dt := &p.Output, c.Args[0].(dataset.Dtype)
	switch {
	case c.has(Scaled) && dt != dataset.Float32:
		return errors.New("want dataset.Float32 with Scaled, and another ToDtype after it")
	case c.has(Scaled):
		o.Unit, o.Scaled = true, true
		return p.toFloats(c, func(x float32) float32 { return x * float32(1.0/255) })
	case p.Deep != nil:
		return castDeep(o, dt)
	case dt != dataset.Float32 && dt != dataset.Float16 && dt != dataset.BFloat16:
		return errors.New("want dataset.Float32, dataset.Float16 or dataset.BFloat16")
	case !o.Float:
		return errors.New("want ToTensor before it")
	case o.Dtype != dataset.Float32 && o.Dtype != dt:
		return fmt.Errorf("the result is %s already", o.Dtype)
	}
	o.Dtype = dt
	return nil
}

func addNormalize(p *Program, c *Call) error {
	mean, std := c.Args[0].([]float32), c.Args[1].([]float32)
	n := p.Output.Channels
	switch {
	case !p.Output.Float:
		return errors.New("must come after ToTensor")
	case p.Output.Preset != "":
		return fmt.Errorf("%s has normalised already: for other numbers, list its steps yourself", p.Output.Preset)
	case len(p.Output.Erasings) > 0:
		return errors.New("want it before RandomErasing")
	case p.Output.Dtype != dataset.Float32:
		return errors.New("want it before ToDtype")
	case len(mean) != 1 && len(mean) != n || len(std) != 1 && len(std) != n:
		return fmt.Errorf("want one mean and standard deviation for all channels, or one for each: the image has %s", figures.Count(n, "channel", "channels"))
	}
	for _, v := range mean {
		if v-v != 0 {
			return errors.New("want finite means")
		}
	}
	for _, v := range std {
		if v-v != 0 || v == 0 {
			return errors.New("want finite standard deviations other than 0")
		}
	}
	p.Output.Norms = append(p.Output.Norms, engine.ChannelNorm{Mean: mean, Std: std})
	p.Output.Calls = append(p.Output.Calls, c.String())
	if p.Deep != nil {
		return nil
	}
	for c := range n {
		p.Output.Mean[c], p.Output.Std[c] = mean[c%len(mean)], std[c%len(std)]
		t := &p.Output.Table[c]
		for x := range t {
			t[x] = float32(t[x]-mean[c%len(mean)]) / std[c%len(std)]
		}
	}
	return nil
}

// Options of Patches.
var (
	Merge      = &Kind{name: "Merge", check: atLeastOne}
	Frames     = &Kind{name: "Frames", check: atLeastOne}
	MaxPatches = &Kind{name: "MaxPatches", check: atLeastOne}
)

func atLeastOne(v Values) error {
	return want(v.int(0) >= 1 && v.int(0) <= MaxSide, "a number from 1 to %d", MaxSide)
}

// addPatches bounds what the result may take: a row has at most as many values as a field of the largest side.
func addPatches(p *Program, c *Call) error {
	o, cut := &p.Output, engine.Patches{Side: c.Args.int(0), Merge: optionOf(c, Merge, 1), Frames: optionOf(c, Frames, 1), Most: optionOf(c, MaxPatches, 0)}
	axes := optionOf(c, Layout, engine.CHW)
	cut.Last = axes == engine.HWC
	const most = 1 << 12
	switch {
	case p.notNested() != nil:
		return p.notNested()
	case cut.Side < 1 || cut.Side > most || cut.Merge > most || cut.Frames > most:
		return fmt.Errorf("want numbers from 1 to %d", most)
	case axes != engine.CHW && axes != engine.HWC:
		return errors.New("want the Layout CHW or HWC")
	case p.inView:
		return errors.New("not in Views")
	case p.Crops.N > 0:
		return fmt.Errorf("not with %s", p.Crops.Text)
	case p.Tiles != nil && cut.Most > 0:
		return fmt.Errorf("want no MaxPatches with %s", p.Tiles.Text)
	case o.Patches.Side > 0:
		return errors.New("must come only once")
	case p.Deep != nil:
		return errColours
	case p.floats != "":
		return fmt.Errorf("not with %s", p.floats)
	case !o.Float:
		return errors.New("must come after ToTensor")
	case o.Channels != 3:
		return errors.New("want 3 channels")
	case o.Axes != 0:
		return errors.New("not with the setting Layout: it is an option of Patches")
	case o.Blanks || len(o.Erasings) > 0:
		return errors.New("not with PadTo and RandomErasing")
	}
	o.Patches = cut
	o.Calls = append(o.Calls, c.String())
	return nil
}

// Steps for whole batches.
var (
	MixUp  = &Kind{name: "MixUp", takes: []*Kind{Fields, Probability}}
	CutMix = &Kind{name: "CutMix", takes: []*Kind{Fields, Probability}}
)

// A Mixing is MixUp or CutMix.
type Mixing struct{ *Call }

// Bind finds the fields, and makes the label float32 of shape (classes).
func (m Mixing) Bind(before dataset.Spec) (dataset.Spec, dataset.BatchApply, error) {
	b, err := m.Mixer(before)
	if err != nil {
		return nil, nil, fmt.Errorf("transform: %v: %w", m, err)
	}
	after := slices.Clone(before)
	after[b.To] = dataset.Field{Name: before[b.To].Name, Dtype: dataset.Float32, Shape: dataset.Shape{b.Classes}}
	return after, b.Apply, nil
}

// Mixer is the step for batches of these fields.
func (m Mixing) Mixer(before dataset.Spec) (*engine.Mixer, error) {
	b := &engine.Mixer{Name: m.name, Cut: m.Kind == CutMix, Beta: m.Args.float(0), Classes: m.Args.int(1), Probability: optionOf(m.Call, Probability, 1.0)}
	switch {
	case !(b.Beta > 0) || math.IsInf(b.Beta, 1):
		return nil, errors.New("want an alpha above 0")
	case b.Classes < 1 || b.Classes > maxClasses:
		return nil, fmt.Errorf("want 1 to %d classes", maxClasses)
	case m.mistake != nil:
		return nil, m.mistake
	}
	names := []string{"image", "label"}
	if m.has(Fields) {
		names = m.option(Fields).texts()
	}
	b.At, b.To = before.Index(names[0]), before.Index(names[1])
	if b.At < 0 || b.To < 0 || b.At == b.To {
		return nil, fmt.Errorf("want fields %q and %q, not %v", names[0], names[1], before)
	}
	b.Field, b.Shares = before[b.At], before[b.To].Dtype == dataset.Float32
	switch f := b.Field; {
	case f.Ragged:
		return nil, fmt.Errorf("field %v: want images of one size", f)
	case b.Cut && len(f.Shape) < 2:
		return nil, fmt.Errorf("field %v: want images with height and width", f)
	case !b.Cut && !slices.Contains([]dataset.Dtype{dataset.Float32, dataset.Float64, dataset.Float16, dataset.BFloat16}, f.Dtype):
		return nil, fmt.Errorf("field %v: want floating-point numbers, as ToTensor makes them", f)
	}
	f := before[b.To]
	classes := f.Dtype == dataset.Int64 && len(f.Shape) == 0
	shares := f.Dtype == dataset.Float32 && slices.Equal(f.Shape, dataset.Shape{b.Classes})
	if f.Ragged || !classes && !shares {
		return nil, fmt.Errorf("field %v: want an int64 class, or float32 shares of %d classes", f, b.Classes)
	}
	return b, nil
}

// maxClasses bounds the memory of labels.
const maxClasses = 1 << 20
