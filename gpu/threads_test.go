//go:build linux && (amd64 || arm64)

package gpu_test

import (
	"os"
	"testing"

	"github.com/penstock-go/penstock/loader"
)

// TestLoopsLeaveNoThreads: each loop binds the context to a thread of its own.
func TestLoopsLeaveNoThreads(t *testing.T) {
	threads := func() int {
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Skip(err)
		}
		return len(tasks)
	}
	d := open(t)
	s := staged(t, d, pinned(t, d), numbers(8), 2, loader.BatchSize(4))
	before := threads()
	for epoch := range 300 {
		for _, err := range s.Epoch(t.Context(), epoch) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if after := threads(); after > before+100 {
		t.Errorf("%d threads before, %d after", before, after)
	}
}
