package sampler

import (
	"errors"
	"fmt"
	"math"
)

// A Mode says what happens to the last samples if their number does not divide
// evenly among the ranks: [PadToEven], [DropToEven] or [KeepExact].
type Mode int

const (
	// PadToEven repeats samples from the beginning of the global order, so that
	// all ranks have equally many. It is for training, and the default of
	// PyTorch's DistributedSampler.
	PadToEven Mode = iota
	// DropToEven leaves out the last samples of the global order, so that all
	// ranks have equally many. This is drop_last=True of DistributedSampler.
	DropToEven
	// KeepExact gives every place of the global order to exactly one rank, so some
	// ranks may have one sample more than others. It is for evaluation.
	KeepExact
)

// String is the mode's name.
func (m Mode) String() string {
	switch m {
	case PadToEven:
		return "PadToEven"
	case DropToEven:
		return "DropToEven"
	case KeepExact:
		return "KeepExact"
	}
	return fmt.Sprintf("Mode(%d)", int(m))
}

// Shard gives rank its share of s: the places rank, rank+world, rank+2·world and
// so on of the global order, as PyTorch's DistributedSampler does. Its orders
// implement [Part]. All ranks must use the same s with the same seed, so that
// their global orders are equal.
//
// It is an error if s is nil, if world is below 1, if rank is not from 0 to world-1, or if
// mode is not one of the constants.
func Shard(s Sampler, rank, world int, mode Mode) (Sampler, error) {
	if err := checkShare("Shard", rank, world, mode); err != nil {
		return nil, err
	}
	if s == nil {
		return nil, errors.New("sampler: Shard: the sampler is nil")
	}
	return shard{s, share{rank, world, mode}}, nil
}

func checkShare(name string, rank, world int, mode Mode) error {
	switch {
	case world < 1:
		return fmt.Errorf("sampler: %s: world size %d: want 1 or more", name, world)
	case rank < 0 || rank >= world:
		return fmt.Errorf("sampler: %s: rank %d of %d: want one from 0 to %d", name, rank, world, world-1)
	case mode < PadToEven || mode > KeepExact:
		return fmt.Errorf("sampler: %s: %v: want PadToEven, DropToEven or KeepExact", name, mode)
	}
	return nil
}

// share is one rank's share of a sequence.
type share struct {
	rank, world int
	mode        Mode
}

// of is how many of n samples or batches the rank gets.
func (s share) of(n int) int {
	per, rest := n/s.world, n%s.world
	if s.mode == PadToEven && rest > 0 || s.mode == KeepExact && s.rank < rest {
		per++
	}
	return per
}

// atMost is k·step, but at most n. The product may be larger than an int.
func atMost(n, k, step int) int {
	if k > n/step {
		return n
	}
	return k * step
}

type shard struct {
	of Sampler
	share
}

func (s shard) Epoch(epoch int) Order {
	global := s.of.Epoch(epoch)
	part := newPart(global, s.share, 0)
	if global, ok := global.(EndlessOrder); ok {
		return endlessPart{part, global}
	}
	return part
}

type shardOrder struct {
	global Order
	share
	n      int // draws of the global order
	start  int // draws that were consumed before
	length int
}

func mustDraw(draw int) {
	if draw < 0 {
		panic(fmt.Sprintf("sampler: From(%d): want 0 or more", draw))
	}
}

func newPart(global Order, s share, start int) *shardOrder {
	n := global.Len()
	return &shardOrder{global, s, n, start, s.of(n - start)}
}

func (p *shardOrder) Len() int      { return p.length }
func (p *shardOrder) Global() Order { return p.global }
func (p *shardOrder) World() int    { return p.world }

func (p *shardOrder) At(k int) int {
	mustPlace(k, p.length)
	draw, n := p.Draw(k), int64(p.n)
	if draw >= n {
		draw = (draw - n) % n
	}
	return p.global.At(int(draw))
}

func (p *shardOrder) Draw(k int) int64 {
	return int64(p.start) + int64(k)*int64(p.world) + int64(p.rank)
}

func (p *shardOrder) Consumed(k int) int {
	if p.mode == DropToEven {
		k = min(k, p.length) // what is dropped stays in the global order
	}
	return p.start + atMost(p.n-p.start, k, p.world)
}

func (p *shardOrder) From(draw int) Part {
	mustDraw(draw)
	return newPart(p.global, p.share, min(draw, p.n))
}

// ShardBatches gives rank its share of the batches of s: batches rank,
// rank+world, rank+2·world and so on. Where the number of batches does not divide
// evenly, [PadToEven] repeats batches from the beginning, [DropToEven] leaves out
// the last ones, and [KeepExact] does neither. Its Batches implement [BatchPart].
// The errors are those of [Shard].
func ShardBatches(s BatchSampler, rank, world int, mode Mode) (BatchSampler, error) {
	if err := checkShare("ShardBatches", rank, world, mode); err != nil {
		return nil, err
	}
	if s == nil {
		return nil, errors.New("sampler: ShardBatches: the sampler is nil")
	}
	return batchShard{s, share{rank, world, mode}}, nil
}

type batchShard struct {
	of BatchSampler
	share
}

func (s batchShard) Epoch(epoch int) Batches {
	batches := s.of.Epoch(epoch)
	global, ok := batches.(BatchPart)
	if !ok {
		global = listed{batches, 0, batches.Len()}
	}
	return newSharedBatches(global, global, s.share)
}

// sharedBatches are one rank's share of the rest of a global sequence.
type sharedBatches struct {
	whole, rest BatchPart // for all ranks
	share
	n int // batches in rest
}

func newSharedBatches(whole, rest BatchPart, s share) *sharedBatches {
	return &sharedBatches{whole, rest, s, rest.Len()}
}

func (b *sharedBatches) Len() int { return b.share.of(b.n) }

func (b *sharedBatches) At(k int, dst []int) []int {
	mustPlace(k, b.Len())
	place := b.place(k)
	if place >= b.n {
		return b.whole.At((place-b.n)%b.whole.Len(), dst)
	}
	return b.rest.At(place, dst)
}

// place is the place of batch k among those of all ranks.
func (b *sharedBatches) place(k int) int { return k*b.world + b.rank }

func (b *sharedBatches) Draw(k, row int) int64 { return b.rest.Draw(b.place(k), row) }
func (b *sharedBatches) Consumed(k int) int    { return b.rest.Consumed(atMost(b.n, k, b.world)) }
func (b *sharedBatches) Step() int             { return atMost(math.MaxInt, b.rest.Step(), b.world) }
func (b *sharedBatches) From(draw int) BatchPart {
	return newSharedBatches(b.whole, b.whole.From(draw), b.share)
}

// listed is the rest of batches that are not a BatchPart. A draw is a batch.
type listed struct {
	of       Batches
	first, n int // number of batches consumed before, and of all batches
}

func (l listed) Len() int { return l.n - l.first }

func (l listed) At(k int, dst []int) []int {
	mustPlace(k, l.Len())
	return l.of.At(l.first+k, dst)
}

// Draw leaves 32 bits for the row, because batches may be of any length.
func (l listed) Draw(k, row int) int64 { return int64(l.first+k)<<32 | int64(row) }

func (l listed) Consumed(k int) int { return min(l.first+k, l.n) }
func (l listed) Step() int          { return 1 }

func (l listed) From(draw int) BatchPart {
	mustDraw(draw)
	return listed{l.of, min(draw, l.n), l.n}
}
