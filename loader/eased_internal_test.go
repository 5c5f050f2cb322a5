package loader

import (
	"math/rand/v2"
	"testing"
	"time"
)

// withParked is a tuner that had so many workers until the loop body was the limit.
func withParked(t *testing.T, processors, before int) *tuner {
	t.Helper()
	u := newTuner(processors)
	u.set(before, "")
	for range 4 {
		u.step(window{took: 250 * time.Millisecond, samples: 1000, batches: 10, idle: time.Duration(before-1) * 250 * time.Millisecond})
	}
	if u.workers >= before || u.eased != before {
		t.Fatalf("%d workers, and %d were parked", u.workers, u.eased)
	}
	return u
}

// TestParkedWorkersDoNotComeBackAfterATrialWithoutThem, where the loop body was the limit
// long ago.
func TestParkedWorkersDoNotComeBackAfterATrialWithoutThem(t *testing.T) {
	u := withParked(t, 8, 64)
	c := curve{each: 100, most: 800, slower: 0.01}
	r := rand.New(rand.NewPCG(1, 2))
	most := 0
	for k := range 400 {
		u.step(c.window(u.workers, r))
		if k >= 200 {
			most = max(most, u.workers)
		}
	}
	if most > 24 {
		t.Errorf("up to %d workers, want the 8 that are needed, and trials of a few more", most)
	}
}

func TestParkedWorkersThatThereCannotBeDoNotComeBack(t *testing.T) {
	u := withParked(t, 4, 100)
	u.limit(30, "no more files can be opened")
	c := curve{each: 100, most: 1e6}
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		if u.step(c.window(u.workers, r)); u.workers > 30 {
			t.Fatalf("%d workers, want 30 at most", u.workers)
		}
	}
	if u.workers != 30 {
		t.Errorf("%d workers, want 30", u.workers)
	}
}

func TestATunerGoesBackWhereReadsTookLongOnlyAtFirst(t *testing.T) {
	u := newTuner(2)
	w := window{took: 250 * time.Millisecond, samples: 100, batches: 4, waited: 250 * time.Millisecond,
		reads: 100, reading: 450 * time.Millisecond, other: 50 * time.Millisecond}
	if u.decide(&w); u.workers != 25 {
		t.Fatalf("%d workers, want 25", u.workers)
	}
	w.reading, w.other = time.Millisecond, 25*250*time.Millisecond
	for range 2 {
		u.decide(&w)
	}
	if u.workers != 2 {
		t.Errorf("%d workers, want one per processor: %s", u.workers, u.reason)
	}
}

// TestATunerLeapsWhereStorageBecomesSlow although the speed has often changed before, so that
// it has become patient.
func TestATunerLeapsWhereStorageBecomesSlow(t *testing.T) {
	u := newTuner(2)
	const took = 250 * time.Millisecond
	u.patience, u.settles, u.leaps = 64, false, false
	fast := window{took: took, samples: 1000, batches: 100, waited: took, reads: 1000, reading: took / 100, known: 2 * took, other: 2 * took}
	slow := window{took: 2 * took, samples: 16, batches: 2, waited: 2 * took, reads: 16, reading: 4 * took, other: 8 * time.Millisecond}
	for _, w := range []window{fast, fast, fast, fast, slow, slow, slow} {
		u.decide(&w)
	}
	if u.workers < 32 {
		t.Errorf("%d workers after three windows, want 32 at least: %s", u.workers, u.reason)
	}
}
