package sampler

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// WeightedDistinct draws different samples per epoch, all of positive weight or
// as many as [Draws] says: at every draw, each sample that is left with a
// probability of its weight over the sum of the weights left, as PyTorch's
// WeightedRandomSampler without replacement. A sample of weight 0 is never drawn.
//
// It is an error if a weight is negative, NaN or infinite, if none is positive,
// or fewer are than are to be drawn. An order takes 8 bytes per draw and
// time n·log n for n weights; the sampler keeps those of the last two epochs.
// Source: Efraimidis, Spirakis, "Weighted random sampling with a reservoir", 2006.
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
