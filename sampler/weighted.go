package sampler

import (
	"errors"
	"fmt"
	"math"

	"github.com/penstock-go/penstock/internal/prng"
)

// Weighted draws samples with replacement. An epoch has as many draws as there are
// weights, or as many as [Draws] sets. At every draw, the probability of sample i
// is weights[i] divided by the sum of all weights. This is PyTorch's
// WeightedRandomSampler. The weights need not sum to 1, and their number is not
// limited to 2²⁴ as in PyTorch. The probabilities are exact up to float64
// rounding. A sample of weight 0 is never drawn.
//
// It is an error if a weight is negative, NaN or infinite, or if none is
// positive. The sampler takes 16 bytes per weight. An order takes constant memory,
// and At takes constant time. Source: Vose, "A linear algorithm for generating random
// numbers with a given distribution", 1991.
func Weighted(weights []float64, seed uint64, options ...DrawOption) (Sampler, error) {
	n := newDraws("Weighted", len(weights), options)
	if _, err := checkWeights("Weighted", weights); err != nil {
		return nil, err
	}
	return &weighted{newAlias(weights), n, seed}, nil
}

// Balanced draws every class with the same probability, with replacement, and every sample of
// a class as often as the others: it is [Weighted] with 1/n for each sample of a class of n.
// labels has the class of every sample, such as Labels of dataset.Folder.
//
// It is an error if there are no labels.
func Balanced[L comparable](labels []L, seed uint64, options ...DrawOption) (Sampler, error) {
	if len(labels) == 0 {
		return nil, errors.New("sampler: Balanced: no labels")
	}
	sizes := map[L]int{}
	for _, label := range labels {
		sizes[label]++
	}
	weights := make([]float64, len(labels))
	for i, label := range labels {
		weights[i] = 1 / float64(sizes[label]) // infinite for NaN, which equals no label
	}
	if _, err := checkWeights("Balanced", weights); err != nil {
		return nil, err
	}
	return &weighted{newAlias(weights), newDraws("Balanced", len(weights), options), seed}, nil
}

// checkWeights returns the number of positive weights.
func checkWeights(name string, weights []float64) (positive int, err error) {
	for i, w := range weights {
		if !(w >= 0) || math.IsInf(w, 1) {
			return 0, fmt.Errorf("sampler: %s: weight %d is %v: want a finite number, 0 or more", name, i, w)
		}
		if w > 0 {
			positive++
		}
	}
	if positive == 0 {
		return 0, fmt.Errorf("sampler: %s: none of %d weights is positive", name, len(weights))
	}
	return positive, nil
}

type weighted struct {
	alias []category
	draws int
	seed  uint64
}

func (w *weighted) Epoch(epoch int) Order {
	return &weightedOrder{w, epochKey(forWeighted, w.seed, epoch)}
}

type weightedOrder struct {
	*weighted
	key uint64
}

func (o *weightedOrder) Len() int { return o.draws }

func (o *weightedOrder) At(k int) int {
	mustPlace(k, o.draws)
	h := prng.Mix(o.key ^ uint64(k))
	i := int(below(h, uint64(len(o.alias))))
	if c := o.alias[i]; prng.Mix(h) >= c.own {
		return c.other
	}
	return i
}

// A category shares its column of the table with another one.
type category struct {
	own   uint64 // the category's part of the column, in units of 1/2⁶⁴
	other int    // the category that has the rest; the same one if it has the whole column
}

// newAlias makes a table with a column of equal height for every category. A
// category with less than the mean shares its column with one that has more.
func newAlias(weights []float64) []category {
	n := len(weights)
	heaviest, sum := 0, 0.0
	for i, w := range weights {
		if w > weights[heaviest] {
			heaviest = i
		}
	}
	scale := weights[heaviest] // so that no sum overflows
	carry := 0.0               // of Kahan summation
	for _, w := range weights {
		y := w/scale - carry
		t := sum + y
		carry = (t - sum) - y
		sum = t
	}
	height := make([]float64, n) // the mean is 1
	for i, w := range weights {
		height[i] = w / scale / sum * float64(n)
	}

	table := make([]category, n)
	order := make([]int, n) // categories below the mean from the left, others from the right
	short, tall := 0, n
	for i, h := range height {
		if h < 1 {
			order[short] = i
			short++
		} else {
			tall--
			order[tall] = i
		}
	}
	for short > 0 && tall < n {
		short--
		s, t := order[short], order[tall]
		table[s] = category{part(height[s]), t}
		height[t] -= 1 - height[s]
		if height[t] < 1 {
			tall++
			order[short] = t
			short++
		}
	}
	for _, i := range order[tall:] {
		table[i].other = i
	}
	for _, i := range order[:short] { // rounding left no tall column for them
		table[i] = category{part(height[i]), heaviest}
	}
	return table
}

// part turns a height below 1 into a share of 2⁶⁴.
func part(height float64) uint64 {
	if height <= 0 {
		return 0
	}
	return uint64(math.Ldexp(height, 64))
}
