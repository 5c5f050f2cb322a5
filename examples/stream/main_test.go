package main

import (
	"errors"
	"testing"
)

func TestKilledTrainingEndsWithTheSameWeights(t *testing.T) {
	want, err := run(t.Context(), options{dir: t.TempDir(), lines: 2550, workers: 2, kill: -1, die: func() {}})
	if err != nil {
		t.Fatal(err)
	}
	if want[0] < 2.9 || want[0] > 3.1 {
		t.Errorf("learned the slope %g, want about 3", want[0])
	}
	dir := t.TempDir()
	for k, kill := range []int{0, 3, 21, -1} {
		got, err := run(t.Context(), options{dir: dir, lines: 2550, workers: k, kill: kill, die: func() {}})
		switch {
		case kill >= 0 && !errors.Is(err, errKilled):
			t.Fatalf("kill after %d batches: %v", kill, err)
		case kill < 0 && (err != nil || got != want):
			t.Errorf("got the weights %v, %v, want %v", got, err, want)
		}
	}
}
