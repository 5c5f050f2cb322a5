package sampler

// BatchFunc is a function of the epoch as a [BatchSampler]. It must return the
// same batches for the same epoch, and may be called by several goroutines at
// once.
type BatchFunc func(epoch int) Batches

// Epoch calls f.
func (f BatchFunc) Epoch(epoch int) Batches { return f(epoch) }

// List is a fixed list of batches, each the indices of its samples. No batch may
// be empty. As a [BatchSampler] it gives the same batches in every epoch.
type List [][]int

// Epoch is l for every epoch.
func (l List) Epoch(int) Batches { return l }

// Len is the number of batches.
func (l List) Len() int { return len(l) }

// At appends the sample indices of batch k to dst.
func (l List) At(k int, dst []int) []int { return append(dst, l[k]...) }
