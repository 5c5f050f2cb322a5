package sampler

import "math"

// Fixed puts [BatchSize] consecutive samples of s into each batch. The last batch
// may be shorter; [DropLast] then leaves it out.
//
// Its Batches implement [BatchPart], so the rest of an epoch can continue in
// batches of another size. If s comes from [Shard], it can also continue on
// another number of ranks. It panics if s is nil.
func Fixed(s Sampler, options ...BatchOption) BatchSampler {
	mustSampler("Fixed", s)
	return fixed{s, newBatchConfig("Fixed", options)}
}

type fixed struct {
	of Sampler
	batchConfig
}

func (f fixed) Epoch(epoch int) Batches { return newFixedBatches(f.of.Epoch(epoch), 0, f.batchConfig) }

func countBatches(n, size int, dropLast bool) int {
	count := n / size
	if n%size > 0 && !dropLast {
		count++
	}
	return count
}

// fixedBatches are batches that are cut from the rest of an order.
type fixedBatches struct {
	batchConfig
	whole Order // with all its draws
	order Order
	part  Part // order, if it is a Part, otherwise nil
	first int  // draws of order that were consumed before, if part is nil
	count int  // batches
}

func newFixedBatches(whole Order, draw int, c batchConfig) *fixedBatches {
	mustDraw(draw)
	b := &fixedBatches{batchConfig: c, whole: whole, order: whole}
	if part, ok := whole.(Part); ok {
		if draw > 0 {
			part = part.From(draw)
		}
		b.order, b.part = part, part
	} else {
		b.first = min(draw, whole.Len())
	}
	b.count = countBatches(b.left(), c.size, c.dropLast)
	return b
}

// left is how many samples remain.
func (b *fixedBatches) left() int { return b.order.Len() - b.first }

func (b *fixedBatches) Len() int { return b.count }

func (b *fixedBatches) At(k int, dst []int) []int {
	mustPlace(k, b.count)
	begin := k * b.size
	for i := range min(b.size, b.left()-begin) {
		dst = append(dst, b.order.At(b.first+begin+i))
	}
	return dst
}

func (b *fixedBatches) Draw(k, row int) int64 {
	i := int64(k)*int64(b.size) + int64(row)
	if b.part != nil {
		return b.part.Draw(int(i))
	}
	return int64(b.first) + i
}

func (b *fixedBatches) Consumed(k int) int {
	if b.part != nil {
		return b.part.Consumed(atMost(math.MaxInt, k, b.size)) // other ranks may have one sample more
	}
	return b.first + atMost(b.left(), k, b.size)
}

func (b *fixedBatches) Step() int {
	if b.part != nil {
		return atMost(math.MaxInt, b.size, b.part.World())
	}
	return b.size
}

func (b *fixedBatches) From(draw int) BatchPart { return newFixedBatches(b.whole, draw, b.batchConfig) }
