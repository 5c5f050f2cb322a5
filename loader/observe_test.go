package loader_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/machine"
	"github.com/penstock-go/penstock/loader"
)

func TestStatsSayWhereTheTimeWent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoader(t, twoStages(32), loader.Workers(1), loader.BatchSize(8))
		since := time.Now()
		for range l.Epoch(t.Context(), 0) {
		}
		took := time.Since(since)
		s := l.Stats()
		if s.Samples != 32 || s.Batches != 4 || s.Wait.Count != 4 || s.Workers != 1 || s.Slabs != 3 {
			t.Errorf("got %+v", s)
		}
		want := []loader.StageTime{{Name: "read", Count: 32, Total: 96 * time.Millisecond}, {Name: "decode", Count: 32, Total: 160 * time.Millisecond}}
		if !slices.Equal(s.Stages, want) || s.Busy != 256*time.Millisecond {
			t.Errorf("stages %v, busy %v", s.Stages, s.Busy)
		}
		// The loop does nothing but wait.
		if s.Wait.Total != took || s.Wait.First != 64*time.Millisecond || s.Wait.Longest < s.Wait.First {
			t.Errorf("took %v, wait %+v", took, s.Wait)
		}
		if s.Wait.Total >= took+time.Millisecond || s.MemoryWait != 0 {
			t.Errorf("memory wait %v, want 0 for a loop that only waits", s.MemoryWait)
		}

		before := s
		for range l.Epoch(t.Context(), 1) {
			time.Sleep(time.Second) // now the workers wait for the loop
		}
		d := l.Stats().Sub(before)
		if d.Samples != 32 || d.Stages[1].Total != 160*time.Millisecond || d.Wait.Count != 4 {
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
		l := newLoader(t, ds, loader.Workers(8*runtime.GOMAXPROCS(0)), loader.BatchSize(4))
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
		l := newLoader(t, &fake{n: 10}, loader.Workers(1), loader.InFlight(2))
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
	s := loader.Stats{
		Samples: 1280, Batches: 10, Dropped: 2,
		Wait:    loader.Wait{Count: 10, Total: 1234567 * time.Microsecond, Longest: 153 * time.Millisecond, First: 83 * time.Millisecond},
		Body:    5 * time.Second,
		Busy:    2 * time.Second,
		Workers: 1 << 20, Slabs: 5, SlabBytes: 5 * 77_070_336, Ready: 1,
		Stages: []loader.StageTime{{Name: "read", Count: 1280, Total: 200 * time.Millisecond}, {Name: "decode", Count: 1280, Total: 1500 * time.Millisecond}},
	}
	want := `
delivered    1280 samples in 10 batches, 2 samples dropped
loop waited  1.235s in all, longest 153ms, first batch 83ms
loop body    5s in all
workers      1048576, busy 2s, waited for memory 0s
memory       5 slabs of 73.5 MiB, 1 ready

   stage  share   total  calls  per call
    read  10.0%   200ms   1280   156.3µs
  decode  75.0%  1.5s   1280  1.172ms
   other  15.0%   300ms

processors are the limit: the stage decode takes 75% of the work of 1048576 workers, and the loop waits 20% of its time: more processors help, or data that was preprocessed
`
	if got := "\n" + s.String(); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("got:%s\nwant:%s", got, want)
	}
}

func TestStatsAreAGroupInLogs(t *testing.T) {
	var text bytes.Buffer
	s := loader.Stats{
		Samples: 1280, Batches: 10, Emptied: 1, Dropped: 130,
		Wait: loader.Wait{Count: 10, Total: time.Second, Longest: 153 * time.Millisecond, First: 83 * time.Millisecond},
		Busy: 2 * time.Second, Drawing: time.Millisecond, ProcessorTime: 3 * time.Second, Workers: 2, Slabs: 5, SlabBytes: 1 << 20, Ready: 1,
		Stages: []loader.StageTime{{Name: "read", Count: 1280, Total: 200 * time.Millisecond}},
	}
	slog.New(slog.NewTextHandler(&text, nil)).Info("epoch", "loader", s)
	want := "loader.samples=1280 loader.batches=10 loader.emptied=1 loader.dropped=130" +
		" loader.wait.total=1s loader.wait.longest=153ms loader.wait.first=83ms loader.body=0s loader.workers=2 loader.busy=2s" +
		" loader.drawing=1ms loader.memory_wait=0s loader.processor_time=3s loader.stages.read=200ms loader.slabs=5 loader.slab_bytes=1048576 loader.ready=1\n"
	if got := text.String(); !strings.HasSuffix(got, want) {
		t.Errorf("got %swant %s", got, want)
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

func TestTraceSeesEveryBatchAndFailure(t *testing.T) {
	var mu sync.Mutex
	var log []string
	note := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		log = append(log, fmt.Sprintf(format, args...))
	}
	l := newLoader(t, failing(4, func(i int) bool { return i == 3 }), loader.Workers(1), loader.BatchSize(2), loader.OnError(loader.Skip, 1),
		loader.Observe(loader.Trace{
			BatchBegun:     func(b loader.BatchInfo) { note("begun %d", b.Batch) },
			BatchReady:     func(b loader.BatchInfo, _ time.Duration) { note("ready %d", b.Batch) },
			BatchDelivered: func(b loader.BatchInfo, _ time.Duration) { note("delivered %d", b.Batch) },
			SampleFailed:   func(err *loader.SampleError) { note("failed %d", err.Index) },
		}))
	outcome(t, l)
	slices.Sort(log)
	want := []string{"begun 0", "begun 1", "delivered 0", "delivered 1", "failed 3", "ready 0", "ready 1"}
	if !slices.Equal(log, want) {
		t.Errorf("got %v, want %v", log, want)
	}
}

func TestProfilesShowWorkerAndStage(t *testing.T) {
	for _, stage := range []string{"", dataset.StageRead} {
		var profile bytes.Buffer
		ds := &fake{n: 1, place: func(_ context.Context, i int, dst dataset.Slot) error {
			if stage != "" {
				dst.Stage(stage)
			}
			return pprof.Lookup("goroutine").WriteTo(&profile, 1)
		}}
		want := `"worker":"0"`
		if stage != "" {
			want = `"stage":"read", ` + want
		}
		collect(t, newLoader(t, ds, loader.Workers(1)), 0, 1)
		if !strings.Contains(profile.String(), want) {
			t.Errorf("stage %q: no goroutine has the labels %s:\n%s", stage, want, &profile)
		}
	}
}

func TestExecutionTracesShowBatchesWaitsAndStages(t *testing.T) {
	if trace.IsEnabled() {
		t.Skip("the test itself is being traced")
	}
	var events bytes.Buffer
	if err := trace.Start(&events); err != nil {
		t.Fatal(err)
	}
	ds := &fake{n: 1, place: func(_ context.Context, i int, dst dataset.Slot) error {
		dst.Stage("thinking")
		return nil
	}}
	collect(t, newLoader(t, ds, loader.Workers(1)), 0, 1)
	trace.Stop()
	for _, name := range []string{"loader.wait", "loader.build", "loader.batch", "epoch 0, batch 0", "loader.draw", "thinking", "loader.finish", "loader.body"} {
		if !bytes.Contains(events.Bytes(), []byte(name)) {
			t.Errorf("no task, region or log %q in the trace", name)
		}
	}
}

// TestStagesBelongToTheirBatchInExecutionTraces: also those of a worker that helps.
func TestStagesBelongToTheirBatchInExecutionTraces(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("SKIPPED: there is no go command, which reads execution traces")
	}
	if trace.IsEnabled() {
		t.Skip("the test itself is being traced")
	}
	path := filepath.Join(t.TempDir(), "trace")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := trace.Start(f); err != nil {
		t.Fatal(err)
	}
	ds := &fake{n: 8, place: func(_ context.Context, i int, dst dataset.Slot) error {
		dst.Stage(fmt.Sprintf("batch-%d", i/4))
		time.Sleep(time.Millisecond)
		return nil
	}}
	collect(t, newLoader(t, ds, loader.Workers(2), loader.BatchSize(4)), 0, 1)
	trace.Stop()
	text, err := exec.CommandContext(t.Context(), goTool, "tool", "trace", "-d=parsed", path).CombinedOutput()
	if err != nil {
		t.Skipf("SKIPPED: go tool trace does not work here: %v\n%s", err, text)
	}
	for batch := range 2 {
		logged := regexp.MustCompile(fmt.Sprintf(`Log .*Task=(\d+) .*Message="epoch 0, batch %d"`, batch)).FindSubmatch(text)
		if logged == nil {
			t.Fatalf("no task of batch %d in\n%s", batch, text)
		}
		stage := regexp.MustCompile(fmt.Sprintf(`RegionBegin .*Task=%s Type="batch-%d"`, logged[1], batch))
		if got := len(stage.FindAll(text, -1)); got != 4 {
			t.Errorf("%d stages belong to batch %d, want 4", got, batch)
		}
	}
}

func TestTooManyWorkersIsOneLineOfAdvice(t *testing.T) {
	processors := float64(runtime.GOMAXPROCS(0))
	for _, c := range []struct {
		stage string
		busy  float64 // processors
		want  int
	}{
		{dataset.StageDecode, processors, 1},
		{dataset.StageDecode, processors / 2, 0}, // the workers wait for something
		{dataset.StageRead, processors, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			var text bytes.Buffer
			ds := &fake{n: 20, place: func(_ context.Context, i int, dst dataset.Slot) error {
				dst.Stage(c.stage)
				time.Sleep(time.Second)
				return nil
			}}
			l := newLoader(t, ds, loader.Workers(runtime.GOMAXPROCS(0)+1), loader.Logger(slog.New(slog.NewTextHandler(&text, nil))), occupies(c.busy))
			for range 2 {
				for range l.Epoch(t.Context(), 0) {
				}
			}
			if got := strings.Count(text.String(), "more workers than processors"); got != c.want {
				t.Errorf("stage %s, %v processors busy: %d lines of advice, want %d:\n%s", c.stage, c.busy, got, c.want, &text)
			}
		})
	}
}

// TestProcessorTimeIsThatOfLoops computes until the system has counted it.
func TestProcessorTimeIsThatOfLoops(t *testing.T) {
	begun, known := machine.ProcessTime()
	if !known {
		t.Skip("SKIPPED: the system does not tell the processor time of a process")
	}
	const step = 50 * time.Millisecond
	spin := func() {
		begun, _ := machine.ProcessTime()
		for now := begun; now < begun+step; now, _ = machine.ProcessTime() {
		}
	}
	l := newLoader(t, &fake{n: 2, place: func(context.Context, int, dataset.Slot) error { spin(); return nil }})
	var before loader.Stats
	for range 2 {
		for range l.Epoch(t.Context(), 0) {
		}
		spent := l.Stats()
		spin() // between loops, which does not count
		s := l.Stats()
		if got := s.Sub(before).ProcessorTime; got < 50*time.Millisecond {
			t.Errorf("got %v, want 50ms at least", got)
		}
		if s.ProcessorTime != spent.ProcessorTime {
			t.Errorf("got %v, and %v before time between loops", s.ProcessorTime, spent.ProcessorTime)
		}
		before = s
	}
	ended, _ := machine.ProcessTime()
	if got := before.ProcessorTime; got > ended-begun-2*step {
		t.Errorf("got %v of %v, of which 100ms were between loops", got, ended-begun)
	}
}

func TestBatchOfOneSampleReadsAsOne(t *testing.T) {
	l := newLoader(t, &fake{n: 1}, loader.Workers(0))
	for b := range l.Epoch(t.Context(), 0) {
		if got, want := b.String(), "batch 0 of epoch 0: 1 sample of x int64 ()"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestCountersNeverFall looks at statistics while workers compute, and let each other run,
// within long batches.
func TestCountersNeverFall(t *testing.T) {
	ds := &fake{n: 2000, place: func(_ context.Context, i int, dst dataset.Slot) error {
		dst.Stage(dataset.StageDecode)
		for begun := time.Now(); time.Since(begun) < 60*time.Microsecond; {
		}
		return nil
	}}
	l := newLoader(t, ds, loader.Workers(2*runtime.GOMAXPROCS(0)), loader.BatchSize(500))
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
		if s.Busy < last.Busy || s.MemoryWait < last.MemoryWait || s.Wait.Total < last.Wait.Total {
			t.Fatalf("got busy %v after %v, memory wait %v after %v, wait %v after %v", s.Busy, last.Busy, s.MemoryWait, last.MemoryWait, s.Wait.Total, last.Wait.Total)
		}
		if len(s.Stages) > 0 && s.Stages[0].Total > s.Busy {
			t.Fatalf("got %v in a stage, and busy only %v", s.Stages[0].Total, s.Busy)
		}
		last = s
	}
}
