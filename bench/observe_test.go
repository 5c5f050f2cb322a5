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

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/live"
	"github.com/penstock-go/penstock/loader/trace"
)

// BenchmarkObserve compares loaders with observers with one that has none, in processor time of the whole process.
// "hooks" counts batches, samples, waits and the time of the loop body, as metrics do. "slowest" lists the slowest
// samples. "timeline" writes every sample and its stages to a file. "view" is live.View, of which the page and a
// line are written about twice a second.
//
//	go test -run '^$' -bench Observe -count 20 ./bench
func BenchmarkObserve(b *testing.B) {
	tiny := dataset.Func(1<<18, dataset.Spec{{Name: "x", Dtype: dataset.Int64}}, func(_ context.Context, i int, dst dataset.Slot) error {
		dataset.Set(dst, 0, int64(i))
		return nil
	})
	photos := open(b, folder(b, bench.Cell{Work: "eval", Size: 224, Samples: 512}))
	for _, name := range []string{"none", "hooks", "view"} {
		b.Run("data=tiny/side="+name, func(b *testing.B) { observed(b, tiny, 64, name) })
	}
	for _, name := range []string{"none", "hooks", "slowest", "timeline", "view"} {
		b.Run("data=photos/side="+name, func(b *testing.B) { observed(b, photos, 32, name) })
	}
}

func observed(b *testing.B, ds dataset.Dataset, batch int, name string) {
	hooks, look := observer(b, name)
	l := newLoader(b, ds, loader.Workers(2), loader.BatchSize(batch), loader.Observe(hooks))
	n, looked, begun := 0, time.Now(), processorTime(b)
	for b.Loop() {
		epoch(b, l, n)
		n++
		if time.Since(looked) > time.Second/2 {
			look()
			looked = time.Now()
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(processorTime(b)-begun)/float64(n*ds.Len()), "CPU-ns/sample")
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
	var batches, samples, waited, body atomic.Int64
	return loader.Trace{
		BatchDelivered: func(b loader.BatchInfo, took time.Duration) {
			batches.Add(1)
			samples.Add(int64(b.Samples))
			waited.Add(int64(took))
		},
		BatchEnded: func(_ loader.BatchInfo, took time.Duration) { body.Add(int64(took)) },
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
