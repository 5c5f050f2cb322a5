package slots

import (
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/prng"
)

// A Draw is one place in a sampler's global order. It has the random numbers of
// that place, and the clock that measures the stages of placing its sample. A
// loader has one per worker and resets it for every sample. The zero value is draw 0
// of epoch 0 with seed 0, without a clock.
type Draw struct {
	seed, epoch, draw uint64
	seeded            bool
	source            rand.PCG
	rand              *rand.Rand
	clock             *Clock
}

// NewDraw makes a draw whose stages are counted by clock, which may be nil.
func NewDraw(clock *Clock) *Draw { return &Draw{clock: clock} }

// NewDraws makes n draws that share a clock.
func NewDraws(n int, clock *Clock) []Draw {
	draws := make([]Draw, n)
	for k := range draws {
		draws[k].clock = clock
	}
	return draws
}

// Reset moves to another draw. The first call of Rand seeds its random numbers.
func (d *Draw) Reset(seed uint64, epoch int, draw int64) {
	d.seed, d.epoch, d.draw = seed, uint64(epoch), uint64(draw)
	d.seeded = false
}

// At is the epoch, and the place in its order.
func (d *Draw) At() (epoch, place uint64) { return d.epoch, d.draw }

// Rand gives the random numbers of this draw.
func (d *Draw) Rand() *rand.Rand {
	if !d.seeded {
		h := prng.Mix(prng.Mix(prng.Mix(d.seed)^d.epoch) ^ d.draw)
		d.source.Seed(h, prng.Mix(h))
		if d.rand == nil {
			d.rand = rand.New(&d.source)
		}
		d.seeded = true
	}
	return d.rand
}

// Stage begins the stage of that name.
func (d *Draw) Stage(name string) {
	if d.clock != nil {
		d.clock.Stage(name)
	}
}

// A Watch notices whether random numbers of a draw are used.
type Watch struct {
	draw   *Draw
	before rand.PCG
}

// Watch begins to watch the draw. It seeds the draw's random numbers.
func (d *Draw) Watch() Watch {
	d.Rand()
	return Watch{d, d.source}
}

// Rewind makes the next random numbers those that came after Watch was called.
func (w *Watch) Rewind() { w.draw.source = w.before }

// Taken reports whether random numbers were used since Watch was called.
func (w *Watch) Taken() bool { return w.draw != nil && w.draw.source != w.before }
