package transform

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/engine"
)

// RandomApply applies all of the steps with probability p, else none of them:
// torchvision's RandomApply, whose default is 0.5.
//
// As in [RandomChoice] and [RandomOrder], the steps are those that change the image,
// such as crops, [ColorJitter], [Apply], [Apply], [Compose] and further random steps. Settings
// and steps that say what the result is, such as [ToTensor], are not among them. The draw is made
// once per sample. Steps that are not drawn cost nothing: the window that is decoded
// is that of the steps drawn.
func RandomApply(p float64, several ...Step) Step {
	return control{call: named("RandomApply", slices.Concat([]any{p}, figures.Anys(several))...), p: p, branches: []list{{nil, several}}}
}

// RandomChoice applies one of the steps, drawn with equal probability or by the option [P]. Use
// [Compose] for a choice of several steps: torchvision's RandomChoice.
func RandomChoice(list ...Item) Step {
	several, options, err := divide(list)
	c := choosing{calling("RandomChoice", keyWeights, arguments{}, options, figures.Anys(several)...), several}
	c.mistake = errors.Join(err, c.mistake)
	return c
}

type choosing struct {
	*call
	several []Step
}

func (s choosing) brief() string { return s.short(len(s.several)) }

func (s choosing) add(p *program) error {
	c := control{call: s.call, branches: one(s.several)}
	if s.weights != nil && len(s.weights) != len(s.several) {
		return fmt.Errorf("want a P per step, not %d for %d", len(s.weights), len(s.several))
	}
	sum := 0.0
	for i := range s.several {
		w := 1.0
		if s.weights != nil {
			w = s.weights[i]
		}
		if !(w >= 0 && w < math.Inf(1)) {
			return errors.New("want finite numbers of P, 0 or more")
		}
		sum += w
		c.sums = append(c.sums, sum)
	}
	if len(s.several) > 0 && !(sum > 0 && sum < math.Inf(1)) {
		return errors.New("want a P with a finite sum above 0")
	}
	return c.add(p)
}

// RandomOrder applies all of the steps in random order: torchvision's RandomOrder.
func RandomOrder(several ...Step) Step {
	return control{call: named("RandomOrder", figures.Anys(several)...), branches: one(several)}
}

// one makes a branch of each step.
func one(several []Step) []list {
	branches := make([]list, len(several))
	for i, s := range several {
		branches[i] = list{nil, []Step{s}}
	}
	return branches
}

// A control runs branches of steps as its draw says.
type control struct {
	*call
	p        float64   // of RandomApply
	sums     []float64 // of RandomChoice: the sums of the weights up to each branch
	branches []list
}

func (s control) brief() string {
	switch {
	case s.name != "RandomApply":
		return s.short(len(s.branches))
	case len(s.branches[0].steps) > 0:
		return figures.Call(s.name, s.p, "…")
	}
	return s.String()
}

func (s control) add(p *program) error {
	if err := errors.Join(p.beforeTensor(), figures.CheckProbability(s.p)); err != nil {
		return err
	}
	if len(s.branches) == 0 || s.name == "RandomApply" && len(s.branches[0].steps) == 0 {
		return errors.New("want at least one step")
	}
	op := &controlling{control: s, ops: make([][]engine.Operation, len(s.branches))}
	lazy, how := true, crops
	wrong := false
	for i, b := range s.branches {
		inner := &program{nested: true, Plan: engine.Plan{Output: p.Output, Deep: p.Deep}, annotated: p.annotated}
		inner.addAll(b.steps)
		if err := within(s.brief(), errors.Join(inner.errs...)); err != nil {
			p.errs, wrong = append(p.errs, err), true
		}
		op.ops[i] = inner.Ops
		p.samplings = append(p.samplings, inner.samplings...)
		lazy = lazy && !inner.pixels
		how = max(how, inner.how)
	}
	if wrong {
		return nil
	}
	if lazy {
		p.join(s.String(), how)
	} else {
		p.pause("augment   " + s.String())
	}
	p.Ops = append(p.Ops, op)
	return nil
}

// controlling is the operation of a control.
type controlling struct {
	control
	ops [][]engine.Operation
}

func (c *controlling) Do(e *engine.Engine, r *rand.Rand) error {
	switch c.name {
	case "RandomApply":
		if r.Float64() >= c.p {
			return nil
		}
		return engine.DoAll(c.ops[0], e, r)
	case "RandomChoice":
		sum := c.sums[len(c.sums)-1]
		at := min(r.Float64()*sum, math.Nextafter(sum, 0))
		i := 0
		for i < len(c.sums)-1 && at >= c.sums[i] {
			i++
		}
		return engine.DoAll(c.ops[i], e, r)
	}
	// The order is above those of the steps that this one is in.
	bottom := len(e.Order)
	defer func() { e.Order = e.Order[:bottom] }()
	for i := range c.ops {
		e.Order = append(e.Order, i)
		j := bottom + r.IntN(i+1)
		e.Order[bottom+i], e.Order[j] = e.Order[j], e.Order[bottom+i]
	}
	for i := range c.ops {
		if err := engine.DoAll(c.ops[e.Order[bottom+i]], e, r); err != nil {
			return err
		}
	}
	return nil
}

// after is the size after the steps if it is the same for all draws.
func (c *controlling) after(w, h int) (int, int) {
	switch c.name {
	case "RandomApply":
		if aw, ah := sizeAfter(c.ops[0], w, h); aw == w && ah == h {
			return w, h
		}
		return 0, 0
	case "RandomChoice":
		aw, ah := sizeAfter(c.ops[0], w, h)
		for _, ops := range c.ops[1:] {
			if bw, bh := sizeAfter(ops, w, h); bw != aw || bh != ah {
				return 0, 0
			}
		}
		return aw, ah
	}
	// If only one step changes the size, the order does not matter.
	changing := -1
	for i, ops := range c.ops {
		if keepsSizes(ops) {
			continue
		}
		if changing >= 0 {
			return 0, 0
		}
		changing = i
	}
	if changing < 0 {
		return w, h
	}
	return sizeAfter(c.ops[changing], w, h)
}

// keepsSizes reports whether operations leave the size as it is.
func keepsSizes(ops []engine.Operation) bool {
	for _, op := range ops {
		if _, ok := op.(sizing); !ok {
			continue
		}
		for _, s := range [][2]int{{1009, 757}, {331, 1511}} { // sizes that no step is likely to have
			if w, h := sizeAfter([]engine.Operation{op}, s[0], s[1]); w != s[0] || h != s[1] {
				return false
			}
		}
	}
	return true
}

// sizeAfter is the size after operations on an image of w×h. Zeros mean that it
// varies.
func sizeAfter(ops []engine.Operation, w, h int) (int, int) {
	for _, op := range ops {
		if s, ok := op.(sizing); ok {
			w, h = s.after(w, h)
		}
	}
	return w, h
}
