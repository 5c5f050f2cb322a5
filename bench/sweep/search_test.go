package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/penstock-go/penstock/bench/analysis"
)

func settings(n int) (list []analysis.Setting) {
	for i := range n {
		list = append(list, analysis.Setting{Batch: 32 << (i % 4), Workers: i/4 + 1})
	}
	return list
}

// trial is a race of settings with random true times, of which the winner's is 1, and with noise of at
// most a share of them.
func trial(seed uint64, noise, margin float64) (winner int, all []candidate, measured int) {
	r := rand.New(rand.NewPCG(seed, 0))
	list := settings(12)
	truth := map[analysis.Setting]float64{}
	winner = r.IntN(len(list))
	for i, s := range list {
		truth[s] = 1 + 2*r.Float64()*r.Float64()
		if i == winner {
			truth[s] = 1
		}
	}
	all, err := race{rounds: 6, margin: margin, measure: func(_ context.Context, s analysis.Setting, _ int) (float64, error) {
		measured++
		return truth[s] * (1 + noise*(2*r.Float64()-1)), nil
	}}.run(context.Background(), list)
	if err != nil {
		panic(err)
	}
	return winner, all, measured
}

func TestTheTrueWinnerIsNeverStoppedWhileNoiseIsBelowTheMargin(t *testing.T) {
	most := 0
	for seed := range uint64(3000) {
		winner, all, measured := trial(seed, 0.024, 0.05)
		if all[winner].stopped {
			t.Fatalf("seed %d: the winner was stopped: %v", seed, all[winner].times)
		}
		most += measured
	}
	if mean := float64(most) / 3000; mean > 0.6*6*12 {
		t.Errorf("%.0f measurements on average, of 72 without the rule", mean)
	}
}

func TestNoiseBeyondTheMarginWidensIt(t *testing.T) {
	stopped := 0
	for seed := range uint64(1000) {
		if winner, all, _ := trial(seed, 0.15, 0.0001); all[winner].stopped {
			stopped++
		}
	}
	if stopped > 80 { // 60; 237 without the spread
		t.Errorf("of 1000 winners %d were stopped", stopped)
	}
}

func TestWhatCannotWinIsMeasuredOnce(t *testing.T) {
	list := settings(3)
	times := map[analysis.Setting]float64{list[0]: 1, list[1]: 2.5, list[2]: 1.2}
	var turns []int
	all, err := race{rounds: 4, margin: 0.05,
		measure: func(_ context.Context, s analysis.Setting, round int) (float64, error) {
			turns = append(turns, s.Batch)
			return times[s], nil
		},
	}.run(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{2, 1, 2} { // the third needs two rounds, and then one is left
		if got := len(all[i].times); got != want {
			t.Errorf("%v: %d rounds, want %d", all[i].Setting, got, want)
		}
	}
	if want := []int{32, 64, 128, 128, 32}; len(turns) != len(want) || turns[3] != want[3] {
		t.Errorf("turns %v, want %v", turns, want)
	}
}

func TestAnErrorKeepsWhatWasMeasured(t *testing.T) {
	broken := errors.New("broken")
	n := 0
	all, err := race{rounds: 3, measure: func(context.Context, analysis.Setting, int) (float64, error) {
		if n++; n == 3 {
			return 0, broken
		}
		return 1, nil
	}}.run(t.Context(), settings(4))
	if !errors.Is(err, broken) || len(all[0].times) != 1 || len(all[1].times) != 1 || len(all[2].times) != 0 {
		t.Errorf("%v: %v", err, all)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (race{rounds: 1}).run(ctx, settings(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
