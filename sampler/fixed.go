package sampler

// Fixed puts every [BatchSize] samples of s into a batch. The last batch may be
// shorter; [DropLast] leaves it out then. Its Batches are [BatchPart]s, also of
// the rank whose share s is: what remains of an epoch can go on in batches of
// another size, and over s on another number of ranks.
func Fixed(s Sampler, options ...BatchOption) BatchSampler {
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

// fixedBatches are cut from what remains of an order.
type fixedBatches struct {
	batchConfig
	whole Order // with all its draws
	order Order
	part  Part // order, if it is one rank's share
	first int  // draws of order that were consumed before, if it is none
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
	for i := k * b.size; i < min((k+1)*b.size, b.left()); i++ {
		dst = append(dst, b.order.At(b.first+i))
	}
	return dst
}

func (b *fixedBatches) Draw(k, row int) int {
	i := k*b.size + row
	if b.part != nil {
		return b.part.Draw(i)
	}
	return b.first + i
}

func (b *fixedBatches) Consumed(k int) int {
	own := min(k*b.size, b.left())
	if b.part != nil {
		return b.part.Consumed(own)
	}
	return b.first + own
}

func (b *fixedBatches) Step() int {
	if b.part != nil {
		return b.size * b.part.World()
	}
	return b.size
}

func (b *fixedBatches) From(draw int) BatchPart { return newFixedBatches(b.whole, draw, b.batchConfig) }
