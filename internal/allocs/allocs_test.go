package allocs_test

import (
	"testing"

	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/testenv"
)

// counted skips a test under the race detector, where PerRun counts nothing.
func counted(t *testing.T) {
	if testenv.Race {
		t.Skip("nothing is counted here")
	}
}

var kept []byte // so that what it holds is on the heap

func TestEveryCallsAllocationsAreCounted(t *testing.T) {
	counted(t)
	two := func() { kept = make([]byte, 100); kept = make([]byte, 1<<20) }
	if got := allocs.PerRun(0, 10, two); got != 2 {
		t.Errorf("got %v allocations, want 2", got)
	}
	if got := allocs.PerRun(0, 10, func() {}); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
	if got := allocs.Bytes(0, two); got < 1<<20+100 || got > 2<<20 {
		t.Errorf("got %d bytes, want 1 MiB", got)
	}
}

// TestOthersAllocationsAreNot has allocations that come with some calls only, as those of other
// goroutines and of the garbage collector do.
func TestOthersAllocationsAreNot(t *testing.T) {
	counted(t)
	for _, good := range []int{0, 1, 5} { // the trial without them
		calls := 0
		f := func() {
			if calls++; calls <= 4*good { // with the call before those that count
				kept = make([]byte, 1<<10)
			}
		}
		if got := allocs.PerRun(0, 3, f); got != 0 || calls < 4*good {
			t.Errorf("trial %d without allocations: got %v after %d calls", good, got, calls)
		}
		calls = 0
		if got := allocs.Bytes(100, func() {
			if calls++; calls <= good {
				kept = make([]byte, 1<<20)
			}
		}); got > 100 {
			t.Errorf("trial %d without allocations: got %d bytes", good, got)
		}
	}
}

func TestTrialsEnd(t *testing.T) {
	counted(t)
	calls := 0
	if got := allocs.PerRun(1, 1, func() { calls++; kept, kept = make([]byte, 1), make([]byte, 1) }); got != 2 || calls != 20 {
		t.Errorf("got %v after %d calls, want 2 after 20", got, calls)
	}
	calls = 0
	if got := allocs.PerRun(2, 1, func() { calls++; kept, kept = make([]byte, 1), make([]byte, 1) }); got != 2 || calls == 20 {
		t.Errorf("got %v after %d calls, want 2 after fewer than 20", got, calls)
	}
}
