package loader_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

func TestStatsSayWhereTheTimeWent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := loadertest.New(t, twoStages(32), loader.Workers(1), loader.BatchSize(8))
		since := time.Now()
		for range l.Epoch(t.Context(), 0) {
		}
		took := time.Since(since)
		s := l.Stats()
		if s.Samples != 32 || s.Batches != 4 || s.Workers != 1 || s.Slabs != 3 {
			t.Errorf("got %+v", s)
		}
		want := []loader.StageTime{{Name: "read", Count: 32, Total: 96 * time.Millisecond}, {Name: "decode", Count: 32, Total: 160 * time.Millisecond}}
		if !slices.Equal(s.Stages, want) || s.Busy != 256*time.Millisecond {
			t.Errorf("stages %v, busy %v", s.Stages, s.Busy)
		}
		// The loop does nothing but wait.
		if s.Wait != took || s.FirstWait != 64*time.Millisecond {
			t.Errorf("took %v, wait %+v", took, s.Wait)
		}
		if s.Wait >= took+time.Millisecond || s.MemoryWait != 0 {
			t.Errorf("memory wait %v, want 0 for a loop that only waits", s.MemoryWait)
		}

		before := s
		for range l.Epoch(t.Context(), 1) {
			time.Sleep(time.Second) // now the workers wait for the loop
		}
		d := l.Stats().Sub(before)
		if d.Samples != 32 || d.Stages[1].Total != 160*time.Millisecond || d.Batches != 4 {
			t.Errorf("the second epoch alone: %+v", d)
		}
	})
}

// TestBusyLeavesOutWhatWorkersGiveAway has more workers than processors, and all of
// them compute. Nearly all their busy time is in stages.
func TestBusyLeavesOutWhatWorkersGiveAway(t *testing.T) {
	spin := func(d time.Duration) {
		for begun := time.Now(); time.Since(begun) < d; {
		}
	}
	ds := &fake{n: 400, place: func(_ context.Context, i int, dst dataset.Slot) error {
		dst.Stage(dataset.StageDecode)
		spin(200 * time.Microsecond)
		return nil
	}}
	for try := 1; ; try++ { // other programs may stop any single worker anywhere
		l := loadertest.New(t, ds, loader.Workers(8*runtime.GOMAXPROCS(0)), loader.BatchSize(4))
		for range l.Epoch(t.Context(), 0) {
			spin(300 * time.Microsecond)
		}
		s := l.Stats()
		decode := s.Stages[0].Total
		if s.Busy <= 2*decode {
			return
		}
		if try == 5 {
			t.Fatalf("busy %v, of which decoding is %v", s.Busy, decode)
		}
	}
}

func TestMemoryWaitGrowsWithASlowLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := loadertest.New(t, &fake{n: 10}, loader.Workers(1), loader.InFlight(2))
		for range l.Epoch(t.Context(), 0) {
			time.Sleep(time.Second)
		}
		// The worker fills the second slab at once and waits for each of the other eight.
		if got := l.Stats().MemoryWait; got != 8*time.Second {
			t.Errorf("memory wait %v, want 8s", got)
		}
	})
}

func TestStatsPrintAsATable(t *testing.T) {
	onTwoProcessors(t)
	s := loader.Stats{
		Samples: 1280, Batches: 10, Dropped: 2,
		Wait: 1234567 * time.Microsecond, FirstWait: 83 * time.Millisecond,
		Body:    5 * time.Second,
		Workers: 4, Slabs: 5, SlabBytes: 5 * 77_070_336, Ready: 1,
		Busy:   2 * time.Second,
		Stages: []loader.StageTime{{Name: "read", Count: 1280, Total: 200 * time.Millisecond}, {Name: "decode", Count: 1280, Total: 1500 * time.Millisecond}},
	}
	want := `
delivered    1280 samples in 10 batches, 2 samples dropped
loop waited  1.235s in all, for the first batch 83ms
loop body    5s in all
workers      4, busy 2s, waited for memory 0s
memory       5 slabs of 73.5 MiB, 1 ready

   stage  share   total  calls  per call
    read  10.0%   200ms   1280   156.3µs
  decode  75.0%  1.5s   1280  1.172ms
   other  15.0%   300ms

processors are the limit: decode takes 75% of the work and the loop waits 20% of its time: more processors or preprocessed data help
`
	if got := "\n" + s.String(); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("got:%s\nwant:%s", got, want)
	}
}

func TestStatsOfFewAndSmallReadAsThose(t *testing.T) {
	s := loader.Stats{Samples: 1, Batches: 1, Emptied: 1, Dropped: 1, Slabs: 1, SlabBytes: 256}
	for _, want := range []string{"1 sample in 1 batch, 1 sample dropped, 1 batch emptied by that\n", "1 slab of 256 B, 0 ready\n"} {
		if got := s.String(); !strings.Contains(got, want) {
			t.Errorf("got\n%swant %s", got, want)
		}
	}
}

func TestCountersNeverFall(t *testing.T) {
	ds := &fake{n: 2000, place: func(_ context.Context, i int, dst dataset.Slot) error {
		dst.Stage(dataset.StageDecode)
		for begun := time.Now(); time.Since(begun) < 60*time.Microsecond; {
		}
		return nil
	}}
	l := loadertest.New(t, ds, loader.Workers(2*runtime.GOMAXPROCS(0)), loader.BatchSize(500))
	over := make(chan struct{})
	go func() {
		defer close(over)
		for range l.Epoch(t.Context(), 0) {
		}
	}()
	last := l.Stats()
	for running := true; running; {
		select {
		case <-over:
			running = false
		default:
			runtime.Gosched()
		}
		s := l.Stats()
		if s.Busy < last.Busy || s.MemoryWait < last.MemoryWait || s.Wait < last.Wait {
			t.Fatalf("got busy %v after %v, memory wait %v after %v, wait %v after %v", s.Busy, last.Busy, s.MemoryWait, last.MemoryWait, s.Wait, last.Wait)
		}
		if len(s.Stages) > 0 && s.Stages[0].Total > s.Busy {
			t.Fatalf("got %v in a stage, and busy only %v", s.Stages[0].Total, s.Busy)
		}
		last = s
	}
}
