package sampler

import (
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/internal/prng"
)

// WeightedWithoutReplacement draws samples without replacement. An epoch draws
// every sample of positive weight once, or as many of them as [Draws] sets. At
// every draw, the probability of a sample that is left is its weight divided by
// the sum of the weights that are left. This is PyTorch's WeightedRandomSampler
// with replacement=False. A sample of weight 0 is never drawn.
//
// It is an error if a weight is negative, NaN or infinite, if none is positive,
// or if fewer are positive than Draws sets.
//
// An order takes 8 bytes per draw, and making it sorts 24 bytes per weight. The sampler
// keeps the orders of the last two epochs. Sources: Efraimidis, Spirakis, "Weighted
// random sampling with a reservoir", 2006; von Neumann, "Various techniques used
// in connection with random digits", 1951.
func WeightedWithoutReplacement(weights []float64, seed uint64, options ...DrawOption) (Sampler, error) {
	positive, err := checkWeights("WeightedWithoutReplacement", weights)
	if err != nil {
		return nil, err
	}
	n := newDraws("WeightedWithoutReplacement", positive, options)
	if n > positive {
		return nil, fmt.Errorf("sampler: WeightedWithoutReplacement: %d draws from %d samples of positive weight", n, positive)
	}
	return &withoutReplacement{weights: slices.Clone(weights), draws: n, seed: seed}, nil
}

type withoutReplacement struct {
	weights []float64
	draws   int
	seed    uint64
	orders  recent[written]
}

func (w *withoutReplacement) Epoch(epoch int) Order { return w.orders.of(epoch, w.order) }

// order sorts the samples by arrival time. The arrival time of a sample is an
// exponential variate whose rate is the sample's weight.
func (w *withoutReplacement) order(epoch int) written {
	key := epochKey(forWithoutReplacement, w.seed, epoch)
	times := make([]uint64, len(w.weights))
	for i, weight := range w.weights {
		times[i] = never
		if weight > 0 {
			times[i] = arrivalTime(prng.Mix(key^uint64(i)), weight)
		}
	}
	return earliest(times, w.draws)
}

// arrivalTime is an exponential variate of rate w, encoded so that times compare
// as integers. The encoding is a floating-point number whose exponent has 12 bits,
// so that the times of tiny and huge weights stay different. All operations are
// correctly rounded, so every machine computes the same.
func arrivalTime(h uint64, w float64) uint64 {
	const exponent = 0x7ff << 52 // of a float64
	e := math.Float64bits(exponential(h))
	if w < 0x1p-1022 { // without a leading 1
		w *= 0x1p64
		e += 64 << 52
	}
	v := math.Float64bits(w)
	// The quotient of the fractions is above ½ and below 2.
	q := math.Float64frombits(e&^exponent|1023<<52) / math.Float64frombits(v&^exponent|1023<<52)
	return math.Float64bits(q) + (e&exponent - v&exponent + 1200<<52)
}

// exponential is an exponential variate of rate 1, above 0, by von Neumann's
// comparisons. It takes runs of falling random numbers. A run includes the number
// that ends it. The first run of even length gives the variate: its first number
// is the fraction, and the number of runs before it is the whole part.
func exponential(h uint64) float64 {
	random := stream(h)
	for whole := 0.0; ; whole++ {
		fraction := random.next()
		last := fraction
		for even := true; ; even = !even {
			next := random.next()
			if next < last {
				last = next
				continue
			}
			if even {
				return whole + float64(fraction>>1|1)*0x1p-63
			}
			break
		}
	}
}
