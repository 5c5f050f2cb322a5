package loader_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// A scaled load runs in simulated time, on as many processors as it has workers. What workers do
// one after the other takes no simulated time, so the load takes it instead.
type scaled struct {
	batch  int
	sample time.Duration // of a processor, on average
}

// What workers do one after the other, as docs/scaling.md has it: the mutex for a batch, twice what
// was measured, which the loop's goroutine waits for, and the claim of a row, as if all workers were
// always at the same batch.
const (
	locked  = 3 * time.Microsecond
	claimed = 100 * time.Nanosecond
)

// rate is the load's samples per second.
func (s scaled) rate(t *testing.T, workers int) (rate float64) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		claims := make(chan bool, 1)
		ds := &fake{n: (400*workers + s.batch - 1) / s.batch * s.batch}
		ds.place = func(_ context.Context, i int, dst dataset.Slot) error {
			claims <- true
			time.Sleep(claimed)
			<-claims
			time.Sleep(s.sample*3/4 + s.sample/2*time.Duration(i*7919%1000)/1000)
			dataset.Set(dst, 0, int64(i))
			return nil
		}
		l := loadertest.New(t, ds, loader.Workers(workers), loader.BatchSize(s.batch))
		begun := time.Now()
		for _, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(locked)
		}
		rate = float64(ds.n) / time.Since(begun).Seconds()
	})
	return rate
}

// TestManyProcessorsAreUsed in simulated time: the table of docs/scaling.md.
func TestManyProcessorsAreUsed(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector")
	}
	for _, c := range []struct {
		name string
		scaled
		most int     // processors
		part float64 // of what they could do
	}{
		{"photos", scaled{128, 800 * us}, 128, 0.95},
		{"photos in batches of 8", scaled{8, 800 * us}, 128, 0.95},
		{"preprocessed items", scaled{256, 40 * us}, 128, 0.95},
		{"items of 10 µs", scaled{64, 10 * us}, 64, 0.9},
		{"items of 1 µs", scaled{256, us}, 8, 0.75},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, n := range []int{1, 8, 32, 64, 128} {
				rate := c.rate(t, n)
				part := rate * c.sample.Seconds() / float64(n)
				text := fmt.Sprintf("%d processors: %.0f samples/s, %.2f of what they could do", n, rate, part)
				if t.Log(text); n <= c.most && part < c.part {
					t.Errorf("%s, want %.2f at least", text, c.part)
				}
			}
		})
	}
}
