package sampler

import "math/bits"

// An arrival is the time at which a sample comes.
type arrival struct {
	time  uint64
	index int
}

// never is the time of a sample that does not arrive.
const never = 1<<64 - 1

// earliest sorts the indices of times by time, then by index, and returns the
// first n. At least n times must not be never.
//
// The times are divided into short ranges, and only the ranges that hold the first
// n are sorted. This takes 24 bytes for every arrival in these ranges.
func earliest(times []uint64, n int) written {
	if n == 0 {
		return nil
	}
	least, greatest := uint64(never), uint64(0)
	for _, t := range times {
		if t != never {
			least, greatest = min(least, t), max(greatest, t)
		}
	}
	r := newRanges(least, greatest, len(times), 1<<13)
	ends := make([]int, r.count+1) // where every range ends, preceded by 0
	for _, t := range times {
		if t != never {
			ends[r.of(t)+1]++
		}
	}
	needed, longest := 0, 0
	for ; ends[needed] < n; needed++ {
		longest = max(longest, ends[needed+1])
		ends[needed+1] += ends[needed]
	}
	early := make([]arrival, ends[needed])
	next := ends[:needed] // place of the next arrival of every range; at last, where the range ends
	for i, t := range times {
		if t != never && r.of(t) < needed {
			early[next[r.of(t)]] = arrival{t, i}
			next[r.of(t)]++
		}
	}
	scratch := make([]arrival, longest)
	begin := 0
	for _, end := range next {
		sortArrivals(early[begin:end], scratch)
		begin = end
	}
	order := make(written, n)
	for k := range order {
		order[k] = early[k].index
	}
	return order
}

// ranges cuts the times from least on into equal parts.
type ranges struct {
	least        uint64
	shift, count int
}

// newRanges cuts n times into about n/4 ranges, but not more than most.
func newRanges(least, greatest uint64, n, most int) ranges {
	width := bits.Len(uint(max(1, min(n/4, most/2))))
	shift := max(0, bits.Len64(greatest-least)-width)
	return ranges{least, shift, int((greatest-least)>>shift) + 1}
}

func (r ranges) of(time uint64) int { return int((time - r.least) >> r.shift) }

// sortArrivals is a stable sort by time. It needs as much scratch as there are
// arrivals.
func sortArrivals(list, scratch []arrival) {
	const most = 1 << 10
	if len(list) <= 16 {
		insert(list)
		return
	}
	least, greatest := list[0].time, list[0].time
	for _, a := range list {
		least, greatest = min(least, a.time), max(greatest, a.time)
	}
	if least == greatest {
		return
	}
	r := newRanges(least, greatest, len(list), most)
	var ends [most + 1]int
	for _, a := range list {
		ends[r.of(a.time)+1]++
	}
	for i := range r.count {
		ends[i+1] += ends[i]
	}
	for _, a := range list {
		place := &ends[r.of(a.time)]
		scratch[*place] = a
		*place++
	}
	copy(list, scratch)
	begin := 0
	for _, end := range ends[:r.count] {
		sortArrivals(list[begin:end], scratch)
		begin = end
	}
}

// insert is insertion sort.
func insert(list []arrival) {
	for i, a := range list {
		for ; i > 0 && list[i-1].time > a.time; i-- {
			list[i] = list[i-1]
		}
		list[i] = a
	}
}
