package dataset

import "math/rand/v2"

// A Draw is one place in a sampler's global order: it owns the random numbers
// that belong there and measures what placing the sample takes. A loader has
// one per worker and resets it for every sample. Its zero value is the draw 0
// of epoch 0 with seed 0.
type Draw struct {
	seed, epoch, draw uint64
	seeded            bool
	source            rand.PCG
	rand              *rand.Rand
	clock             *Clock
}

// NewDraw makes a draw whose stages are counted by clock, which may be nil.
func NewDraw(clock *Clock) *Draw { return &Draw{clock: clock} }

// Reset moves to another draw. The random numbers are seeded when first asked for.
func (d *Draw) Reset(seed uint64, epoch, draw int) {
	d.seed, d.epoch, d.draw = seed, uint64(epoch), uint64(draw)
	d.seeded = false
}

// Rand gives the random numbers of this draw.
func (d *Draw) Rand() *rand.Rand {
	if !d.seeded {
		h := mix(mix(mix(d.seed)^d.epoch) ^ d.draw)
		d.source.Seed(h, mix(h))
		if d.rand == nil {
			d.rand = rand.New(&d.source)
		}
		d.seeded = true
	}
	return d.rand
}

// Stage says what happens from here on; see [Slot.Stage].
func (d *Draw) Stage(name string) {
	if d.clock != nil {
		d.clock.Stage(name)
	}
}

// mix is splitmix64: a step of Weyl's sequence and its finaliser, a bijection.
// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
