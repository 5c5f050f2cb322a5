//go:build unix

package bench_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/live"
	"github.com/penstock-go/penstock/loader/trace"
	"github.com/penstock-go/penstock/transform"
)

// BenchmarkObserve compares loaders with observers with one that has none, in processor
// time of the whole process. "hooks" counts batches, samples, waits and the time of the loop
// body, as metrics do. "slowest" lists the slowest samples. "timeline" writes every sample
// and its stages to a file. "view" is live.View, of which the page and a line are written
// about twice a second.
//
//	go test -run '^$' -bench Observe -benchtime 30s ./bench
func BenchmarkObserve(b *testing.B) {
	tiny := dataset.Func(sized(1<<14, 1<<20, 1<<20), dataset.Spec{{Name: "x", Dtype: dataset.Int64}}, func(_ context.Context, i int, dst dataset.Slot) error {
		dataset.Set(dst, 0, int64(i))
		return nil
	})
	for _, work := range []struct {
		name  string
		ds    func(b *testing.B) dataset.Dataset
		batch int
		sides []string
	}{
		{"samples of 50 ns", func(*testing.B) dataset.Dataset { return tiny }, 64, []string{"hooks", "view"}},
		{"photos", func(b *testing.B) dataset.Dataset { return photos(b, transform.Eval(224)) }, 32, []string{"hooks", "slowest", "timeline", "view"}},
	} {
		b.Run(work.name, func(b *testing.B) {
			ds := work.ds(b)
			var sides []side
			for _, name := range append(work.sides, "none") {
				hooks, look := observer(b, name)
				l := newLoader(b, ds, loader.Workers(2), loader.BatchSize(work.batch), loader.Observe(hooks))
				n, looked := 0, time.Now()
				sides = append(sides, side{name, func() time.Duration {
					begun := processorTime(b)
					n++
					epoch(b, l, n)
					if time.Since(looked) > time.Second/2 {
						look()
						looked = time.Now()
					}
					return processorTime(b) - begun
				}})
			}
			compare(b, ds.Len(), sides...)
		})
	}
}

// observer is an observer, and how it is looked at.
func observer(b *testing.B, name string) (hooks loader.Trace, look func()) {
	switch look = func() {}; name {
	case "hooks":
		return counting(), look
	case "slowest":
		return trace.Slowest(10).Trace(), look
	case "view":
		var view live.View
		return view.Trace(name), func() {
			view.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
			view.Lines(io.Discard, time.Hour)()
		}
	case "timeline":
		f, err := os.Create(filepath.Join(b.TempDir(), "trace.json"))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { f.Close() })
		return trace.File(f), look
	}
	return loader.Trace{}, look
}

// counting has hooks as metrics need them, none of which is called per sample.
func counting() loader.Trace {
	var batches, samples, waited, body, memory atomic.Int64
	return loader.Trace{
		BatchDelivered: func(b loader.BatchInfo, took time.Duration) {
			batches.Add(1)
			samples.Add(int64(b.Samples))
			waited.Add(int64(took))
		},
		BatchEnded:   func(_ loader.BatchInfo, took time.Duration) { body.Add(int64(took)) },
		MemoryWaited: func(_ int, took time.Duration) { memory.Add(int64(took)) },
	}
}

// processorTime is the time of all processors that this process has used.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
