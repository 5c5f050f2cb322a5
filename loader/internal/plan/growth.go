package plan

import (
	"fmt"
	"math"

	"github.com/penstock-go/penstock/sampler"
)

// Growing reports whether there may be more batches, because the length of the dataset is unknown.
func (p *Plan) Growing() bool {
	d, ok := p.content.(*drawn)
	return ok && d.extent.Load().growing
}

// Empty reports whether there are no batches, and will be none.
func (p *Plan) Empty() bool { return p.Len() == 0 && !p.Growing() }

// Needs is how many samples the dataset must have for one batch more.
func (p *Plan) Needs() int {
	if end := p.drawn(p.Len()); end <= math.MaxInt-p.Step() {
		return end + p.Step()
	}
	return math.MaxInt
}

// Grow adds the batches of all samples that there are. One goroutine at a time may call it.
func (p *Plan) Grow(samples int) {
	d := p.content.(*drawn)
	e := *d.extent.Load()
	e.batches = (samples - d.drawn(0)) / d.Step()
	d.extent.Store(&e)
}

// EndAt adds the last batches, when it is known that there are n samples. One goroutine at a time may call it.
func (p *Plan) EndAt(n int) error {
	if begin := p.drawn(0); n < begin {
		return fmt.Errorf("the position lies at draw %d, and the dataset has ended after %d samples", begin, n)
	}
	d := p.content.(*drawn)
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
	if _, ok := p.content.(*drawn).extent.Load().order.(sampler.EndlessOrder); !ok {
		return fmt.Errorf("loader: epoch %d: the length of the dataset is unknown: want sampler.Endless as Sampler, or a Shard of it", p.Epoch)
	}
	return nil
}
