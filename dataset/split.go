package dataset

import (
	"fmt"

	"github.com/penstock-go/penstock/internal/prng"
)

// RandomSplit divides ds at random into datasets, as PyTorch's random_split
// does. lengths are numbers of samples, which add up to ds.Len(), or fractions,
// which add up to 1. The same seed gives the same datasets. PyTorch makes the
// same ones with generator=torch.Generator().manual_seed(seed). The datasets
// take 8 bytes of memory per sample.
//
// The length of a fraction is rounded down. The samples that remain are given
// out one by one, beginning with the first dataset. The sum of fractions may be
// up to 1e-9 below 1, as in PyTorch, but not above 1. The sum is rounded
// once, to the nearest float64, as in Python since 3.12.
func RandomSplit[L int | float64](ds Dataset, lengths []L, seed uint64) ([]Dataset, error) {
	err := needsLength("RandomSplit", ds)
	if err != nil {
		return nil, err
	}
	n := ds.Len()
	var counts []int
	switch lengths := any(lengths).(type) {
	case []int:
		counts, err = lengths, checkLengths(lengths, n)
	case []float64:
		counts, err = share(lengths, n)
	}
	if err != nil {
		return nil, err
	}
	perm := prng.Perm(n, seed)
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
			return fmt.Errorf("dataset: RandomSplit: lengths %v: want 0 or more each, and a sum of %d", lengths, n)
		}
		rest -= l
	}
	if rest != 0 {
		return fmt.Errorf("dataset: RandomSplit: lengths %v: want a sum of %d", lengths, n)
	}
	return nil
}

// checkFractions checks the fractions given to the function called name.
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
	if sum > 1 || 1-sum > 1e-9 { // 1e-9 is the tolerance of math.isclose, which PyTorch uses
		return fmt.Errorf("dataset: %s: fractions %v: want a sum of 1, not %v", name, fractions, sum)
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
		return nil, fmt.Errorf("dataset: RandomSplit: fractions %v of %d samples add up to %d samples", fractions, n, n-rest)
	}
	for k := 0; rest > 0; k, rest = (k+1)%len(counts), rest-1 {
		counts[k]++
	}
	return counts, nil
}
