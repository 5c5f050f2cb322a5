package sampler

import (
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/internal/splitmix"
)

// WeightedDistinct draws different samples per epoch, all of positive weight or
// as many as [Draws] says: at every draw, each sample that is left with a
// probability of its weight over the sum of the weights left, as PyTorch's
// WeightedRandomSampler without replacement. A sample of weight 0 is never drawn.
//
// It is an error if a weight is negative, NaN or infinite, if none is positive,
// or fewer are than are to be drawn. An order takes 8 bytes per draw, and 8 bytes
// per weight and 16 per draw more while it is made, in time that grows with the
// weights: about 50 ns for each. The sampler keeps the orders of the last two
// epochs. Sources: Efraimidis, Spirakis, "Weighted random sampling with a
// reservoir", 2006; von Neumann, "Various techniques used in connection with
// random digits", 1951.
func WeightedDistinct(weights []float64, seed uint64, options ...DrawOption) (Sampler, error) {
	positive, err := checkWeights("WeightedDistinct", weights)
	if err != nil {
		return nil, err
	}
	n := newDraws("WeightedDistinct", positive, options)
	if n > positive {
		return nil, fmt.Errorf("sampler: WeightedDistinct: %d draws from %d samples of positive weight", n, positive)
	}
	return &distinct{weights: slices.Clone(weights), draws: n, seed: seed}, nil
}

type distinct struct {
	weights []float64
	draws   int
	seed    uint64
	orders  recent[written]
}

func (d *distinct) Epoch(epoch int) Order { return d.orders.of(epoch, d.order) }

// order sorts by the time until a first event that happens at the rate of the
// weight.
func (d *distinct) order(epoch int) written {
	key := epochKey(forDistinct, d.seed, epoch)
	times := make([]uint64, len(d.weights))
	for i, w := range d.weights {
		times[i] = never
		if w > 0 {
			times[i] = arrivalTime(splitmix.Mix(key^uint64(i)), w)
		}
	}
	return earliest(times, d.draws)
}

// arrivalTime is an exponential variate of rate w as a number that only compares:
// a floating-point number whose exponent has 12 bits, so that tiny and huge
// weights stay apart. It takes correctly rounded operations only, so that every
// machine computes the same.
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

// exponential is a variate of rate 1, above 0, by von Neumann's comparisons: the
// first of a falling run of random numbers is its fraction if the run is even,
// counting the number that ends it, else the next run is tried for a variate
// greater by 1.
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
