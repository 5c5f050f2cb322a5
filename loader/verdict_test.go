package loader_test

import (
	"context"
	"math"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// staged is a dataset of n samples that take these times in the stages read and decode.
func staged(n int, read, decode func(i int) time.Duration) *fake {
	return &fake{n: n, place: func(_ context.Context, i int, dst dataset.Slot) error {
		dst.Stage(dataset.StageRead)
		time.Sleep(read(i))
		dst.Stage(dataset.StageDecode)
		time.Sleep(decode(i))
		return nil
	}}
}

// unstaged is a dataset of n samples that take that time, of which no stage is known.
func unstaged(n int, took time.Duration) *fake {
	return &fake{n: n, place: func(context.Context, int, dataset.Slot) error { time.Sleep(took); return nil }}
}

// tail is a millisecond, but much more for one sample of every so many.
func tail(every int, d time.Duration) func(int) time.Duration {
	return func(i int) time.Duration {
		if i%every == every-1 {
			return d
		}
		return time.Millisecond
	}
}

// oneByOne is a dataset of n samples that take that time, one after another.
func oneByOne(n int, took time.Duration) *fake {
	ds := &fake{n: n}
	var lock chan bool
	var once sync.Once
	ds.open = func() error { once.Do(func() { lock = make(chan bool, 1) }); return nil } // in the loader's bubble
	ds.place = func(context.Context, int, dataset.Slot) error {
		lock <- true
		time.Sleep(took)
		<-lock
		return nil
	}
	return ds
}

// behindALock is oneByOne in the stage decode.
func behindALock(n int, took time.Duration) *fake {
	ds := oneByOne(n, took)
	place := ds.place
	ds.place = func(ctx context.Context, i int, dst dataset.Slot) error {
		dst.Stage(dataset.StageDecode)
		return place(ctx, i, dst)
	}
	return ds
}

// occupies is the processor time of a process that keeps so many processors busy, from now on.
func occupies(processors float64) loader.Option {
	begun := time.Now()
	return loader.ProcessTime(func() (time.Duration, bool) { return time.Duration(processors * float64(time.Since(begun))), true })
}

// slowCollate is a step of Collate that takes that time.
func slowCollate(took time.Duration) dataset.BatchStep {
	return dataset.BatchFunc(func(dst, src dataset.Columns) error { time.Sleep(took); return nil })
}

// drawnSlowly takes 5 ms to draw a sample.
type drawnSlowly int

func (n drawnSlowly) Epoch(int) sampler.Order { return n }

func (n drawnSlowly) Len() int { return int(n) }

func (n drawnSlowly) At(k int) int { time.Sleep(5 * time.Millisecond); return k }

// plannedSlowly takes a minute to plan an epoch.
type plannedSlowly int

func (n plannedSlowly) Epoch(int) sampler.Order {
	time.Sleep(time.Minute)
	return sampler.Sequential(int(n)).Epoch(0)
}

// quantity finds shares and times in a text.
var quantity = regexp.MustCompile(`[0-9.]+%|[0-9][0-9.hmµn]*s`)

// begins reports whether a verdict begins with want. Shares may differ by 5 points and times
// by a tenth: they depend on which of several goroutines goes first at the same simulated time.
func begins(verdict, want string) bool {
	if !strings.HasPrefix(quantity.ReplaceAllString(verdict, "#"), quantity.ReplaceAllString(want, "#")) {
		return false
	}
	got := quantity.FindAllString(verdict, -1)
	for i, w := range quantity.FindAllString(want, -1) {
		if g, w := number(got[i]), number(w); math.Abs(g-w) > max(5, w/10) {
			return false
		}
	}
	return true
}

// number is a share in percent, or a time in milliseconds.
func number(quantity string) float64 {
	if percent, ok := strings.CutSuffix(quantity, "%"); ok {
		n, _ := strconv.ParseFloat(percent, 64)
		return n
	}
	d, _ := time.ParseDuration(quantity)
	return d.Seconds() * 1000
}

func TestVerdictNamesTheBottleneckOfMadeLoads(t *testing.T) {
	const processors = 4
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
	const ms = time.Millisecond
	for _, c := range []struct {
		name string
		ds   *fake
		body time.Duration // on average; if it is negative, every 50th takes the time of all
		with []loader.Option
		want string
	}{
		{"a slow loop body", staged(640, always(ms), always(ms)), 200 * ms, nil, "the loop body is the limit"},
		{"a body that is barely slower", staged(640, always(ms), always(ms)), 20 * ms, nil, "the loop body is the limit"},
		{"a slow disk", staged(640, always(80*ms), always(5*ms)), 10 * ms, nil, "storage is the limit: the stage read takes 94% of the work"},
		{"slow decoding on all processors", staged(640, always(ms), always(20*ms)), 10 * ms, nil, "processors are the limit: the stage decode takes 95%"},
		{"one worker where there are more processors", staged(640, always(ms), always(20*ms)), 10 * ms, []loader.Option{loader.Workers(1)}, "workers are the limit: the stage decode"},
		{"no workers", staged(64, always(ms), always(ms)), 10 * ms, []loader.Option{loader.Workers(0)}, "there are no workers"},
		{"no stages", unstaged(640, 20*ms), 10 * ms, nil, "it is not known whether samples wait or compute, because the dataset reports no stage for 100% of the work of 4 workers"},
		{"no stages, and more workers than processors", unstaged(2560, 20*ms), 0, []loader.Option{loader.Workers(64)}, "it is not known whether samples wait or compute, because the dataset reports no stage for 100% of the work of 64 workers"},
		{"a stage of a small part", &fake{n: 640, place: func(_ context.Context, _ int, dst dataset.Slot) error {
			time.Sleep(19 * ms)
			dst.Stage(dataset.StageStore)
			time.Sleep(ms)
			return nil
		}}, 10 * ms, nil, "it is not known whether samples wait or compute, because the dataset reports no stage for 95% of the work"},
		{"no stages, and fewer workers than processors", unstaged(640, 20*ms), 10 * ms, []loader.Option{loader.Workers(1)}, "workers are the limit: placing samples takes 100% of the work of 1 worker,"},
		{"one slow sample", staged(640, tail(640, 20*time.Second), always(ms)), 5 * ms, nil, "a single batch took 20s of"},
		{"a slow start", staged(160, tail(1, 0), func(i int) time.Duration {
			if i < 16 {
				return 3 * time.Second
			}
			return 0
		}), 500 * ms, []loader.Option{loader.Shuffle(false)}, "the first batch took"},
		{"batches of unequal times", staged(1600, tail(80, time.Second), always(ms)), ms, []loader.Option{loader.InFlight(5)}, "the number of batches in flight is the limit"},
		{"memory for one batch", staged(1600, always(ms), always(9*ms)), 40 * ms, []loader.Option{loader.InFlight(1)},
			"the number of batches in flight is the limit: the loop waits 50% of its time, and at other times workers wait for memory, because there is memory for one batch"},
		{"a loop body that pauses for long", staged(6400, always(ms), always(9*ms)), -80 * ms, []loader.Option{loader.InFlight(5)},
			"the number of batches in flight is the limit: the loop waits 32% of its time, and at other times workers wait for memory, because batches or loop bodies take unequal times"},
		{"a loop body in short bursts", staged(1600, always(ms), always(20*ms)), -6 * ms, nil, "processors are the limit: the stage decode"},
		{"a slow sampler", staged(640, always(0), always(ms)), ms, []loader.Option{loader.Sampler(drawnSlowly(640))},
			"drawing batches is the limit: it took 3.2s, placing their samples 640ms, and the loop waits 96% of its time: look at the sampler, the Allocator and the hook BatchBegun"},
		{"a sampler that plans for long", staged(640, always(0), always(ms)), ms, []loader.Option{loader.Sampler(plannedSlowly(640))}, "the first batch took 1m0s of"},
		{"all time in Collate", staged(640, always(0), always(ms)), ms, []loader.Option{loader.Collate(slowCollate(100 * ms))},
			"processors are the limit: the stage collate takes 86% of the work of 4 workers, and the loop waits 97% of its time: more processors help, or a cheaper Collate"},
		{"all time in Collate of one worker", staged(640, always(0), always(ms)), ms, []loader.Option{loader.Workers(1), loader.Collate(slowCollate(100 * ms))},
			"workers are the limit: the stage collate takes 86%"},
		{"memory that is slow to write", &fake{n: 640, place: func(_ context.Context, _ int, dst dataset.Slot) error {
			dst.Stage(dataset.StageDecode)
			time.Sleep(2 * ms)
			dst.Stage(dataset.StageStore)
			time.Sleep(18 * ms)
			return nil
		}}, ms, nil, "processors are the limit: the stage store takes 90% of the work of 4 workers, and the loop waits 99% of its time: more processors help, or samples of fewer bytes"},
		{"a lock in a stage that computes", behindALock(640, 5*ms), ms, []loader.Option{occupies(1)},
			"it is not known whether the stage decode computes or waits: it takes 100% of the work of 4 workers, and the loop waits 95% of its time, but the program had only 26% of the processor time for that: look for a lock in it"},
		{"a lock, with fewer workers than processors", behindALock(640, 5*ms), ms, []loader.Option{occupies(1), loader.Workers(3)}, "it is not known whether the stage decode computes or waits"},
		{"one worker cannot wait for a lock of its own", behindALock(640, 5*ms), ms, []loader.Option{occupies(0.3), loader.Workers(1)}, "workers are the limit"},
		{"processors that other programs take", staged(640, always(ms), always(20*ms)), 10 * ms, []loader.Option{occupies(2)}, "it is not known whether the stage decode computes or waits"},
		{"a processor time that is not known", staged(640, always(ms), always(20*ms)), 10 * ms, []loader.Option{occupies(0)}, "processors are the limit"},
		{"too little to tell", staged(8, always(ms), always(20*ms)), 10 * ms, []loader.Option{occupies(1)}, "processors are the limit"},
		{"samples behind a lock", oneByOne(640, 5*ms), ms, nil, "it is not known whether samples wait or compute"},
		{"files of which a quarter is not in memory", staged(6400, func(i int) time.Duration {
			if i < 1600 {
				return 40 * ms
			}
			return 0
		}, always(2*ms)), 9 * ms, []loader.Option{loader.Shuffle(false)}, "storage is the limit: the stage read takes 83%"},
		{"batches of unequal times, unordered", staged(3200, tail(80, time.Second), always(ms)), ms, []loader.Option{loader.Unordered(true), loader.InFlight(5)}, "storage is the limit"},
		{"many tiny samples", staged(64_000, always(0), always(time.Microsecond)), 0, []loader.Option{loader.Workers(1)}, "workers are the limit: the stage decode takes 100%"},
		{"one batch", staged(16, always(80*ms), always(9*ms)), ms, nil, "storage is the limit"},
		{"one sample", staged(1, always(ms), always(80*ms)), ms, nil, "processors are the limit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				options := append([]loader.Option{loader.Workers(processors), loader.BatchSize(16), occupies(processors)}, c.with...)
				l := loadertest.New(t, c.ds, options...)
				if got := l.Stats().Verdict(); got != "" {
					t.Errorf("before the first batch: %q", got)
				}
				k := 0
				for _, err := range l.Epoch(t.Context(), 0) {
					if err != nil {
						t.Fatal(err)
					}
					switch k++; {
					case c.body >= 0:
						time.Sleep(c.body)
					case k%50 == 0: // all at once
						time.Sleep(-50 * c.body)
					}
				}
				s := l.Stats()
				if got := s.Verdict(); !begins(got, c.want) {
					t.Errorf("got %q, want %q, of\n%v", got, c.want, s)
				}
				if !strings.HasSuffix(s.String(), "\n\n"+s.Verdict()+"\n") {
					t.Errorf("the statistics do not end with the verdict:\n%v", s)
				}
			})
		})
	}
}

// TestVerdictTellsWaitingForProcessorsFromOtherWaits: two workers report that they decode all the
// time of ten seconds, on two processors.
func TestVerdictTellsWaitingForProcessorsFromOtherWaits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const second = time.Second
	for _, c := range []struct {
		had, waited time.Duration
		want        string
	}{
		{20 * second, 0, "processors are the limit: the stage decode takes 100% of the work of 2 workers, and the loop waits 100% of its time: more processors help, or data that was preprocessed"},
		{18 * second, 2 * second, "processors are the limit: the stage decode takes 100% of the work of 2 workers, and the loop waits 100% of its time: more processors help, or data"},
		{8 * second, 12 * second, "processors are the limit: the stage decode takes 100% of the work of 2 workers, and the loop waits 100% of its time, and the program waits for a processor 60% of the time that it wants one: more processors help, fewer other programs, or data that was preprocessed"},
		{8 * second, 4 * second, "the stage decode waits rather than computes: it takes 100% of the work of 2 workers, and the loop waits 100% of its time, but the program used 60% of the processor time for that, or waited for it: look for a lock in it"},
		{8 * second, 0, "it is not known whether the stage decode computes or waits: it takes 100% of the work of 2 workers, and the loop waits 100% of its time, but the program had only 40% of the processor time for that: look for a lock in it, or for other programs that take the processors"},
		{0, 0, "processors are the limit"},
	} {
		s := loader.Stats{
			Samples: 100, Batches: 100, Workers: 2, Slabs: 5,
			Wait: loader.Wait{Count: 100, Total: 10 * second, Longest: second / 10, First: second / 10},
			Work: loader.Work{
				Busy: 20 * second, ProcessorTime: c.had, ProcessorWait: c.waited,
				Stages: []loader.StageTime{{Name: dataset.StageDecode, Count: 100, Total: 20 * second}},
			},
		}
		if got := s.Verdict(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%v of processor time and %v of waiting for it: got %q, want %q", c.had, c.waited, got, c.want)
		}
	}
}

// TestStatsCountTheWaitForProcessorsOfLoops, and nothing that comes before, between and after them.
func TestStatsCountTheWaitForProcessorsOfLoops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, looks := time.Now(), 0
		waits := loader.ProcessorWait(func() (time.Duration, bool) { looks++; return 2 * time.Since(begun), true })
		l := loadertest.New(t, staged(10, always(0), always(time.Second)), loader.Workers(1), waits)
		for epoch := range 2 {
			time.Sleep(time.Minute)
			for range l.Epoch(t.Context(), epoch) {
			}
		}
		time.Sleep(time.Minute)
		for range 100 {
			if got := l.Stats().ProcessorWait; got != 40*time.Second {
				t.Fatalf("got %v for two loops of 10 s, want twice as much as they took", got)
			}
		}
		if looks > 10 {
			t.Errorf("%d looks at the system's files", looks)
		}
	})
}

// TestVerdictAgreesWithAuto has samples that only wait, without stages, or in a stage for
// which the dataset has another name than read. Auto finds that more workers load more, up
// to the most that it takes.
func TestVerdictAgreesWithAuto(t *testing.T) {
	testenv.Slow(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const ms = time.Millisecond
	for text, ds := range map[string]*fake{
		"placing samples takes 100%": unstaged(1_000_000, 20*ms),
		"the stage decode takes 75%": staged(1_000_000, always(5*ms), always(15*ms)),
	} {
		synctest.Test(t, func(t *testing.T) {
			l := loadertest.New(t, ds, loader.Workers(loader.Auto), loader.BatchSize(16), occupies(0.01))
			forTime(t, l, 20*time.Second, nil)
			s := l.Stats()
			if s.Workers < 128 {
				t.Fatalf("%s: got %d workers, want many: %v", text, s.Workers, s.Tuning)
			}
			want := "samples wait rather than compute, because more workers than the 2 processors load more: " + text + " of the work of"
			if got := s.Verdict(); !begins(got, want) || strings.Contains(got, "more workers help") {
				t.Errorf("got %q, want %q, with %v", got, want, s.Tuning)
			}
		})
	}
}

func TestVerdictBeforeAutoHasTriedAnythingIsNotKnown(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	synctest.Test(t, func(t *testing.T) {
		l := loadertest.New(t, unstaged(24, 20*time.Millisecond), simulatedAuto(), loader.BatchSize(2))
		for range l.Epoch(t.Context(), 0) {
		}
		s := l.Stats()
		want := "it is not known whether samples wait or compute, because the dataset reports no stage for 100% of the work of 2 workers"
		if got := s.Verdict(); loader.Changes(l) > 0 || !begins(got, want) || !strings.HasSuffix(got, "report stages by Slot.Stage, and Auto finds the workers") {
			t.Errorf("got %q, want %q, with %v", got, want, s.Tuning)
		}
	})
}

// TestVerdictOfAnIntervalLeavesOutEarlierWaits has a slow start, and then a slow loop
// body or steady waits.
func TestVerdictOfAnIntervalLeavesOutEarlierWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := staged(40, always(0), func(i int) time.Duration {
			if i == 0 {
				return 3 * time.Second
			}
			return 100 * time.Millisecond
		})
		l := loadertest.New(t, ds, loader.Workers(1), loader.BatchSize(1))
		var before loader.Stats
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if b.Indices()[0] == 0 {
				continue // the wait for the first batch ends before its body
			}
			if before.Batches == 0 {
				before = l.Stats()
			}
		}
		d := l.Stats().Sub(before)
		if d.Wait.Longest != 0 || d.Wait.Total > 10*time.Second {
			t.Errorf("got %+v, want a longest wait that is not known", d.Wait)
		}
		if got := d.Verdict(); strings.Contains(got, "batch took") {
			t.Errorf("got %q, want no single batch to blame", got)
		}
	})
}

// TestVerdictFollowsTheSlowerSide has loop bodies that take less or more time than the
// workers need for a batch, for fast and slow samples and for few and many workers.
func TestVerdictFollowsTheSlowerSide(t *testing.T) {
	testenv.Slow(t)
	const processors, batch = 4, 8
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
	for _, workers := range []int{1, 3, 4, 16} {
		for _, sample := range []time.Duration{100 * time.Microsecond, time.Millisecond, 50 * time.Millisecond} {
			for _, reading := range []time.Duration{1, 9} { // tenths of the time
				for _, pace := range []float64{0, 0.1, 0.5, 0.8, 1.25, 2, 10} {
					need := sample * batch / time.Duration(workers) // for a batch
					read := sample * reading / 10
					want := "the loop body is the limit"
					switch {
					case pace >= 1:
					case reading > 5:
						want = "storage is the limit: the stage read takes 90%"
					case workers < processors:
						want = "workers are the limit: the stage decode takes 90%"
					default:
						want = "processors are the limit: the stage decode takes 90%"
					}
					synctest.Test(t, func(t *testing.T) {
						l := loadertest.New(t, staged(150*batch, always(read), always(sample-read)), loader.Workers(workers), loader.BatchSize(batch), occupies(processors))
						for _, err := range l.Epoch(t.Context(), 0) {
							if err != nil {
								t.Fatal(err)
							}
							time.Sleep(time.Duration(pace * float64(need)))
						}
						if got := l.Stats().Verdict(); !begins(got, want) {
							t.Errorf("%d workers, %v a sample, %v of it reading, body %.1f of that: got %q, want %q", workers, sample, read, pace, got, want)
						}
					})
				}
			}
		}
	}
}
