package sampler

// BatchFunc makes a function of the epoch a [BatchSampler]. The function must
// give the same batches whenever it gets the same epoch, and may be called by
// several goroutines at once.
type BatchFunc func(epoch int) Batches

// Epoch calls f.
func (f BatchFunc) Epoch(epoch int) Batches { return f(epoch) }

// List is batches that are written down: the sample indices of one batch after
// the other, none of them empty. It is a [BatchSampler] too, which gives the
// same batches in every epoch.
type List [][]int

// Epoch is l, whatever the epoch.
func (l List) Epoch(int) Batches { return l }

// Len is the number of batches.
func (l List) Len() int { return len(l) }

// At appends the sample indices of batch k to dst.
func (l List) At(k int, dst []int) []int { return append(dst, l[k]...) }
