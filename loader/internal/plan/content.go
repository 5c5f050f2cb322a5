package plan

import (
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/penstock-go/penstock/sampler"
)

// An ordered content takes its batches from an order of samples, one after the other.
type ordered struct {
	size   int // samples per batch
	first  int // draws of the order that an earlier loop has consumed; 0 with a part
	extent atomic.Pointer[extent]
	of     func(order sampler.Order) *extent
}

// An extent is how far an order reaches. It is replaced as a whole while the dataset's length is unknown.
type extent struct {
	order   sampler.Order
	part    sampler.Part // order, if it is one rank's share, otherwise nil
	left    int          // draws of order that remain
	batches int
	growing bool // whether there may be more batches, because the end is not known
}

func newOrdered(p *Planner, from Position) *ordered {
	d := &ordered{size: p.Size}
	order := p.Sampler.Epoch(from.Epoch)
	if part, ok := order.(sampler.Part); ok {
		if from.Draw > 0 {
			order = part.From(from.Draw)
		}
	} else {
		d.first = min(from.Draw, order.Len())
	}
	d.of = func(order sampler.Order) *extent {
		e := &extent{order: order, left: order.Len() - d.first}
		e.part, _ = order.(sampler.Part)
		e.batches = e.left / p.Size
		if !p.DropLast && e.left%p.Size > 0 {
			e.batches++
		}
		return e
	}
	e := d.of(order)
	if from.unknown() {
		e.batches, e.growing = 0, true
	}
	d.extent.Store(e)
	return d
}

func (d *ordered) Len() int { return d.extent.Load().batches }

// from is how many of the samples that remain come before batch k.
func (d *ordered) from(e *extent, k int) int { return min(product(k, d.size), e.left) }

func (d *ordered) drawsBefore(k int) int {
	e := d.extent.Load()
	if e.part != nil {
		return e.part.Consumed(product(k, d.size)) // other ranks may have one sample more
	}
	return d.first + d.from(e, k)
}

func (d *ordered) Step() int {
	if e := d.extent.Load(); e.part != nil {
		return product(d.size, e.part.World())
	}
	return d.size
}

func (d *ordered) AppendSamples(k int, to []int) []int {
	e := d.extent.Load()
	for i, end := d.from(e, k), d.from(e, k+1); i < end; i++ {
		to = append(to, e.order.At(d.first+i))
	}
	return to
}

func (d *ordered) AppendDraws(k int, _ []int, to []int64) []int64 {
	e := d.extent.Load()
	for i, end := d.from(e, k), d.from(e, k+1); i < end; i++ {
		if e.part != nil {
			to = append(to, e.part.Draw(i))
		} else {
			to = append(to, int64(d.first+i))
		}
	}
	return to
}

func (d *ordered) Changed() error {
	e := d.extent.Load()
	return changed("samples", d.first+e.left, e.order.Len())
}

func (d *ordered) probe(epoch int) string { return probeOrder(epoch, d.extent.Load().order) }

func changed(what string, had, has int) error {
	if has != had {
		return fmt.Errorf("the sampler's order had %d %s when the epoch was planned and has %d now", had, what, has)
	}
	return nil
}

// A batched content is that of a batch sampler.
type batched struct {
	batches sampler.Batches
	part    sampler.BatchPart // batches, if they are one rank's share, otherwise nil
	first   int               // batches that an earlier loop has consumed; 0 with a part
	n       int               // batches that remain
}

func newBatched(batches sampler.Batches, drawn int) *batched {
	b := &batched{batches: batches}
	part, ok := batches.(sampler.BatchPart)
	switch {
	case !ok:
		b.first = min(drawn, batches.Len())
	case drawn > 0:
		b.part = part.From(drawn)
		b.batches = b.part
	default:
		b.part = part
	}
	b.n = b.batches.Len() - b.first
	return b
}

func (b *batched) Len() int { return b.n }

func (b *batched) drawsBefore(k int) int {
	if b.part != nil {
		return b.part.Consumed(k)
	}
	return b.first + k
}

func (b *batched) Step() int {
	if b.part != nil {
		return b.part.Step()
	}
	return 1
}

func (b *batched) AppendSamples(k int, to []int) []int { return b.batches.At(b.first+k, to) }

func (b *batched) AppendDraws(k int, samples []int, to []int64) []int64 {
	for row := range samples {
		if b.part != nil {
			to = append(to, b.part.Draw(k, row))
		} else {
			to = append(to, int64(b.first+k)<<32|int64(row)) // batches may be of any length
		}
	}
	return to
}

func (b *batched) Changed() error { return changed("batches", b.first+b.n, b.batches.Len()) }

func (b *batched) probe(epoch int) string { return probeBatches(epoch, b.batches) }

// A served content is that of a service, which says what samples a batch has together with the batch.
type served struct {
	rest Rest
	from int // draw
	rows int // of the largest batch
}

func (s served) Len() int  { return s.rest.Batches }
func (s served) Step() int { return s.rest.Step }

func (s served) drawsBefore(k int) int {
	if k > (s.rest.End-s.from)/s.rest.Step {
		return s.rest.End
	}
	return s.from + k*s.rest.Step
}

// AppendSamples appends room for the indices that come with the batch.
func (s served) AppendSamples(_ int, to []int) []int { return append(to, make([]int, s.rows)...) }

func (served) AppendDraws(_ int, _ []int, to []int64) []int64 { return to }
func (served) Changed() error                                 { return nil }
func (served) probe(int) string                               { return "" }

// product is that of two numbers that are not negative, or the largest int if it overflows.
func product(a, b int) int {
	if high, low := bits.Mul(uint(a), uint(b)); high == 0 && low <= math.MaxInt {
		return int(low)
	}
	return math.MaxInt
}
