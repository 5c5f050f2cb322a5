package sampler

import "fmt"

// Fixed puts every size samples of s into a batch. If the last batch would be
// shorter, dropLast leaves it out. A size below 1 panics.
func Fixed(s Sampler, size int, dropLast bool) BatchSampler {
	mustSize("Fixed", size)
	return fixed{s, size, dropLast}
}

func mustSize(name string, size int) {
	if size < 1 {
		panic(fmt.Sprintf("sampler: %s: batch size %d: want 1 or more", name, size))
	}
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
