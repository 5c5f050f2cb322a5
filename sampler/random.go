package sampler

import "github.com/penstock-go/penstock/internal/prng"

// Random draws n samples per epoch, or as many as [Draws] sets, with replacement.
// At every draw each of the n samples is equally likely, so some samples come
// several times and others not at all. This is PyTorch's RandomSampler with
// replacement=True. It takes no memory that grows with n or the draws. A negative
// n panics, and so does an n of 0 with Draws above 0.
//
// For draws without replacement, use [Shuffle], or [Repeat] over Shuffle if the
// number of draws is not n.
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
	return int(below(prng.Mix(o.key^uint64(k)), uint64(o.n)))
}
