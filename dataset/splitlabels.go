package dataset

import (
	"fmt"
	"math"

	"github.com/penstock-go/penstock/internal/prng"
)

// StratifiedSplit divides ds at random into datasets of the given fractions,
// which add up to 1. Every label is divided by the same fractions, as exactly
// as whole samples allow: of a label with m samples, a dataset of fraction f
// gets m·f, rounded up or down. labels has the label of every sample. The
// samples of a dataset keep the order of ds. The same arguments give the same
// datasets.
//
// Where the samples of a label do not divide evenly, those that remain go to
// the datasets that are the furthest below their fractions so far. So rare
// labels do not all go to the first dataset. The rules for fractions are those
// of [RandomSplit]. It is an error if len(labels) is not ds.Len().
func StratifiedSplit[L comparable](ds Dataset, labels []L, fractions []float64, seed uint64) ([]Dataset, error) {
	const name = "StratifiedSplit"
	classes, err := classify(name, "labels", ds, labels)
	if err != nil {
		return nil, err
	}
	if err := checkFractions(name, fractions); err != nil {
		return nil, err
	}
	part := make([]int, ds.Len()) // of every sample
	lacks := make([]float64, len(fractions))
	random := prng.New(seed)
	for _, c := range random.Perm(len(classes)) {
		samples := classes[c]
		next := random.Perm(len(samples))
		for k, count := range shareOfClass(len(samples), fractions, lacks) {
			for _, i := range next[:count] {
				part[samples[i]] = k
			}
			next = next[count:]
		}
	}
	return inParts(ds, part, len(fractions)), nil
}

// shareOfClass turns fractions of n into lengths. lacks is how many samples the
// datasets are below their fractions; shareOfClass updates it.
func shareOfClass(n int, fractions, lacks []float64) []int {
	counts := make([]int, len(fractions))
	up := make([]bool, len(fractions)) // rounded up
	rest := n
	for k, f := range fractions {
		want := f * float64(n)
		counts[k] = min(int(want), rest)
		rest -= counts[k]
		lacks[k] += want - float64(counts[k])
	}
	for ; rest > 0; rest-- {
		most := -1
		for k, f := range fractions {
			if f > 0 && !up[k] && (most < 0 || lacks[k] > lacks[most]) {
				most = k
			}
		}
		if most < 0 { // the sum of fractions may be 1e-9 below 1, which is many of very many samples
			clear(up)
			rest++
			continue
		}
		counts[most]++
		up[most] = true
		lacks[most]--
	}
	return counts
}

// GroupedSplit divides ds at random into datasets of about the given fractions,
// which add up to 1, without dividing a group. A patient's samples, or the
// frames of a video, are all in one dataset, so that no test sample is from a
// patient seen in training. groups has the group of every sample. The samples
// of a dataset keep the order of ds. The same arguments give the same datasets.
//
// Groups are taken in random order. Each goes to the dataset that lacks the
// most samples, so no dataset exceeds its fraction by more than the largest
// group. It is an error if a dataset with a fraction above 0 gets no group.
// The rules for fractions are those of [RandomSplit]. It is an error if
// len(groups) is not ds.Len().
func GroupedSplit[G comparable](ds Dataset, groups []G, fractions []float64, seed uint64) ([]Dataset, error) {
	const name = "GroupedSplit"
	members, err := classify(name, "groups", ds, groups)
	if err != nil {
		return nil, err
	}
	if err := checkFractions(name, fractions); err != nil {
		return nil, err
	}
	lacks := make([]float64, len(fractions))
	for k, f := range fractions {
		lacks[k] = f * float64(ds.Len())
		if f == 0 {
			lacks[k] = math.Inf(-1)
		}
	}
	part := make([]int, ds.Len()) // of every sample
	taken := make([]int, len(fractions))
	for _, g := range prng.Perm(len(members), seed) {
		most := 0
		for k := range lacks {
			if lacks[k] > lacks[most] {
				most = k
			}
		}
		for _, i := range members[g] {
			part[i] = most
		}
		taken[most]++
		lacks[most] -= float64(len(members[g]))
	}
	for k, f := range fractions {
		if f > 0 && taken[k] == 0 {
			return nil, fmt.Errorf("dataset: GroupedSplit: fractions %v of %d groups: none is left for dataset %d", fractions, len(members), k)
		}
	}
	return inParts(ds, part, len(fractions)), nil
}

// classify lists the samples of every class. Classes are in the order of their
// first samples.
func classify[C comparable](name, what string, ds Dataset, of []C) ([][]int, error) {
	if err := needsLength(name, ds); err != nil {
		return nil, err
	}
	if len(of) != ds.Len() {
		return nil, fmt.Errorf("dataset: %s: %d %s for %d samples", name, len(of), what, ds.Len())
	}
	var classes [][]int
	number := map[C]int{}
	for i, c := range of {
		n, ok := number[c]
		if !ok {
			n = len(classes)
			number[c] = n
			classes = append(classes, nil)
		}
		classes[n] = append(classes[n], i)
	}
	return classes, nil
}

// inParts divides ds into n datasets. part has the dataset of every sample.
func inParts(ds Dataset, part []int, n int) []Dataset {
	indices := make([][]int, n)
	for i, k := range part {
		indices[k] = append(indices[k], i)
	}
	parts := make([]Dataset, n)
	for k := range parts {
		parts[k] = &subset{ds, indices[k]}
	}
	return parts
}
