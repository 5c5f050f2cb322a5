package dataset

import (
	"fmt"
	"math"

	"github.com/penstock-go/penstock/internal/torchrand"
)

// StratifiedSplit divides ds at random into datasets of the given fractions, which
// add up to 1, so that every label has the same fractions too, as exactly as
// whole samples allow: of a label with m samples, a dataset of fraction f gets m·f
// rounded up or down. Labels has one for every sample. The samples of a dataset
// keep the order of ds. The same arguments give the same datasets.
//
// Where a label's samples do not divide evenly, those that remain go to the
// datasets that lack most so far, so that rare labels do not all end in the first.
// [RandomSplit] says when fractions are an error; as many labels as samples
// must be given.
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
	random := torchrand.New(seed)
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

// shareOfClass turns fractions of n into lengths. Lacks is by how much the parts
// are shorter than their fractions before, and then after.
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
		if most < 0 { // fractions lack a billionth of very many samples
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
// which add up to 1, without dividing a group: a patient's samples, or a
// video's frames, are all in one dataset, so that none of them is tested on
// what another one has taught. Groups names the group of every sample. The
// samples of a dataset keep the order of ds. The same arguments give the same
// datasets.
//
// Groups in random order go where most samples are lacking, so that no dataset is
// larger than its fraction by more than the largest group. It is an error if a
// dataset of a fraction above 0 gets no group. [RandomSplit] says when fractions
// are an error; as many names of groups as samples must be given.
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
	for _, g := range torchrand.Perm(len(members), seed) {
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

// classify lists the samples of every class, in the order in which they first
// come.
func classify[C comparable](name, what string, ds Dataset, of []C) ([][]int, error) {
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

// inParts has a dataset for each of n parts; part is that of every sample.
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
