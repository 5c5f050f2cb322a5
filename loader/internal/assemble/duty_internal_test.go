package assemble

import (
	"testing"
	"time"
)

// TestWorkersGoOnWithoutTheMutex: while the batch that is waited for, or a worker's own, has rows left, the worker needs
// no mutex that others may hold.
func TestWorkersGoOnWithoutTheMutex(t *testing.T) {
	team := new(Team)
	team.active.Store(1)
	l, wanted, own := &Loop{t: team}, new(Job), new(Job)
	for _, j := range []*Job{wanted, own} {
		j.claims.Store(1 << 32) // one row
	}
	l.wanted.Store(wanted)
	w := &worker{t: team, own: own}
	team.mu.Lock()
	got := make(chan *Job)
	go func() {
		for range 2 {
			j, _ := l.duty(w)
			j.claim(1)
			got <- j
		}
	}()
	for i, want := range []*Job{wanted, own} {
		select {
		case j := <-got:
			if j != want {
				t.Fatalf("batch %d is not the %s", i, []string{"wanted one", "worker's own"}[i])
			}
		case <-time.After(time.Minute):
			t.Fatalf("batch %d: the worker waits for the mutex", i)
		}
	}
}
