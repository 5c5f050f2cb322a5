package loader_test

import (
	"context"
	"math"
	"regexp"
	"runtime"
	"strconv"
	"strings"
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
		{"a slow disk", staged(640, always(80*ms), always(5*ms)), 10 * ms, nil, "storage is the limit: read takes 94% of the work"},
		{"slow decoding on all processors", staged(640, always(ms), always(20*ms)), 10 * ms, nil, "processors are the limit: decode takes 95%"},
		{"one worker where there are more processors", staged(640, always(ms), always(20*ms)), 10 * ms, []loader.Option{loader.Workers(1)}, "workers are the limit: decode takes 95%"},
		{"no stages", unstaged(640, 20*ms), 10 * ms, nil, "workers are the limit: placing samples takes 100% of the work and the loop waits 90% of its time: Auto finds how many help"},
		{"a stage of a small part", &fake{n: 640, place: func(_ context.Context, _ int, dst dataset.Slot) error {
			time.Sleep(19 * ms)
			dst.Stage(dataset.StageStore)
			time.Sleep(ms)
			return nil
		}}, 10 * ms, nil, "workers are the limit: placing samples takes 100%"},
		{"a slow start", staged(160, tail(1, 0), func(i int) time.Duration {
			if i < 16 {
				return 3 * time.Second
			}
			return 0
		}), 500 * ms, []loader.Option{loader.Shuffle(false)}, "the first batch took"},
		{"batches of unequal times", staged(1600, tail(80, time.Second), always(ms)), ms, []loader.Option{loader.InFlight(5)}, "batches in flight are the limit"},
		{"memory for one batch", staged(1600, always(ms), always(9*ms)), 40 * ms, []loader.Option{loader.InFlight(1)},
			"batches in flight are the limit: the loop waits 50% of its time and workers wait for memory"},
		{"a loop body that pauses for long", staged(6400, always(ms), always(9*ms)), -80 * ms, []loader.Option{loader.InFlight(5)},
			"batches in flight are the limit: the loop waits 32% of its time"},
		{"a loop body in short bursts", staged(1600, always(ms), always(20*ms)), -6 * ms, nil, "processors are the limit: decode"},
		{"a slow sampler", staged(640, always(0), always(ms)), ms, []loader.Option{loader.Sampler(drawnSlowly(640))},
			"drawing batches is the limit: the loop waits 96% of its time"},
		{"a sampler that plans for long", staged(640, always(0), always(ms)), ms, []loader.Option{loader.Sampler(plannedSlowly(640))}, "the first batch took 1m0s of"},
		{"all time in Collate", staged(640, always(0), always(ms)), ms, []loader.Option{loader.Collate(slowCollate(100 * ms))},
			"processors are the limit: collate takes 86% of the work and the loop waits 97% of its time"},
		{"many tiny samples", staged(64_000, always(0), always(time.Microsecond)), 0, []loader.Option{loader.Workers(1)}, "workers are the limit: decode takes 100%"},
		{"one batch", staged(16, always(80*ms), always(9*ms)), ms, nil, "storage is the limit"},
		{"one sample", staged(1, always(ms), always(80*ms)), ms, nil, "processors are the limit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				options := append([]loader.Option{loader.Workers(processors), loader.BatchSize(16)}, c.with...)
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
				if n := len(strings.Fields(s.Verdict())); n > 25 {
					t.Errorf("%d words, want 25 at most: %s", n, s.Verdict())
				}
				if !strings.HasSuffix(s.String(), "\n\n"+s.Verdict()+"\n") {
					t.Errorf("the statistics do not end with the verdict:\n%v", s)
				}
			})
		})
	}
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
						want = "storage is the limit: read takes 90%"
					case workers < processors:
						want = "workers are the limit: decode takes 90%"
					default:
						want = "processors are the limit: decode takes 90%"
					}
					synctest.Test(t, func(t *testing.T) {
						l := loadertest.New(t, staged(150*batch, always(read), always(sample-read)), loader.Workers(workers), loader.BatchSize(batch))
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

// TestVerdictOfAnIntervalLeavesOutEarlierWaits has a slow start, and then steady waits.
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
		if got := d.Verdict(); strings.Contains(got, "batch took") {
			t.Error(got)
		}
	})
}
