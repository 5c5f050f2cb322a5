package dataset_test

import (
	"fmt"
	"hash/crc32"
	"sync/atomic"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// epochs is a checksum of every batch of three shuffled epochs.
func epochs(t *testing.T, ds dataset.Dataset, workers int) string {
	t.Helper()
	l, err := loader.New(ds, loader.Workers(workers), loader.BatchSize(7), loader.Shuffle(true))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var sums []uint32
	for batch, err := range l.Epochs(t.Context(), 0, 3) {
		if err != nil {
			t.Fatal(err)
		}
		sum := crc32.ChecksumIEEE(fmt.Append(nil, batch.Offsets("text"), batch.Offsets("boxes"),
			batch.Strings("text"), loader.Values[int64](batch, "label"), loader.Values[float32](batch, "boxes")))
		sums = append(sums, sum)
	}
	return fmt.Sprint(sums)
}

func TestCachedEpochsAreThoseOfTheDataset(t *testing.T) {
	const n = 100
	want := epochs(t, notes(n, make([]atomic.Int32, n)), 1)
	for _, limit := range []int64{0, 10_000, 1 << 20} {
		for _, workers := range []int{0, 1, 9} {
			reads := make([]atomic.Int32, n)
			one := notes(n, reads)
			for name, ds := range map[string]dataset.Dataset{"samples": one, "batches": gather{one}} {
				for i := range reads {
					reads[i].Store(0)
				}
				if got := epochs(t, cached(t, ds, limit), workers); got != want {
					t.Errorf("%s, limit %d, %d workers: batches differ", name, limit, workers)
				}
				for i := range reads {
					if got := reads[i].Load(); limit == 1<<20 && got != 1 {
						t.Errorf("%s, %d workers: sample %d was read %d times, want once", name, workers, i, got)
					}
				}
			}
		}
	}
}
