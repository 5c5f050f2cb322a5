package prng

import "math/bits"

// The parameters of MT19937. Source: Matsumoto, Nishimura, "Mersenne Twister: a
// 623-dimensionally equidistributed uniform pseudo-random number generator",
// ACM TOMACS 8 (1998); the seeding is that of the authors' 2002 revision.
const (
	words  = 624        // of state
	middle = 397        // distance between the words that are mixed
	matrix = 0x9908b0df // last row of the twist matrix
)

// twister is the 32-bit Mersenne Twister.
type twister struct {
	state [words]uint32
	used  int // words of state that were returned
}

func (t *twister) seed(seed uint32) {
	t.used = words
	t.state[0] = seed
	for i := 1; i < words; i++ {
		previous := t.state[i-1]
		t.state[i] = 1812433253*(previous^previous>>30) + uint32(i)
	}
}

func (t *twister) next() uint32 {
	if t.used == words {
		t.twist()
	}
	y := t.state[t.used]
	t.used++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// far is from how many twists on a jump takes less time.
const far = 8000

// skip skips n numbers, as often as times says.
func (t *twister) skip(times, n uint64) {
	high, low := bits.Mul64(times, n)
	low, carry := bits.Add64(low, uint64(t.used), 0)
	high += carry
	// So many twists, and then so many words of the state.
	high, rest := high/words, high%words
	low, rest = bits.Div64(rest, low, words)
	if high > 0 || low >= far {
		t.jump(high, low)
	} else {
		for range low {
			t.twist()
		}
	}
	t.used = int(rest)
}

// twist replaces the whole state by the next one.
func (t *twister) twist() {
	s := &t.state
	for i := range words - middle {
		s[i] = s[i+middle] ^ twisted(s[i], s[i+1])
	}
	for i := words - middle; i < words-1; i++ {
		s[i] = s[i+middle-words] ^ twisted(s[i], s[i+1])
	}
	s[words-1] = s[middle-1] ^ twisted(s[words-1], s[0])
	t.used = 0
}

func twisted(high, low uint32) uint32 {
	y := high&(1<<31) | low&(1<<31-1)
	return y>>1 ^ -(y&1)&matrix
}
