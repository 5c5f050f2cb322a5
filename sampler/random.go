package sampler

import "github.com/penstock-go/penstock/internal/splitmix"

// Random draws n samples per epoch, or as many as [Draws] sets, with replacement:
// at every draw each of the n samples is equally likely, so that some come
// several times and others not at all. It takes no memory that grows with n or
// the draws. A negative n panics, and so do draws from no samples.
//
// Without replacement, use [Shuffle], and [Repeat] for another number of draws
// than n.
func Random(n int, seed uint64, options ...DrawOption) Sampler {
	mustCount("Random", "n", n)
	r := random{n, newDraws("Random", n, options), seed}
	if n == 0 && r.draws > 0 {
		panic("sampler: Random: n is 0: no samples to draw from")
	}
	return r
}

type random struct {
	n, draws int
	seed     uint64
}

func (r random) Epoch(epoch int) Order {
	return &randomOrder{r, epochKey(forRandom, r.seed, epoch)}
}

type randomOrder struct {
	random
	key uint64
}

func (o *randomOrder) Len() int { return o.draws }

func (o *randomOrder) At(k int) int {
	mustPlace(k, o.draws)
	return int(below(splitmix.Mix(o.key^uint64(k)), uint64(o.n)))
}
