package plan

import (
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
)

// A Plan says which samples each batch of an epoch, or of its rest, has. Batches count from 0. Orders have random
// access, so who assembles a batch computes its samples.
type Plan struct {
	content
	Epoch   int
	Samples int // in the dataset, or dataset.Unknown

	entered  bool          // whether the Cursor has come to it
	base     int           // the number of the first batch in its loop, then
	skipped  int           // batches of the epoch before the first one
	identity func() string // of the sampler; may be empty
	probed   func() string // calls probe once
}

// The content of a Plan differs by who decides what batches have: an order of samples, a batch sampler or a service.
type content interface {
	// Len is the number of batches that are known.
	Len() int
	// Step is the number of draws from the global order for one batch on every rank.
	Step() int
	// Samples of batch k are appended.
	AppendSamples(k int, to []int) []int
	// AppendDraws appends the places of the samples in the global order, from which their random numbers come.
	AppendDraws(k int, samples []int, to []int64) []int64
	// Another chooses a sample in place of one of batch k, by a random number below n: one of the global order, or one
	// of the same batch if there is a batch sampler.
	Another(k int, random func(n int) int) int
	// Changed reports an error if an order has changed its length, which it must not.
	Changed() error

	drawn(k int) int        // draws of the global order before batch k
	probe(epoch int) string // of the global order; empty if only one rank's share is known
}

// Number is the number of batch k in the epoch.
func (p *Plan) Number(k int) int { return p.skipped + k }

// Largest is at least the number of batches of the whole epoch.
func (p *Plan) Largest() int { return p.skipped + p.Len() }

// Begin is the place of the global order where the plan begins.
func (p *Plan) Begin() int { return p.drawn(0) }

// Aligned reports whether the plan begins where a batch of the whole epoch does.
func (p *Plan) Aligned() bool { return p.drawn(0)%p.Step() == 0 }

// InRange reports an error if the dataset has no such sample.
func (p *Plan) InRange(sample int) error {
	if sample < 0 || p.Samples != dataset.Unknown && sample >= p.Samples {
		return fmt.Errorf("the sampler drew sample %d of a dataset of %d samples", sample, p.Samples)
	}
	return nil
}

// Order describes the global order, for [Position.Order].
func (p *Plan) Order() string {
	if id := p.identity(); id != "" {
		return id
	}
	return p.probed()
}

// resumes reports why a loop cannot resume at position from. The plan is that of the rest of its epoch.
func (p *Plan) resumes(from Position) error {
	if from.Order != "" {
		if order := p.Order(); from.Order != order {
			return otherOrder(from.Order, order)
		}
	}
	if from.Draw != p.drawn(0) {
		return fmt.Errorf("loader: From: the position lies at draw %d of epoch %d, which has %d draws", from.Draw, from.Epoch, p.drawn(0))
	}
	if step := p.Step(); from.Step != 0 && from.Step != step {
		return fmt.Errorf("loader: From: a position of unordered delivery needs the same batch size and number of ranks: it has %d draws per step, this loader has %d", from.Step, step)
	}
	return nil
}

func otherOrder(position, loader string) error {
	return fmt.Errorf("loader: From: the position was taken in the order %s, this loader's is %s", figures.OneLine(position), figures.OneLine(loader))
}
