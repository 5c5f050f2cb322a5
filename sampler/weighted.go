package sampler

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/internal/prng"
)

// Weighted draws samples with replacement. At every draw, the probability of sample i is
// weights[i] divided by the sum of all weights. This is PyTorch's WeightedRandomSampler; an
// epoch has as many draws as there are weights, or as many as [Draws] sets.
//
// It is an error if a weight is negative, NaN or infinite, or if none is positive. The
// sampler takes 16 bytes per weight, and At takes constant time. Source: Vose, "A linear
// algorithm for generating random numbers with a given distribution", 1991.
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

// checkWeights returns the number of positive weights of the named constructor.
func checkWeights(name string, weights []float64) (positive int, err error) {
	positive, err = countWeights(weights)
	if err != nil {
		return 0, fmt.Errorf("sampler: %s: %w", name, err)
	}
	return positive, nil
}

// countWeights returns the number of positive weights.
func countWeights(weights []float64) (positive int, err error) {
	for i, w := range weights {
		if !(w >= 0) || math.IsInf(w, 1) {
			return 0, fmt.Errorf("weight %d is %v: want a finite number, 0 or more", i, w)
		}
		if w > 0 {
			positive++
		}
	}
	if positive == 0 {
		return 0, fmt.Errorf("none of %d weights is positive", len(weights))
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

// never is the time of a sample that does not arrive.
const never = 1<<64 - 1

// earliest sorts the indices of times by time, then by index, and returns the
// first n. At least n times must not be never. It takes 16 bytes for every arrival.
func earliest(times []uint64, n int) written {
	type arrival struct {
		time  uint64
		index int
	}
	arrivals := make([]arrival, 0, len(times))
	for i, t := range times {
		if t != never {
			arrivals = append(arrivals, arrival{t, i})
		}
	}
	slices.SortFunc(arrivals, func(a, b arrival) int { return cmp.Or(cmp.Compare(a.time, b.time), a.index-b.index) })
	order := make(written, n)
	for k := range order {
		order[k] = arrivals[k].index
	}
	return order
}
