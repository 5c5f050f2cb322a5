package sampler

import (
	"errors"
	"math"
)

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
