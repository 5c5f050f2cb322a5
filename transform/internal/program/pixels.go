package program

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// An editing is the operation of a step that changes the pixels, but not the size.
type editing func(e *engine.Engine, r *rand.Rand) error

// Do makes the image and runs it.
func (edit editing) Do(e *engine.Engine, r *rand.Rand) error {
	if err := e.Render(); err != nil {
		return err
	}
	e.Slot.Stage(dataset.StageAugment)
	return edit(e, r)
}

// A chancing is an editing with a probability. It draws before it asks for pixels.
type chancing struct {
	p    float64
	edit editing
}

// Do draws, and runs it or not.
func (c chancing) Do(e *engine.Engine, r *rand.Rand) error {
	if r.Float64() >= c.p {
		return nil
	}
	return c.edit.Do(e, r)
}

// edit adds a step that changes pixels.
func (p *Program) edit(c *Call, op engine.Operation) error {
	if err := p.beforeTensor(); err != nil {
		return err
	}
	p.pause("augment   " + c.String())
	p.Ops = append(p.Ops, op)
	return nil
}

// policy adds a step of augmentations that also move pixels, which annotations cannot follow.
func (p *Program) policy(c *Call, err error, edit editing) error {
	if err != nil {
		return err
	}
	if p.any() {
		return errors.New("not with Boxes, Mask, Masks or KeyPoints, which it does not move")
	}
	if err := p.greyOrRGB(); err != nil {
		return err
	}
	return p.edit(c, edit)
}

// chance is a kind of steps whose last argument is the probability of a change.
func chance(name string, check func(v Values) error, change func(f raster.Frame, v Values)) *Kind {
	return &Kind{name: name, chance: true, add: func(p *Program, c *Call) error {
		if err := check(c.Args); err != nil {
			return err
		}
		return p.edit(c, chancing{c.prob(), func(e *engine.Engine, _ *rand.Rand) error {
			change(e.Frame, c.Args)
			return nil
		}})
	}}
}

func anyValue(Values) error { return nil }

// Steps that change levels, with a probability.
var (
	RandomPosterize = chance("RandomPosterize", func(v Values) error { return want(v.int(0) >= 0 && v.int(0) <= 8, "0 to 8 bits") },
		func(f raster.Frame, v Values) { f.Posterize(v.int(0)) })
	RandomSolarize = chance("RandomSolarize", func(v Values) error { return want(v.float(0)-v.float(0) == 0, "a finite threshold") },
		func(f raster.Frame, v Values) { f.Solarize(v.float(0)) })
	RandomAdjustSharpness = chance("RandomAdjustSharpness",
		func(v Values) error {
			return want(v.float(0) >= 0 && v.float(0) < math.MaxFloat32, "a finite factor, 0 or more")
		},
		func(f raster.Frame, v Values) { f.Sharpness(v.float(0)) })
	RandomInvert       = chance("RandomInvert", anyValue, func(f raster.Frame, _ Values) { f.Invert() })
	RandomAutocontrast = chance("RandomAutocontrast", anyValue, func(f raster.Frame, _ Values) { f.Autocontrast() })
	RandomEqualize     = chance("RandomEqualize", anyValue, func(f raster.Frame, _ Values) { f.Equalize() })
)

// Steps that change colours, blur and add noise.
var (
	ColorJitter = &Kind{name: "ColorJitter", add: func(p *Program, c *Call) error {
		spans, err := jitterOf(c.Args)
		if err != nil {
			return err
		}
		does := func(i int) bool { return spans[i] != engine.Span{Least: neutral[i], Greatest: neutral[i]} }
		if does(2) || does(3) {
			if err := p.greyOrRGB(); err != nil {
				return err
			}
		}
		return p.edit(c, editing(func(e *engine.Engine, r *rand.Rand) error {
			order, factor := drawJitter(&spans, r)
			for _, i := range order {
				if does(i) {
					raster.Adjust(e.Frame, i, factor[i])
				}
			}
			return nil
		}))
	}}
	Grayscale = &Kind{name: "Grayscale", add: func(p *Program, c *Call) error {
		channels := c.Args.int(0)
		if err := errors.Join(p.greyOrRGB(), want(channels == 1 || channels == 3, "1 or 3 channels")); err != nil {
			return err
		}
		if channels == 1 || p.Deep != nil && channels != p.Output.Channels {
			if err := p.notNested(); err != nil {
				return err
			}
		}
		err := p.edit(c, editing(func(e *engine.Engine, _ *rand.Rand) error { return grey(e, channels) }))
		if err == nil && !p.nested {
			p.Output.Channels = channels
		}
		return err
	}}
	RandomGrayscale = &Kind{name: "RandomGrayscale", chance: true, add: func(p *Program, c *Call) error {
		if err := p.greyOrRGB(); err != nil {
			return err
		}
		prob := c.prob()
		return p.edit(c, editing(func(e *engine.Engine, r *rand.Rand) error {
			if r.Float64() >= prob {
				return nil
			}
			return grey(e, e.Frame.Channels())
		}))
	}}
	GaussianBlur = &Kind{name: "GaussianBlur", sized: true, takes: []*Kind{Sigma}, add: func(p *Program, c *Call) error {
		const most = 255 // which keeps the errors of rounded weights small
		size := c.extent()
		if size.h%2 == 0 || size.w%2 == 0 || max(size.h, size.w) > most {
			return fmt.Errorf("want odd sizes up to %d", most)
		}
		sigma := c.span(Sigma, 0.1, 2)
		return p.edit(c, editing(func(e *engine.Engine, r *rand.Rand) error {
			e.Frame.Blur(size.w, size.h, sigma.Draw(r))
			return nil
		}))
	}}
	GaussianNoise = &Kind{name: "GaussianNoise", add: func(p *Program, c *Call) error {
		const most = 128 // torchvision's numbers of 16 bits end there
		mean, sigma := c.Args.float(0), c.Args.float(1)
		if !(math.Abs(mean) <= most && sigma >= 0 && sigma <= most) {
			return errors.New("want a mean from -128 to 128, and a sigma from 0 to 128")
		}
		return p.edit(c, editing(func(e *engine.Engine, r *rand.Rand) error {
			e.Frame.Noise(mean, sigma, e.Own(r))
			return nil
		}))
	}}
	RandomChannelPermutation = &Kind{name: "RandomChannelPermutation", add: func(p *Program, c *Call) error {
		return p.edit(c, editing(func(e *engine.Engine, r *rand.Rand) error {
			e.Permute(r)
			return nil
		}))
	}}
	RandomPhotometricDistort = &Kind{name: "RandomPhotometricDistort", chance: true, add: func(p *Program, c *Call) error {
		if err := p.greyOrRGB(); err != nil {
			return err
		}
		prob := c.prob()
		return p.edit(c, editing(func(e *engine.Engine, r *rand.Rand) error {
			factors, does, order := c.DrawDistortion(r)
			for _, i := range order {
				if does[i] {
					raster.Adjust(e.Frame, i, factors[i])
				}
			}
			if r.Float64() < prob {
				e.Permute(r)
			}
			return nil
		}))
	}}
	JPEG = &Kind{name: "JPEG", add: func(p *Program, c *Call) error {
		least, greatest := c.Args.int(0), c.Args.int(1)
		if least < 1 || least > greatest || greatest > 100 {
			return errors.New("want qualities from 1 to 100, with the least first")
		}
		if p.Deep != nil {
			return errColours
		}
		return p.edit(c, editing(func(e *engine.Engine, r *rand.Rand) error {
			return e.Frame.(*engine.ByteFrame).Recode(least + r.IntN(greatest-least+1))
		}))
	}}
)

// neutral are the factors of brightness, contrast, saturation and hue that change nothing.
var neutral = [4]float64{1, 1, 1, 0}

// jitterOf are the ranges of the factors of ColorJitter. An argument is a distance from the neutral factor, or a range.
func jitterOf(args Values) (spans [4]engine.Span, err error) {
	for i, v := range args {
		switch x := v.(type) {
		case float64:
			if !(x >= 0 && x < math.MaxFloat32) {
				return spans, errors.New("want finite numbers, 0 or more")
			}
			spans[i] = engine.Span{Least: neutral[i] - x, Greatest: neutral[i] + x}
			if i < 3 {
				spans[i].Least = max(0, spans[i].Least)
			}
		case [2]float64:
			if !(x[0] <= x[1] && (x[0] >= 0 || i == 3) && x[1] < math.MaxFloat32) {
				return spans, errors.New("want ranges of finite factors, 0 or more, with the least first")
			}
			spans[i] = engine.Span{Least: x[0], Greatest: x[1]}
		}
	}
	return spans, want(spans[3].Least >= -0.5 && spans[3].Greatest <= 0.5, "a hue up to 0.5")
}

// drawJitter draws the order of the four changes of ColorJitter, and their factors.
func drawJitter(spans *[4]engine.Span, r *rand.Rand) (order [4]int, factor [4]float64) {
	order = [4]int{0, 1, 2, 3}
	for i := len(order) - 1; i > 0; i-- {
		j := r.IntN(i + 1)
		order[i], order[j] = order[j], order[i]
	}
	for i, s := range spans {
		factor[i] = s.Draw(r)
	}
	factor[3] = spans[3].Draw(r) // a second time, so that the draws after it stay what they were
	return order, factor
}

func grey(e *engine.Engine, channels int) error {
	if err := e.CheckChannels(channels); err != nil {
		return err
	}
	e.Frame.Grey(channels)
	return nil
}

// distortions are the ranges of the factors of RandomPhotometricDistort: brightness, contrast, saturation and hue.
var distortions = [4]engine.Span{{Least: 0.875, Greatest: 1.125}, {Least: 0.5, Greatest: 1.5}, {Least: 0.5, Greatest: 1.5}, {Least: -0.05, Greatest: 0.05}}

// DrawDistortion draws the factors of a RandomPhotometricDistort, which of them are used, and their order: contrast
// comes before saturation and hue, or after them.
func (c *Call) DrawDistortion(r *rand.Rand) (factors [4]float64, does [4]bool, order [4]int) {
	for i, x := range distortions {
		does[i] = r.Float64() < c.Args.float(0)
		factors[i] = x.Draw(r)
	}
	if r.IntN(2) == 0 {
		return factors, does, [4]int{0, 1, 2, 3}
	}
	return factors, does, [4]int{0, 2, 3, 1}
}

// Policies.
var (
	RandAugment = &Kind{name: "RandAugment", warps: true, takes: []*Kind{NumMagnitudeBins, Interpolation, Fill}, add: func(p *Program, c *Call) error {
		n, magnitude, bins, paint := c.Args.int(0), c.Args.int(1), optionOf(c, NumMagnitudeBins, 31), p.painter(c, resize.Nearest)
		err := want(n >= 0, "0 augmentations or more")
		if err == nil {
			err = want(magnitude >= 0 && magnitude < bins, "a magnitude from 0 to %d", bins-1)
		}
		return p.policy(c, err, func(e *engine.Engine, r *rand.Rand) error {
			w, h := e.Size()
			for range n {
				a, magnitude := c.DrawAugmentation(w, h, r)
				a.Apply(e.Frame, magnitude, paint)
			}
			return nil
		})
	}}
	TrivialAugmentWide = &Kind{name: "TrivialAugmentWide", warps: true, takes: []*Kind{NumMagnitudeBins, Interpolation, Fill}, add: func(p *Program, c *Call) error {
		paint := p.painter(c, resize.Nearest)
		return p.policy(c, nil, func(e *engine.Engine, r *rand.Rand) error {
			w, h := e.Size()
			a, magnitude := c.DrawAugmentation(w, h, r)
			a.Apply(e.Frame, magnitude, paint)
			return nil
		})
	}}
	AutoAugment = &Kind{name: "AutoAugment", warps: true, takes: []*Kind{Interpolation, Fill}, add: func(p *Program, c *Call) error {
		policy, paint := c.Args[0].(raster.Policy), p.painter(c, resize.Nearest)
		return p.policy(c, want(int(policy) < len(raster.Policies), "ImageNetPolicy, CIFAR10Policy or SVHNPolicy"), func(e *engine.Engine, r *rand.Rand) error {
			w, h := e.Size()
			space := raster.UsualScheme(10)
			for _, o := range c.DrawPair(r) {
				if r.Float64() < o.P {
					o.Of.Apply(e.Frame, space.Draw(o.Of, o.Bin, w, h, r), paint)
				}
			}
			return nil
		})
	}}
	AugMix = &Kind{name: "AugMix", warps: true, takes: []*Kind{Severity, Alpha, AllOps, Interpolation, Fill}, add: func(p *Program, c *Call) error {
		paint := p.painter(c, resize.Bilinear)
		return p.policy(c, nil, func(e *engine.Engine, r *rand.Rand) error {
			w, h := e.Size()
			e.Weights = c.DrawWeights(e.Weights, r)
			e.Frame.MixBegin(e.Weights[0])
			for _, weight := range e.Weights[1:] {
				e.Frame.MixAgain()
				for range 1 + r.IntN(3) {
					a, magnitude := c.DrawMixed(w, h, r)
					a.Apply(e.Frame, magnitude, paint)
				}
				e.Frame.MixAdd(weight)
			}
			e.Frame.MixEnd()
			return nil
		})
	}}
)

// DrawAugmentation draws an augmentation of RandAugment or TrivialAugmentWide, and its magnitude, for an image of w×h.
func (c *Call) DrawAugmentation(w, h int, r *rand.Rand) (raster.Augmentation, float64) {
	bins := optionOf(c, NumMagnitudeBins, 31)
	a := raster.Augmentation(r.IntN(int(raster.Equalization) + 1))
	if c.name == "RandAugment" {
		space := raster.UsualScheme(bins)
		return a, space.Draw(a, c.Args.int(1), w, h, r)
	}
	space := raster.WideScheme(bins)
	return a, space.Draw(a, r.IntN(bins), w, h, r)
}

// DrawPair draws a pair of the policy of an AutoAugment.
func (c *Call) DrawPair(r *rand.Rand) [2]raster.Choice {
	pairs := &raster.Policies[c.Args[0].(raster.Policy)]
	return pairs[r.IntN(len(pairs))]
}

// mixBins is the number of magnitudes of AugMix, of which a severity uses the first ones.
const mixBins = 10

// DrawMixed draws an augmentation for a chain of AugMix, and its magnitude, for an image of w×h.
func (c *Call) DrawMixed(w, h int, r *rand.Rand) (raster.Augmentation, float64) {
	kinds, few := int(raster.Equalization), !optionOf(c, AllOps, true)
	if few {
		kinds -= 4
	}
	a := raster.ShearX + raster.Augmentation(r.IntN(kinds))
	if few && a >= raster.Brightness {
		a += 4
	}
	space := raster.MildScheme(mixBins)
	return a, space.Draw(a, r.IntN(optionOf(c, Severity, 3)), w, h, r)
}

// DrawWeights draws the weights of the image and of the chains of AugMix, which add up to 1.
func (c *Call) DrawWeights(weights []float32, r *rand.Rand) []float32 {
	alpha := optionOf(c, Alpha, 1.0)
	own, others := math.Exp(engine.LogGamma(alpha, r)), math.Exp(engine.LogGamma(alpha, r))
	rest := 1.0
	if own+others > 0 {
		rest = others / (own + others)
	}
	weights = append(weights[:0], float32(1-rest))
	total := 0.0
	for range 3 {
		g := math.Exp(engine.LogGamma(alpha, r))
		total += g
		weights = append(weights, float32(g))
	}
	for i := range weights[1:] {
		if total > 0 {
			weights[1+i] = float32(float64(weights[1+i]) / total * rest)
		} else { // all are too small for a number: one of them is 1
			weights[1+i] = 0
			weights[1] = float32(rest)
		}
	}
	return weights
}

// Steps that have other steps.
var (
	Compose = &Kind{name: "Compose", add: func(p *Program, c *Call) error {
		p.addAll(c.steps)
		return nil
	}}
	Preset = &Kind{name: "Preset", add: func(p *Program, c *Call) error {
		before := len(p.Output.Norms)
		p.addAll(c.steps)
		if len(p.Output.Norms) > before {
			p.Output.Preset = c.String()
		}
		return nil
	}}
	RandomApply = &Kind{name: "RandomApply", chance: true, brief: briefly, add: func(p *Program, c *Call) error {
		if err := p.beforeTensor(); err != nil {
			return err
		}
		prob := c.prob()
		return p.branch(c, [][]*Call{c.steps}, func(ops [][]engine.Operation, e *engine.Engine, r *rand.Rand) error {
			if r.Float64() >= prob {
				return nil
			}
			return engine.DoAll(ops[0], e, r)
		}, func(ops [][]engine.Operation, w, h int) (int, int) {
			if aw, ah := sizeAfter(ops[0], w, h); aw == w && ah == h {
				return w, h
			}
			return 0, 0
		})
	}}
	RandomChoice = &Kind{name: "RandomChoice", takes: []*Kind{P}, brief: briefly, add: addChoice}
	RandomOrder  = &Kind{name: "RandomOrder", brief: briefly, add: func(p *Program, c *Call) error {
		if err := p.beforeTensor(); err != nil {
			return err
		}
		return p.branch(c, apart(c.steps), inRandomOrder, afterAll)
	}}
)

// briefly is the call of a step with others, without these.
func briefly(c *Call, args []any) string {
	if len(c.steps) == 0 {
		return c.String()
	}
	return figures.Call(c.name, append(slices.Clone(args), "…")...)
}

// apart makes a branch of each step.
func apart(steps []*Call) [][]*Call {
	var branches [][]*Call
	for _, s := range steps {
		branches = append(branches, []*Call{s})
	}
	return branches
}

func addChoice(p *Program, c *Call) error {
	weights := c.option(P)
	if weights != nil && len(weights) != len(c.steps) {
		return fmt.Errorf("want a P per step, not %d for %d", len(weights), len(c.steps))
	}
	sum, sums := 0.0, []float64(nil)
	for i := range c.steps {
		w := 1.0
		if weights != nil {
			w = weights.float(i)
		}
		if !(w >= 0 && w < math.Inf(1)) {
			return errors.New("want finite numbers of P, 0 or more")
		}
		sum += w
		sums = append(sums, sum)
	}
	if len(c.steps) > 0 && !(sum > 0 && sum < math.Inf(1)) {
		return errors.New("want a P with a finite sum above 0")
	}
	if err := p.beforeTensor(); err != nil {
		return err
	}
	return p.branch(c, apart(c.steps), func(ops [][]engine.Operation, e *engine.Engine, r *rand.Rand) error {
		at := min(r.Float64()*sum, math.Nextafter(sum, 0))
		i := 0
		for i < len(sums)-1 && at >= sums[i] {
			i++
		}
		return engine.DoAll(ops[i], e, r)
	}, func(ops [][]engine.Operation, w, h int) (int, int) {
		aw, ah := sizeAfter(ops[0], w, h)
		for _, other := range ops[1:] {
			if bw, bh := sizeAfter(other, w, h); bw != aw || bh != ah {
				return 0, 0
			}
		}
		return aw, ah
	})
}

// A branching is the operation of a step that runs branches of steps as its draw says.
type branching struct {
	*Call
	ops   [][]engine.Operation
	run   func(ops [][]engine.Operation, e *engine.Engine, r *rand.Rand) error
	sized func(ops [][]engine.Operation, w, h int) (int, int)
}

// Do draws and runs it.
func (b *branching) Do(e *engine.Engine, r *rand.Rand) error { return b.run(b.ops, e, r) }

func (b *branching) after(w, h int) (int, int) { return b.sized(b.ops, w, h) }

// branch adds a step that runs branches.
func (p *Program) branch(c *Call, branches [][]*Call, run func([][]engine.Operation, *engine.Engine, *rand.Rand) error, sized func([][]engine.Operation, int, int) (int, int)) error {
	if len(c.steps) == 0 {
		return errors.New("want at least one step")
	}
	op := &branching{c, make([][]engine.Operation, len(branches)), run, sized}
	lazy, how, wrong := true, crops, false
	for i, steps := range branches {
		inner := &Program{nested: true, Plan: engine.Plan{Output: p.Output, Deep: p.Deep}, annotated: p.annotated}
		inner.addAll(steps)
		if err := within(c.nameOf(), errors.Join(inner.errs...)); err != nil {
			p.errs, wrong = append(p.errs, err), true
		}
		op.ops[i] = inner.Ops
		p.samplings = append(p.samplings, inner.samplings...)
		lazy = lazy && !inner.pixels
		how = max(how, inner.how)
	}
	switch {
	case wrong:
		return nil
	case lazy:
		p.join(c.String(), how)
	default:
		p.pause("augment   " + c.String())
	}
	p.Ops = append(p.Ops, op)
	return nil
}

func inRandomOrder(ops [][]engine.Operation, e *engine.Engine, r *rand.Rand) error {
	// The order is above those of the steps that this one is in.
	bottom := len(e.Order)
	defer func() { e.Order = e.Order[:bottom] }()
	for i := range ops {
		e.Order = append(e.Order, i)
		j := bottom + r.IntN(i+1)
		e.Order[bottom+i], e.Order[j] = e.Order[j], e.Order[bottom+i]
	}
	for i := range ops {
		if err := engine.DoAll(ops[e.Order[bottom+i]], e, r); err != nil {
			return err
		}
	}
	return nil
}

// afterAll is the size after branches in any order: that which each of them leaves as the last one, if it is the same for all.
func afterAll(all [][]engine.Operation, w, h int) (lw, lh int) {
	for last, ops := range all {
		others := slices.Concat(slices.Delete(slices.Clone(all), last, last+1)...)
		aw, ah := sizeAfter(slices.Concat(others, ops), w, h)
		if last > 0 && (aw != lw || ah != lh) {
			return 0, 0
		}
		lw, lh = aw, ah
	}
	return lw, lh
}

// sizeAfter is the size after operations on an image of w×h. Zeros mean that it varies.
func sizeAfter(ops []engine.Operation, w, h int) (int, int) {
	for _, op := range ops {
		if s, ok := op.(sizing); ok {
			w, h = s.after(w, h)
		}
	}
	return w, h
}
