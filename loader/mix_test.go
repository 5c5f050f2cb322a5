package loader_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// mixture is one of 30 samples and of 15, with 28 draws per epoch.
func mixture(t *testing.T, stages ...sampler.Stage) *sampler.Mixture {
	t.Helper()
	m, err := sampler.Mix([]sampler.Source{
		{Samples: 30, Sampler: sampler.Shuffle(30, 1)},
		{Samples: 15, Sampler: sampler.Shuffle(15, 2)},
	}, stages...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Whatever the ranks and workers before and after a position are, together they draw what one
// rank draws.
func TestMixturesResumeOnOtherRanks(t *testing.T) {
	const until = 3
	m := mixture(t, sampler.Stage{Weights: []float64{2, 1}, Draws: 10}, sampler.Stage{Proportions: []int{1, 2}, Draws: 18})
	loaders := func(world, workers int) (ranks []*loader.Loader) {
		for rank := range world {
			ranks = append(ranks, loadertest.New(t, &fake{n: 45}, loader.Sampler(m), loader.BatchSize(2), loader.Workers(workers), loader.Ranks(rank, world, sampler.KeepExact)))
		}
		return ranks
	}
	want := slices.Concat(collect(t, loaders(1, 1)[0], 0, until)...)
	slices.Sort(want)
	for first := 1; first <= 3; first++ {
		for second := 1; second <= 3; second++ {
			for _, steps := range []int{1, 3, 7, 11} {
				var got []int64
				var at loader.Position
				for _, l := range loaders(first, second) {
					n := 0
					for b, err := range l.Epochs(t.Context(), 0, until) {
						if err != nil {
							t.Fatal(err)
						}
						got, at, n = append(got, loader.Values[int64](b, "x")...), b.Position(), n+1
						if n == steps {
							break
						}
					}
				}
				for _, l := range loaders(second, first) {
					for b, err := range l.From(t.Context(), at, until) {
						if err != nil {
							t.Fatal(err)
						}
						got = append(got, loader.Values[int64](b, "x")...)
					}
				}
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("%d steps on %d ranks, then %d ranks from %+v: got %v, want %v", steps, first, second, at, got, want)
				}
			}
		}
	}
}

// A position of a mixture is refused by one with other weights, unless it is said that this
// one begins in the same way.
func TestWeightsChangeAtAPosition(t *testing.T) {
	old := mixture(t, sampler.Stage{Proportions: []int{3, 1}, Draws: 28})
	changed := mixture(t, sampler.Stage{Proportions: []int{3, 1}, Draws: 12}, sampler.Stage{Proportions: []int{1, 3}, Draws: 16})
	loads := func(m *sampler.Mixture) *loader.Loader {
		return loadertest.New(t, &fake{n: 45}, loader.Sampler(m), loader.BatchSize(4))
	}
	var at loader.Position
	n := 0
	for b, err := range loads(old).Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if at, n = b.Position(), n+1; n == 3 {
			break
		}
	}
	for _, err := range loads(changed).From(t.Context(), at, 1) {
		if err == nil || !strings.Contains(err.Error(), old.Identity()) {
			t.Errorf("got %v, want an error that names %s", err, old.Identity())
		}
		break
	}
	at.Order = changed.Identity()
	var got, want []int64
	for b, err := range loads(changed).From(t.Context(), at, 1) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, loader.Values[int64](b, "x")...)
	}
	order := changed.Epoch(0)
	for k := 12; k < order.Len(); k++ {
		want = append(want, int64(order.At(k)))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := changed.Drawn(at.Epoch, at.Draw), []int{9, 3}; !slices.Equal(got, want) {
		t.Errorf("at the position the sources have given %v, want %v", got, want)
	}
}
