package dataset

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/penstock-go/penstock/internal/prng"
)

// Subset is the samples of ds at indices, in that order, as in PyTorch's Subset.
// An index may occur more than once. An index out of range is an error.
func Subset(ds Dataset, indices []int) (Dataset, error) {
	if err := needsLength("Subset", ds); err != nil {
		return nil, err
	}
	n := ds.Len()
	for k, i := range indices {
		if i < 0 || i >= n {
			return nil, fmt.Errorf("dataset: Subset: index %d at place %d: want one from 0 to %d", i, k, n-1)
		}
	}
	return &subset{ds, slices.Clone(indices)}, nil
}

// Indices are the indices in the underlying dataset of the samples of ds, if [Subset] or one of
// the splits made it, as PyTorch's Subset.indices: for the weights or labels of a part.
// Otherwise they are nil. The slice is a copy.
func Indices(ds Dataset) []int {
	if s, ok := ds.(*subset); ok {
		return slices.Clone(s.indices)
	}
	return nil
}

type subset struct {
	inner   Dataset
	indices []int
}

func (s *subset) Len() int   { return len(s.indices) }
func (s *subset) Spec() Spec { return s.inner.Spec() }

func (s *subset) Name(i int) string {
	if CheckIndex(i, s.Len()) != nil {
		return ""
	}
	return Name(s.inner, s.indices[i])
}

func (s *subset) Foresee(f Future) (stop func()) {
	return Foresee(s.inner, translated{f, func(indices []int) []int {
		inner := indices[:0]
		for _, i := range indices {
			if CheckIndex(i, s.Len()) == nil {
				inner = append(inner, s.indices[i])
			}
		}
		return inner
	}})
}

// translate appends the inner dataset's indices, up to the first that is out of range.
func (s *subset) translate(to, indices []int) ([]int, error) {
	for _, i := range indices {
		if err := CheckIndex(i, s.Len()); err != nil {
			return to, err
		}
		to = append(to, s.indices[i])
	}
	return to, nil
}

func (s *subset) Open() (Reader, error) {
	r, err := s.inner.Open()
	if err != nil {
		return nil, err
	}
	one := subsetReader{r, s}
	if b, ok := r.(BatchReader); ok {
		return &subsetBatchReader{one, b, nil}, nil
	}
	return one, nil
}

type subsetReader struct {
	Reader
	subset *subset
}

func (r subsetReader) Place(ctx context.Context, i int, dst Slot) error {
	if err := CheckIndex(i, r.subset.Len()); err != nil {
		return err
	}
	return r.Reader.Place(ctx, r.subset.indices[i], dst)
}

func (r subsetReader) PlaceParts(ctx context.Context, i, f int, dst Slot) (int, io.ReaderAt, error) {
	if err := CheckIndex(i, r.subset.Len()); err != nil {
		return 0, nil, err
	}
	return placeParts(ctx, r.Reader, r.subset.indices[i], f, dst)
}

type subsetBatchReader struct {
	subsetReader
	batch BatchReader
	inner []int // the batch's indices in the inner dataset
}

func (r *subsetBatchReader) PlaceBatch(ctx context.Context, indices []int, dst Slots) error {
	var err error
	if r.inner, err = r.subset.translate(r.inner[:0], indices); err != nil {
		return err
	}
	return r.batch.PlaceBatch(ctx, r.inner, dst)
}

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
