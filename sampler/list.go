package sampler

// BatchFunc makes a [BatchSampler] from a function of the epoch. The function must
// return the same batches for the same epoch. Several goroutines may call it at
// once.
type BatchFunc func(epoch int) Batches

// Epoch calls f.
func (f BatchFunc) Epoch(epoch int) Batches { return f(epoch) }

// List is a fixed list of batches, each the indices of its samples. No batch may
// be empty. As a [BatchSampler] it gives the same batches in every epoch.
type List [][]int

// Epoch returns l for every epoch.
func (l List) Epoch(int) Batches { return l }

// Len is the number of batches.
func (l List) Len() int { return len(l) }

// At appends the sample indices of batch k to dst.
func (l List) At(k int, dst []int) []int { return append(dst, l[k]...) }
