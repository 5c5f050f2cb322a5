package dataset_test

import (
	"math"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset"
)

// split is the samples of the datasets, which must hold each of n once and in order.
func split(t *testing.T, n int, parts []dataset.Dataset, err error) [][]int {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var got [][]int
	for _, p := range parts {
		got = append(got, contents(t, p))
		if !slices.IsSorted(got[len(got)-1]) {
			t.Errorf("a part holds %v", got)
		}
	}
	all := slices.Concat(got...)
	slices.Sort(all)
	if want := contents(t, counted(t, n)); !slices.Equal(all, want) {
		t.Fatalf("the parts hold %v together", all)
	}
	return got
}

func TestStratifiedSplitKeepsTheSharesOfLabels(t *testing.T) {
	for name, c := range map[string]struct {
		label     func(i int) int
		n         int
		fractions []float64
	}{
		"even":         {func(i int) int { return i % 10 }, 500, []float64{.8, .2}},
		"uneven":       {func(i int) int { return int(math.Sqrt(float64(i))) }, 500, []float64{.7, .2, .1}},
		"many rare":    {func(i int) int { return i / 3 }, 900, []float64{.8, .2}},
		"single":       {func(i int) int { return i }, 100, []float64{.5, .25, .25}},
		"one label":    {func(int) int { return 7 }, 100, []float64{.5, .25, .25}},
		"nothing":      {func(int) int { return 7 }, 0, []float64{.5, .5}},
		"an empty one": {func(i int) int { return i % 3 }, 100, []float64{.5, 0, .5}},
	} {
		labels := make([]int, c.n)
		count := map[int]int{}
		for i := range labels {
			labels[i] = c.label(i)
			count[labels[i]]++
		}
		parts, err := dataset.StratifiedSplit(counted(t, c.n), labels, c.fractions, 1)
		for k, got := range split(t, c.n, parts, err) {
			if want := c.fractions[k] * float64(c.n); math.Abs(float64(len(got))-want) > 1.5 {
				t.Errorf("%s: part %d has %d samples of %d, want about %v", name, k, len(got), c.n, want)
			}
			of := map[int]int{}
			for _, i := range got {
				of[labels[i]]++
			}
			for label, m := range count {
				if want := c.fractions[k] * float64(m); math.Abs(float64(of[label])-want) >= 1 {
					t.Errorf("%s: part %d has %d samples of label %d, want %v", name, k, of[label], label, want)
				}
			}
		}
	}
}

func TestStratifiedSplitDrawsEverySampleEquallyOften(t *testing.T) {
	labels := []string{"a", "b", "a", "b", "b", "a", "b", "b", "c", "a"}
	counts := make([]int, len(labels))
	const seeds = 4000
	for seed := range uint64(seeds) {
		parts, err := dataset.StratifiedSplit(counted(t, len(labels)), labels, []float64{.5, .5}, seed)
		for _, i := range split(t, len(labels), parts, err)[0] {
			counts[i]++
		}
	}
	for i, c := range counts {
		if math.Abs(float64(c)-seeds/2) > 5*math.Sqrt(seeds/4) {
			t.Errorf("sample %d of label %s is in the first half %d times of %d", i, labels[i], c, seeds)
		}
	}
}

func TestGroupedSplitDividesNoGroup(t *testing.T) {
	const n = 1000
	groups := make([]int, n)
	largest := map[int]int{}
	for i := range groups {
		groups[i] = int(math.Sqrt(float64(i*7%n))) + i%2*100
		largest[groups[i]]++
	}
	most := 0
	for _, m := range largest {
		most = max(most, m)
	}
	fractions := []float64{.7, 0, .2, .1}
	firsts := map[int]bool{}
	for seed := range uint64(20) {
		parts, err := dataset.GroupedSplit(counted(t, n), groups, fractions, seed)
		home := map[int]int{}
		for k, got := range split(t, n, parts, err) {
			if want := fractions[k] * n; float64(len(got)) > want+float64(most) || want == 0 && len(got) > 0 {
				t.Errorf("part %d has %d samples, want %v", k, len(got), want)
			}
			for _, i := range got {
				if h, ok := home[groups[i]]; ok && h != k {
					t.Fatalf("group %d is in parts %d and %d", groups[i], h, k)
				}
				home[groups[i]] = k
			}
			if k == 3 {
				firsts[got[0]] = true
			}
		}
	}
	if len(firsts) < 5 {
		t.Errorf("20 seeds give %d splits", len(firsts))
	}
}

func TestSplitsAreReproducible(t *testing.T) {
	labels := []int{1, 2, 1, 2, 1, 2, 1, 2, 3, 3, 3, 3}
	for name, f := range map[string]func(seed uint64) ([]dataset.Dataset, error){
		"StratifiedSplit": func(seed uint64) ([]dataset.Dataset, error) {
			return dataset.StratifiedSplit(counted(t, len(labels)), labels, []float64{.5, .5}, seed)
		},
		"GroupedSplit": func(seed uint64) ([]dataset.Dataset, error) {
			return dataset.GroupedSplit(counted(t, len(labels)), labels, []float64{.5, .5}, seed)
		},
	} {
		parts, err := f(3)
		first := split(t, len(labels), parts, err)
		parts, err = f(3)
		if again := split(t, len(labels), parts, err); !slices.EqualFunc(first, again, slices.Equal) {
			t.Errorf("%s: %v, then %v", name, first, again)
		}
	}
}

func TestSplitsByLabelSayWhatIsWrong(t *testing.T) {
	ds := counted(t, 4)
	for want, f := range map[string]func() ([]dataset.Dataset, error){
		"dataset: StratifiedSplit: 3 labels for 4 samples": func() ([]dataset.Dataset, error) {
			return dataset.StratifiedSplit(ds, []int{1, 2, 3}, []float64{1}, 0)
		},
		"dataset: StratifiedSplit: fractions [0.5 0.6]: want a sum of 1, not 1.1": func() ([]dataset.Dataset, error) {
			return dataset.StratifiedSplit(ds, []int{1, 2, 3, 4}, []float64{.5, .6}, 0)
		},
		"dataset: GroupedSplit: 0 groups for 4 samples": func() ([]dataset.Dataset, error) {
			return dataset.GroupedSplit[string](ds, nil, []float64{1}, 0)
		},
		"dataset: GroupedSplit: fraction -1: want one from 0 to 1": func() ([]dataset.Dataset, error) {
			return dataset.GroupedSplit(ds, []int{1, 2, 3, 4}, []float64{1, -1}, 0)
		},
		"dataset: GroupedSplit: fractions [0.8 0.2] of 1 groups: none is left for dataset 1": func() ([]dataset.Dataset, error) {
			return dataset.GroupedSplit(ds, []int{1, 1, 1, 1}, []float64{.8, .2}, 0)
		},
	} {
		if _, err := f(); err == nil || err.Error() != want {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
}
