package sampler

import (
	"math/bits"

	"github.com/penstock-go/penstock/internal/prng"
)

// Every use of a seed has its own random numbers. Orders depend on these constants,
// so a new one goes at the end.
const (
	forShuffle uint64 = iota + 1
	forRandom
	forWeighted
	forWithoutReplacement
	forLength
	forGroups
)

func epochKey(use, seed uint64, epoch int) uint64 {
	return prng.Mix(prng.Mix(prng.Mix(use)^seed) ^ uint64(epoch))
}

// below turns the random bits h into a number from 0 to n-1, all equally likely.
// Source: Lemire, "Fast random integer generation in an interval", 2019.
func below(h, n uint64) uint64 {
	high, low := bits.Mul64(h, n)
	if low < n {
		for reject := -n % n; low < reject; {
			h = prng.Mix(h)
			high, low = bits.Mul64(h, n)
		}
	}
	return high
}

// stream is a sequence of random numbers, for what is computed in sequence.
type stream uint64

func (s *stream) next() uint64 {
	h := prng.Mix(uint64(*s))
	*s += prng.Gamma
	return h
}

// shuffle is the shuffle of Fisher and Yates.
func shuffle[T any](s *stream, list []T) {
	for i := len(list) - 1; i > 0; i-- {
		j := below(s.next(), uint64(i)+1)
		list[i], list[j] = list[j], list[i]
	}
}
