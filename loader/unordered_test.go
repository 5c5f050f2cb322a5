package loader_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// TestUnorderedDeliveryIsLinear delivers thousands of batches while one is slow.
// What a batch allocates does not grow with the number of those before it.
func TestUnorderedDeliveryIsLinear(t *testing.T) {
	perBatch := func(n int) (bytes uint64) {
		synctest.Test(t, func(t *testing.T) {
			l := loadertest.New(t, slow(n, func(i int) time.Duration {
				if i == 0 {
					return time.Hour
				}
				return 0
			}), loader.Workers(2), loader.Unordered(true))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for _, err := range l.Epoch(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
			}
			runtime.ReadMemStats(&after)
			bytes = (after.TotalAlloc - before.TotalAlloc) / uint64(n)
		})
		return bytes
	}
	if few, many := perBatch(500), perBatch(10_000); many > 2*few {
		t.Errorf("%d bytes a batch for 10,000, %d for 500", many, few)
	}
}

// TestPositionsOfKeptBatchesStay takes the positions of an unordered epoch at its end
// and during it.
func TestPositionsOfKeptBatchesStay(t *testing.T) {
	l := loadertest.New(t, augmented(60), loader.Workers(4), loader.BatchSize(2), loader.Unordered(true))
	var batches []*loader.Batch
	var early []string
	for b, err := range l.Epochs(t.Context(), 0, 2) {
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b)
		early = append(early, text(t, b.Position()))
	}
	for k, b := range batches {
		if late := text(t, b.Position()); late != early[k] {
			t.Errorf("%v: position %s in the end, %s in its loop body", b, late, early[k])
		}
	}
}
