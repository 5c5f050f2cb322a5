package sampler

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// WeightedDistinct takes draws different samples per epoch: at every draw, each
// sample that is left with a probability of its weight over the sum of the
// weights left, as PyTorch's WeightedRandomSampler without replacement. A sample
// of weight 0 is never drawn.
//
// It is an error if a weight is negative, NaN or infinite, or fewer than draws
// are positive. A negative draws panics. An order takes 8 bytes per draw and
// time n·log n for n weights; the sampler keeps those of the last two epochs.
// Source: Efraimidis, Spirakis, "Weighted random sampling with a reservoir", 2006.
func WeightedDistinct(weights []float64, draws int, seed uint64) (Sampler, error) {
	mustCount("WeightedDistinct: draws", draws)
	positive, err := checkWeights("WeightedDistinct", weights)
	if err != nil {
		return nil, err
	}
	if draws > positive {
		return nil, fmt.Errorf("sampler: WeightedDistinct: %d draws from %d samples of positive weight", draws, positive)
	}
	return &distinct{weights: slices.Clone(weights), draws: draws, seed: seed}, nil
}

type distinct struct {
	weights []float64
	draws   int
	seed    uint64
	orders  recent[written]
}

func (d *distinct) Epoch(epoch int) Order { return d.orders.of(epoch, d.order) }

// order sorts by the time until a first event that happens at the rate of the
// weight. Logarithms keep tiny and huge weights apart.
func (d *distinct) order(epoch int) written {
	type arrival struct {
		time  float64
		index int
	}
	key := epochKey(forDistinct, d.seed, epoch)
	arrivals := make([]arrival, 0, len(d.weights))
	for i, w := range d.weights {
		if w > 0 {
			u := (float64(mix(key^uint64(i))>>11) + 0.5) / (1 << 53)
			arrivals = append(arrivals, arrival{math.Log(-math.Log(u)) - math.Log(w), i})
		}
	}
	slices.SortFunc(arrivals, func(a, b arrival) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.index, b.index))
	})
	drawn := make(written, d.draws)
	for k := range drawn {
		drawn[k] = arrivals[k].index
	}
	return drawn
}
