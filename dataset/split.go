package dataset

import (
	"fmt"

	"github.com/penstock-go/penstock/internal/torchrand"
)

// RandomSplit divides ds at random into datasets of the given lengths, which add
// up to its own, or fractions, which add up to 1. The same seed gives the same
// datasets, and those of PyTorch's random_split with a generator of that seed,
// for any number of samples. It takes 8 bytes per sample.
//
// A fraction's length is rounded down; the samples that remain are given away
// one each, beginning with the first dataset. As there, fractions may lack a
// billionth, but one too much is an error. They are added up as Python does
// since 3.12, to the nearest float64.
func RandomSplit[L int | float64](ds Dataset, lengths []L, seed uint64) ([]Dataset, error) {
	n := ds.Len()
	var counts []int
	var err error
	switch lengths := any(lengths).(type) {
	case []int:
		counts, err = lengths, checkLengths(lengths, n)
	case []float64:
		counts, err = share(lengths, n)
	}
	if err != nil {
		return nil, err
	}
	perm := torchrand.Perm(n, seed)
	parts := make([]Dataset, len(counts))
	for k, count := range counts {
		parts[k] = &subset{ds, perm[:count:count]}
		perm = perm[count:]
	}
	return parts, nil
}

func checkLengths(lengths []int, n int) error {
	rest := n
	for _, l := range lengths {
		if l < 0 || l > rest {
			return fmt.Errorf("dataset: RandomSplit: lengths %v: want 0 or more each, %d together", lengths, n)
		}
		rest -= l
	}
	if rest != 0 {
		return fmt.Errorf("dataset: RandomSplit: lengths %v: want %d together", lengths, n)
	}
	return nil
}

// checkFractions is for a function of that name.
func checkFractions(name string, fractions []float64) error {
	sum, lost := 0.0, 0.0 // Neumaier's summation
	for _, f := range fractions {
		if !(f >= 0 && f <= 1) {
			return fmt.Errorf("dataset: %s: fraction %v: want one from 0 to 1", name, f)
		}
		next := sum + f
		lost += (max(sum, f) - next) + min(sum, f)
		sum = next
	}
	sum += lost
	if sum > 1 || 1-sum > 1e-9 { // 1e-9 is that of math.isclose, by which PyTorch judges
		return fmt.Errorf("dataset: %s: fractions %v: want 1 together, not %v", name, fractions, sum)
	}
	return nil
}

// share turns fractions of n into lengths.
func share(fractions []float64, n int) ([]int, error) {
	if err := checkFractions("RandomSplit", fractions); err != nil {
		return nil, err
	}
	counts := make([]int, len(fractions))
	rest := n
	for k, f := range fractions {
		counts[k] = int(float64(n) * f)
		rest -= counts[k]
	}
	if rest < 0 { // of more samples than a float64 can count
		return nil, fmt.Errorf("dataset: RandomSplit: fractions %v of %d samples are %d samples", fractions, n, n-rest)
	}
	for k := 0; rest > 0; k, rest = (k+1)%len(counts), rest-1 {
		counts[k]++
	}
	return counts, nil
}
