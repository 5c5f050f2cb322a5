package bench_test

import (
	"context"
	"errors"
	"math"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/model"
	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// slowSamples take 10 ms each without using the processor, so that a synctest bubble gives
// exact waits for any number of workers.
func slowSamples(n int) dataset.Dataset {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Float32, Shape: dataset.Shape{}}}
	return dataset.Func(n, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		time.Sleep(10 * time.Millisecond)
		dataset.Set(dst, 0, float32(1))
		return nil
	})
}

func TestPeaksAndSlowFirstBatchAreGoneWithHelp(t *testing.T) {
	const batch, workers, batches = 16, 4, 33
	for _, help := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l, err := loader.New(slowSamples(batch*batches), loader.Workers(workers), loader.BatchSize(batch), loader.Help(help))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			m, err := bench.Epoch(t.Context(), l.Epoch(t.Context(), 0), nil)
			if err != nil {
				t.Fatal(err)
			}
			r := analysis.NewRhythm(m.Waits, workers)
			if got, want := r.Peaks(), !help; got != want {
				t.Errorf("Help(%v): peaks %v, want %v: %+v", help, got, want, r)
			}
			first := 160 * time.Millisecond // one worker's whole batch
			late := time.Duration(0)
			if help {
				first /= workers
				late = 10 * time.Millisecond // a worker that begins before the loop waits may begin the second batch
			}
			if got := time.Duration(math.Round(m.FirstBatch * 1e9)); got < first || got > first+late {
				t.Errorf("Help(%v): first batch after %v, want %v to %v", help, got, first, first+late)
			}
			if got, want := m.Seconds, batch*batches*0.010/workers; got < want-1e-9 || got > want+0.16 {
				t.Errorf("Help(%v): an epoch took %v s, want about %v", help, got, want)
			}
		})
	}
}

func TestEpochTellsWaitingFromTheBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := loader.New(slowSamples(6), loader.Workers(0), loader.BatchSize(2))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		m, err := bench.Epoch(t.Context(), l.Epoch(t.Context(), 0), func(context.Context, *loader.Batch) error {
			time.Sleep(50 * time.Millisecond)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name      string
			got, want float64
		}{
			{"samples", float64(m.Samples), 6}, {"waits", float64(len(m.Waits)), 3}, {"first", m.FirstBatch, 0.02},
			{"waiting", m.Waiting, 0.06}, {"compute", m.Compute, 0.15}, {"loading end", m.LoadingEnd, 0.16}, {"seconds", m.Seconds, 0.21},
		} {
			if math.Abs(c.got-c.want) > 1e-9 {
				t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
			}
		}
	})
}

func TestTheFirstBatchsProfileEndsWithIt(t *testing.T) {
	m, err := bench.Run{Cell: bench.Cell{Study: result.Profile, Config: result.Config{Batch: 2, Workers: 2, Span: result.FirstBatch}}, Dataset: blankImages(640, 8)}.Once(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if m.Samples != 2 || len(m.Waits) != 1 || m.Seconds != m.Waiting+m.Transfer {
		t.Errorf("%d samples in %v s, want 2 in %v s: the end of workers does not count", m.Samples, m.Seconds, m.Waiting+m.Transfer)
	}
}

func TestAConsumerTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looked := 0
		r := bench.Run{Cell: bench.Cell{Study: result.EndToEnd, Speed: 20, Config: result.Config{Batch: 2, Workers: 0}}, Dataset: slowSamples(6),
			Look: func(*loader.Batch) error { looked++; return nil }}
		m, err := r.Once(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(m.Transfer-3e-9) > 1e-12 || math.Abs(m.Compute-0.303) > 1e-6 || math.Abs(m.EndToEnd-0.363) > 1e-6 || looked != 3 {
			t.Errorf("transfer %v s, compute %v, end to end %v, %d looks: want 8 bytes each at 6 GB/s, 0.303, 0.363 and 3", m.Transfer, m.Compute, m.EndToEnd, looked)
		}
	})
}

func TestEndToEndCountsAllThatAreAsked(t *testing.T) {
	const rows = 2
	net, err := model.New("conv-small", rows, 64, "cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer net.Close()
	m, err := bench.Run{Cell: bench.Cell{Study: result.EndToEnd, Config: result.Config{Batch: rows, Workers: 2}}, Dataset: blankImages(2*rows+1, 64), Net: net}.Once(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if m.Samples != 2*rows+1 || len(m.Waits) != 3 || m.Allocations == 0 || m.AllocatedBytes == 0 || m.Compute == 0 || m.FirstBatch != m.Waits[0] {
		t.Errorf("measured: %+v", m)
	}
	if m.LoadingEnd == 0 || m.LoadingEnd > m.EndToEnd || m.Waiting+m.Compute > m.EndToEnd {
		t.Errorf("loading ended after %v s, waiting %v and compute %v of %v s", m.LoadingEnd, m.Waiting, m.Compute, m.EndToEnd)
	}
}

// shared gives nearly the same memory to all slabs: each begins 64 bytes further, so that no two write to the same byte of
// their pages.
type shared struct {
	memory []byte
	given  int
}

func (s *shared) Alloc(n int) ([]byte, error) {
	s.given++
	return s.memory[64*s.given:][:n], nil
}

func (*shared) Free([]byte) error { return nil }

// TestTheBudgetThinsNoCell: slabs of 2·workers+1 batches are more than the loader's default of 2 GiB here.
func TestTheBudgetThinsNoCell(t *testing.T) {
	const size = 1 << 27
	ds := dataset.Func(1, dataset.Spec{{Name: "x", Dtype: dataset.Uint8, Shape: dataset.Shape{size}}}, func(context.Context, int, dataset.Slot) error { return nil })
	r := bench.Run{Cell: bench.Cell{Config: result.Config{Batch: 1, Workers: 8}}, Options: []loader.Option{loader.Memory(&shared{memory: make([]byte, size+4096)})}, Dataset: ds}
	if err := r.Open(); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got := r.Config.InFlight; got != 17 {
		t.Errorf("%d batches in flight, want 17", got)
	}
}

// blankImages are images of zeros.
func blankImages(n, size int) dataset.Dataset {
	spec := dataset.Spec{{Name: "image", Dtype: dataset.Float32, Shape: dataset.Shape{3, size, size}}}
	return dataset.Func(n, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		clear(dataset.Row[float32](dst, 0))
		return nil
	})
}

func TestInferenceRunsWholeBatches(t *testing.T) {
	calls := 0
	m, err := bench.Inferred(t.Context(), 2, 3, func() error { calls++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if m.Samples != 4 || calls != 3 || m.PerItem == 0 || m.PerItem != m.Seconds/4 {
		t.Errorf("measured: %+v in %d calls, want 4 images in 3", m, calls)
	}
}

func TestEpochEndsWithTheFirstError(t *testing.T) {
	l, err := loader.New(slowSamples(4), loader.BatchSize(1))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	broken := errors.New("broken")
	if _, err := bench.Epoch(t.Context(), l.Epoch(t.Context(), 0), func(context.Context, *loader.Batch) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("the body's error: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	running, cancelled := context.WithCancel(t.Context())
	if _, err := bench.Epoch(ctx, l.Epoch(ctx, 0), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the loader's error: got %v", err)
	}
	r := bench.Run{Cell: bench.Cell{Config: result.Config{Batch: 1, ConsumerSeconds: 3600}}, Dataset: slowSamples(4)}
	r.Look = func(*loader.Batch) error { cancelled(); return nil }
	if _, err := r.Once(running); !errors.Is(err, context.Canceled) {
		t.Errorf("a consumer in vain: got %v", err)
	}
}

// TestWatchSeesTheBeginningAndTheEnd, and the 0.1 s of a processor that the process uses
// meanwhile. That takes longer where other programs use the processors, too.
func TestWatchSeesTheBeginningAndTheEnd(t *testing.T) {
	used := func() float64 {
		p := process.Process{Pid: int32(os.Getpid())}
		times, err := p.TimesWithContext(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return times.User + times.System
	}
	stop := bench.Watch(t.Context(), time.Hour)
	begun, before := time.Now(), used()
	for x := 1.0; used() < before+0.1; {
		for range 100_000 {
			x = math.Sqrt(x + 1)
		}
	}
	least := time.Since(begun).Seconds()
	seen := stop()
	if len(seen) != 2 || seen[0].RSS == 0 || seen[1].Seconds < least || seen[1].CPUPercent*seen[1].Seconds < 100*0.09 {
		t.Errorf("seen: %+v, want 0.1 s of a processor in %v s or more", seen, least)
	}
}

// The committed results show this in nine of ten rounds.
func TestKeptWaitsHavePeaksWithoutHelpAlone(t *testing.T) {
	records, err := result.ReadFile("results/throttled.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	rounds, with := map[string]int{}, map[string]int{}
	for _, r := range records {
		if r.Config.Workers < 2 {
			continue
		}
		rounds[r.Config.Help]++
		if analysis.NewRhythm(r.Measured.Waits, r.Config.Workers).Peaks() {
			with[r.Config.Help]++
		}
	}
	if n := rounds[result.HelpOn]; n < 12 || 10*with[result.HelpOn] > n {
		t.Errorf("with Help: peaks in %d of %d rounds, want next to none", with[result.HelpOn], n)
	}
	if n := rounds[result.HelpOff]; n < 12 || 10*with[result.HelpOff] < 9*n {
		t.Errorf("without Help: peaks in %d of %d rounds, want them in nearly all", with[result.HelpOff], n)
	}
}
