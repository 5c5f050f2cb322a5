package sampler

import (
	"cmp"
	"slices"
)

// never is the time of a sample that does not arrive.
const never = 1<<64 - 1

// earliest sorts the indices of times by time, then by index, and returns the
// first n. At least n times must not be never. It takes 16 bytes for every arrival.
func earliest(times []uint64, n int) written {
	type arrival struct {
		time  uint64
		index int
	}
	arrivals := make([]arrival, 0, len(times))
	for i, t := range times {
		if t != never {
			arrivals = append(arrivals, arrival{t, i})
		}
	}
	slices.SortFunc(arrivals, func(a, b arrival) int { return cmp.Or(cmp.Compare(a.time, b.time), a.index-b.index) })
	order := make(written, n)
	for k := range order {
		order[k] = arrivals[k].index
	}
	return order
}
