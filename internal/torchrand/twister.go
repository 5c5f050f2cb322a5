package torchrand

// The parameters of MT19937. Source: Matsumoto, Nishimura, "Mersenne Twister: a
// 623-dimensionally equidistributed uniform pseudo-random number generator",
// ACM TOMACS 8 (1998); the seeding is that of the authors' 2002 revision.
const (
	words  = 624        // of state
	middle = 397        // distance of the word that a word is mixed with
	matrix = 0x9908b0df // last row of the twist matrix
)

// twister is the 32-bit Mersenne Twister.
type twister struct {
	state [words]uint32
	used  int // words of state that were handed out
}

func newTwister(seed uint32) *twister {
	t := &twister{used: words}
	t.state[0] = seed
	for i := 1; i < words; i++ {
		previous := t.state[i-1]
		t.state[i] = 1812433253*(previous^previous>>30) + uint32(i)
	}
	return t
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

// twist replaces the whole state by the next one.
func (t *twister) twist() {
	for i := range words {
		y := t.state[i]&(1<<31) | t.state[(i+1)%words]&(1<<31-1)
		z := t.state[(i+middle)%words] ^ y>>1
		if y&1 == 1 {
			z ^= matrix
		}
		t.state[i] = z
	}
	t.used = 0
}
