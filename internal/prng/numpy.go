package prng

import "math/bits"

// A NumPy is the generator of numpy.random.default_rng: PCG64 with the seeds of a SeedSequence. Its zero value is not seeded.
//
// Sources: O'Neill, "PCG: A family of simple fast space-efficient statistically good algorithms for random number generation", 2014,
// for PCG XSL RR 128/64; numpy's SeedSequence for the seeds; Lemire, "Fast random integer generation in an interval", ACM TOMACS 29
// (2019), for Uint32N.
type NumPy struct {
	high, low                   uint64 // the state
	incrementHigh, incrementLow uint64
	half                        uint32 // the other half of a number, if there is one
	halved                      bool
}

// Seed sets the state of default_rng([entropy...]). A number alone is the same as one in a list, and zeros at the end, up to four
// words of 32 bits in all, change nothing.
func (g *NumPy) Seed(entropy ...uint64) {
	words := make([]uint32, 0, 16)
	for _, e := range entropy {
		if words = append(words, uint32(e)); e>>32 > 0 {
			words = append(words, uint32(e>>32))
		}
	}
	seeds := sequence(words)
	*g = NumPy{incrementHigh: seeds[2]<<1 | seeds[3]>>63, incrementLow: seeds[3]<<1 | 1}
	g.next()
	var carry uint64
	g.low, carry = bits.Add64(g.low, seeds[1], 0)
	g.high, _ = bits.Add64(g.high, seeds[0], carry)
	g.next()
}

// sequence is SeedSequence(entropy).generate_state(4, numpy.uint64).
func sequence(entropy []uint32) (state [4]uint64) {
	var pool [4]uint32
	constant := uint32(0x43b0d7e5)
	hash := func(v, factor uint32) uint32 {
		v ^= constant
		constant *= factor
		v *= constant
		return v ^ v>>16
	}
	mix := func(to int, v uint32) {
		v = 0xca01f9dd*pool[to] - 0x4973f715*hash(v, 0x931e8875)
		pool[to] = v ^ v>>16
	}
	for i := range pool {
		v := uint32(0)
		if i < len(entropy) {
			v = entropy[i]
		}
		pool[i] = hash(v, 0x931e8875)
	}
	for from := range pool {
		for to := range pool {
			if from != to {
				mix(to, pool[from])
			}
		}
	}
	for _, v := range entropy[min(len(entropy), len(pool)):] {
		for to := range pool {
			mix(to, v)
		}
	}
	constant = 0x8b51f9dd
	for i := range 2 * len(state) {
		state[i/2] |= uint64(hash(pool[i%len(pool)], 0x58f38ded)) << (32 * (i % 2))
	}
	return state
}

func (g *NumPy) next() uint64 {
	const multiplierHigh, multiplierLow = 0x2360ed051fc65da4, 0x4385df649fccf645
	high, low := bits.Mul64(g.low, multiplierLow)
	high += g.high*multiplierLow + g.low*multiplierHigh
	var carry uint64
	g.low, carry = bits.Add64(low, g.incrementLow, 0)
	g.high, _ = bits.Add64(high, g.incrementHigh, carry)
	return bits.RotateLeft64(g.high^g.low, -int(g.high>>58))
}

// Float64 is the next random().
func (g *NumPy) Float64() float64 { return float64(g.next()>>11) / (1 << 53) }

// Uint32N is the next integers(n).
func (g *NumPy) Uint32N(n uint32) uint32 {
	if n == 1 {
		return 0
	}
	product := uint64(g.next32()) * uint64(n)
	if uint32(product) < n {
		for least := -n % n; uint32(product) < least; {
			product = uint64(g.next32()) * uint64(n)
		}
	}
	return uint32(product >> 32)
}

// next32 gives the lower half of a number first, and then the upper one.
func (g *NumPy) next32() uint32 {
	if g.halved = !g.halved; !g.halved {
		return g.half
	}
	v := g.next()
	g.half = uint32(v >> 32)
	return uint32(v)
}
