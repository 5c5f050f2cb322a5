package dataset_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
)

// counted has the samples 0 to n-1.
func counted(t testing.TB, n int) dataset.Dataset {
	values := make([]int, n)
	for i := range values {
		values[i] = i
	}
	return datatest.Tensors(t, dataset.Named("x", values))
}

func contents(t testing.TB, ds dataset.Dataset) []int {
	got := make([]int, ds.Len())
	for i := range got {
		got[i] = dataset.ValuesOf[int](datatest.Sample(t, ds, i)["x"])[0]
	}
	return got
}

func TestRandomSplitIsPyTorchs(t *testing.T) {
	want := [][]int{{5, 6, 1}, {2, 0, 8, 9, 3, 7, 4}}
	lengths, err := dataset.RandomSplit(counted(t, 10), []int{3, 7}, 1)
	if err != nil {
		t.Fatal(err)
	}
	fractions, err := dataset.RandomSplit(counted(t, 10), []float64{.3, .7}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for k := range want {
		if got := contents(t, lengths[k]); !slices.Equal(got, want[k]) {
			t.Errorf("part %d by length is %v, want %v", k, got, want[k])
		}
		if got := contents(t, fractions[k]); !slices.Equal(got, want[k]) {
			t.Errorf("part %d by fraction is %v, want %v", k, got, want[k])
		}
	}
}

func TestRandomSplitSharesTheRemainderFromTheFirst(t *testing.T) {
	for _, c := range []struct {
		n         int
		fractions []float64
		want      []int
	}{
		{106, []float64{.1, .2, .3, .4}, []int{11, 22, 31, 42}},
		{3, []float64{.5, .5}, []int{2, 1}},
		{1, []float64{.5, .5}, []int{1, 0}},
		{10, []float64{1}, []int{10}},
		{10, []float64{.7, .2, .1}, []int{7, 2, 1}},
		{0, []float64{0, 1}, []int{0, 0}},
		{10, []float64{.5, .4999999995}, []int{6, 4}},
		{40, slices.Repeat([]float64{.05}, 20), slices.Repeat([]int{2}, 20)}, // 1 together, but 1.0000000000000002 if added without compensation
	} {
		parts, err := dataset.RandomSplit(counted(t, c.n), c.fractions, 1)
		if err != nil {
			t.Fatal(err)
		}
		var got, all []int
		for _, p := range parts {
			got = append(got, p.Len())
			all = append(all, contents(t, p)...)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d by %v: lengths %v, want %v", c.n, c.fractions, got, c.want)
		}
		slices.Sort(all)
		if want := contents(t, counted(t, c.n)); !slices.Equal(all, want) {
			t.Errorf("%d by %v: parts hold %v together", c.n, c.fractions, all)
		}
	}
}

func TestRandomSplitSaysWhatIsWrong(t *testing.T) {
	check := func(err error, want string) {
		t.Helper()
		if err == nil || err.Error() != want {
			t.Errorf("got error  %v\nwant       %s", err, want)
		}
	}
	for want, lengths := range map[string][]int{
		"dataset: RandomSplit: lengths [3 6]: want a sum of 10":                                                {3, 6},
		"dataset: RandomSplit: lengths []: want a sum of 10":                                                   {},
		"dataset: RandomSplit: lengths [3 8]: want 0 or more each, and a sum of 10":                            {3, 8},
		"dataset: RandomSplit: lengths [11 -1]: want 0 or more each, and a sum of 10":                          {11, -1},
		fmt.Sprintf("dataset: RandomSplit: lengths [%d 3]: want 0 or more each, and a sum of 10", math.MaxInt): {math.MaxInt, 3},
	} {
		_, err := dataset.RandomSplit(counted(t, 10), lengths, 0)
		check(err, want)
	}
	for want, fractions := range map[string][]float64{
		"dataset: RandomSplit: fractions [0.5 0.4]: want a sum of 1, not 0.9":                        {.5, .4},
		"dataset: RandomSplit: fractions []: want a sum of 1, not 0":                                 {},
		"dataset: RandomSplit: fractions [0.5 0.5000000001]: want a sum of 1, not 1.0000000001":      {.5, .5000000001}, // PyTorch accepts a sum a little below 1, not above
		"dataset: RandomSplit: fractions [0.5 0.499999999]: want a sum of 1, not 0.9999999989999999": {.5, .499999999},
		"dataset: RandomSplit: fraction -0.5: want one from 0 to 1":                                  {1, -.5},
	} {
		_, err := dataset.RandomSplit(counted(t, 10), fractions, 0)
		check(err, want)
	}
}
