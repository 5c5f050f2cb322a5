package plan

import (
	"fmt"
	"math"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/sampler"
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
	// Changed reports an error if an order has changed its length, which it must not.
	Changed() error

	drawsBefore(k int) int  // draws of the global order before batch k
	probe(epoch int) string // of the global order; empty if only one rank's share is known
}

// Number is the number of batch k in the epoch.
func (p *Plan) Number(k int) int { return p.skipped + k }

// Largest is at least the number of batches of the whole epoch.
func (p *Plan) Largest() int { return p.skipped + p.Len() }

// Begin is the place of the global order where the plan begins.
func (p *Plan) Begin() int { return p.drawsBefore(0) }

// Aligned reports whether the plan begins where a batch of the whole epoch does.
func (p *Plan) Aligned() bool { return p.drawsBefore(0)%p.Step() == 0 }

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
	if from.Draw != p.drawsBefore(0) {
		return fmt.Errorf("loader: From: the position lies at draw %d of epoch %d, which has %d draws", from.Draw, from.Epoch, p.drawsBefore(0))
	}
	if step := p.Step(); from.Step != 0 && from.Step != step {
		return fmt.Errorf("loader: From: a position of unordered delivery needs the same batch size and number of ranks: it has %d draws per step, this loader has %d", from.Step, step)
	}
	return nil
}

func otherOrder(position, loader string) error {
	return fmt.Errorf("loader: From: the position was taken in the order %s, this loader's is %s", figures.OneLine(position), figures.OneLine(loader))
}

// Growing reports whether there may be more batches, because the length of the dataset is unknown.
func (p *Plan) Growing() bool {
	d, ok := p.content.(*ordered)
	return ok && d.extent.Load().growing
}

// Empty reports whether there are no batches, and will be none.
func (p *Plan) Empty() bool { return p.Len() == 0 && !p.Growing() }

// Needs is how many samples the dataset must have for one batch more.
func (p *Plan) Needs() int {
	if end := p.drawsBefore(p.Len()); end <= math.MaxInt-p.Step() {
		return end + p.Step()
	}
	return math.MaxInt
}

// Grow adds the batches of all samples that there are. One goroutine at a time may call it.
func (p *Plan) Grow(samples int) {
	d := p.content.(*ordered)
	e := *d.extent.Load()
	e.batches = (samples - d.drawsBefore(0)) / d.Step()
	d.extent.Store(&e)
}

// EndAt adds the last batches, when it is known that there are n samples. One goroutine at a time may call it.
func (p *Plan) EndAt(n int) error {
	if begin := p.drawsBefore(0); n < begin {
		return fmt.Errorf("the position lies at draw %d, and the dataset has ended after %d samples", begin, n)
	}
	d := p.content.(*ordered)
	e := d.of(d.extent.Load().order.(sampler.EndlessOrder).Until(n))
	if e.batches < d.Len() {
		return fmt.Errorf("the dataset has ended after %d samples, although more were there before", n)
	}
	d.extent.Store(e)
	return nil
}

// endless reports an error if the order of a dataset of unknown length has an end.
func (p *Plan) endless() error {
	if !p.Growing() {
		return nil
	}
	if _, ok := p.content.(*ordered).extent.Load().order.(sampler.EndlessOrder); !ok {
		return fmt.Errorf("loader: epoch %d: the length of the dataset is unknown: want sampler.Endless as Sampler, or a Shard of it", p.Epoch)
	}
	return nil
}
