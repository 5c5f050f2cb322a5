package sampler

// Fixed puts every [BatchSize] samples of s into a batch. The last batch may be
// shorter; [DropLast] leaves it out then.
func Fixed(s Sampler, options ...BatchOption) BatchSampler {
	c := newBatchConfig("Fixed", options)
	return fixed{s, c.size, c.dropLast}
}

type fixed struct {
	of       Sampler
	size     int
	dropLast bool
}

func (f fixed) Epoch(epoch int) Batches {
	order := f.of.Epoch(epoch)
	return &fixedBatches{order, f.size, countBatches(order.Len(), f.size, f.dropLast)}
}

func countBatches(n, size int, dropLast bool) int {
	count := n / size
	if n%size > 0 && !dropLast {
		count++
	}
	return count
}

type fixedBatches struct {
	order       Order
	size, count int
}

func (b *fixedBatches) Len() int { return b.count }

func (b *fixedBatches) At(k int, dst []int) []int {
	mustPlace(k, b.count)
	first := k * b.size
	for i := range min(b.size, b.order.Len()-first) {
		dst = append(dst, b.order.At(first+i))
	}
	return dst
}
