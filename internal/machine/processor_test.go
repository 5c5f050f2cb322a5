package machine_test

import (
	"testing"
	"time"

	"github.com/penstock-go/penstock/internal/machine"
)

// TestProcessTimeGrowsWithComputing, however long that takes while other programs run.
func TestProcessTimeGrowsWithComputing(t *testing.T) {
	first, known := machine.ProcessTime()
	if !known {
		t.Skip("SKIPPED: the system does not tell the processor time of a process")
	}
	last := first
	for last < first+20*time.Millisecond {
		now, _ := machine.ProcessTime()
		if now < last {
			t.Fatalf("got %v after %v", now, last)
		}
		last = now
	}
}
