package loader_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// A journal is a list of lines that hooks write.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) note(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

// twoStages is a fake whose samples take 3 ms in stage read and 5 ms in stage decode.
func twoStages(n int) *fake {
	return staged(n, always(3*time.Millisecond), always(5*time.Millisecond))
}

func TestSampleDoneSeesEverySampleAndItsStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got journal
		since := time.Now()
		l := loadertest.New(t, twoStages(3), loader.Workers(1), loader.BatchSize(2), loader.Observe(loader.Trace{SampleDone: func(s loader.SampleInfo) {
			got.note("worker %d, batch %d, row %d of %d, %d %s, %v after %v, %v: %v",
				s.Worker, s.Batch.Batch, s.Row, s.Batch.Samples, s.Index, s.Name(), s.Took, s.Begun.Sub(since), s.Err, s.Stages)
		}}))
		collect(t, l, 0, 1)
		const stages = "[{read 0s 3ms} {decode 3ms 5ms}]"
		want := []string{
			"worker 0, batch 0, row 0 of 2, 0 sample-0, 8ms after 0s, <nil>: " + stages,
			"worker 0, batch 0, row 1 of 2, 1 sample-1, 8ms after 8ms, <nil>: " + stages,
			"worker 0, batch 1, row 0 of 1, 2 sample-2, 8ms after 16ms, <nil>: " + stages,
		}
		if !slices.Equal(got.lines, want) {
			t.Errorf("got %q, want %q", got.lines, want)
		}
	})
}

func TestSampleDoneSeesFailures(t *testing.T) {
	var got journal
	l := loadertest.New(t, failing(40, func(i int) bool { return i == 1 }), loader.Workers(1), loader.BatchSize(4), loader.Skip(1),
		loader.Observe(loader.Trace{SampleDone: func(s loader.SampleInfo) {
			got.note("row %d: failed %t, sample 1 %t", s.Row, s.Err != nil, s.Index == 1)
		}}))
	collect(t, l, 0, 1)
	want := []string{
		"row 0: failed false, sample 1 false", "row 1: failed true, sample 1 true",
		"row 2: failed false, sample 1 false", "row 3: failed false, sample 1 false",
	}
	if got := got.lines[:4]; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSampleDoneSeesCallsForSeveralSamples(t *testing.T) {
	var got journal
	l := loadertest.New(t, &gatherer{fake: &fake{n: 12}}, loader.Workers(0), loader.BatchSize(8),
		loader.Observe(loader.Trace{SampleDone: func(s loader.SampleInfo) { got.note("%d rows from %d, sample %d", s.Rows, s.Row, s.Index) }}))
	collect(t, l, 0, 1)
	if want := []string{"8 rows from 0, sample 0", "4 rows from 0, sample 8"}; !slices.Equal(got.lines, want) {
		t.Errorf("got %q, want %q", got.lines, want)
	}
}

func TestSampleDoneShowsHelp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		placed := map[bool]int{}
		l := loadertest.New(t, twoStages(8), loader.Workers(2), loader.BatchSize(8), loader.Observe(loader.Trace{
			SampleDone: func(s loader.SampleInfo) {
				mu.Lock()
				defer mu.Unlock()
				placed[s.Worker != s.Batch.Worker]++
			},
			BatchReady: func(b loader.BatchInfo, took time.Duration) {
				if took != 4*8*time.Millisecond || b.Finisher < 0 {
					t.Errorf("ready after %v, by %d", took, b.Finisher)
				}
			},
		}))
		collect(t, l, 0, 1)
		if placed[true] != 4 || placed[false] != 4 {
			t.Errorf("%d samples with help, %d without, want 4 and 4", placed[true], placed[false])
		}
	})
}

func TestHooksFollowABatchFromItsBeginToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got journal
		step := dataset.BatchFunc(func(dst, src dataset.Columns) error { time.Sleep(time.Millisecond); return nil })
		l := loadertest.New(t, twoStages(4), loader.Workers(0), loader.BatchSize(2), loader.Collate(step), loader.Observe(loader.Trace{
			BatchBegun:     func(b loader.BatchInfo) { got.note("begun %d by %d of %d", b.ID, b.Worker, b.Samples) },
			BatchReady:     func(b loader.BatchInfo, took time.Duration) { got.note("ready %d %v by %d", b.ID, took, b.Finisher) },
			BatchDelivered: func(b loader.BatchInfo, waited time.Duration) { got.note("delivered %d %v", b.ID, waited) },
			BatchEnded:     func(b loader.BatchInfo, took time.Duration) { got.note("ended %d %v", b.ID, took) },
			BatchFreed:     func(b loader.BatchInfo) { got.note("freed %d", b.ID) },
		}))
		for range 2 {
			for range l.Epoch(t.Context(), 0) {
				time.Sleep(time.Second)
				break
			}
		}
		var want []string
		for id := range 2 {
			for _, event := range []string{"begun %d by 0 of 2", "ready %d 17ms by 0", "delivered %d 17ms", "ended %d 1s", "freed %d"} {
				want = append(want, fmt.Sprintf(event, id))
			}
		}
		if !slices.Equal(got.lines, want) {
			t.Errorf("got %q, want %q", got.lines, want)
		}
	})
}

// TestEveryBatchThatIsBegunIsFreed: also kept batches, those that were in
// flight when the loop ended, and those without samples.
func TestEveryBatchThatIsBegunIsFreed(t *testing.T) {
	for name, body := range map[string]func(b *loader.Batch) (goesOn bool){
		"to the end": func(*loader.Batch) bool { return true },
		"break":      func(*loader.Batch) bool { return false },
		"keep":       func(b *loader.Batch) bool { b.Keep()(); return true },
	} {
		var mu sync.Mutex
		open, most := map[int64]bool{}, 0
		ds := failing(40, func(i int) bool { return i/4 == 3 })
		l := loadertest.New(t, ds, loader.Workers(2), loader.BatchSize(4), loader.Skip(loader.NoLimit), loader.Observe(loader.Trace{
			BatchBegun: func(b loader.BatchInfo) {
				mu.Lock()
				defer mu.Unlock()
				open[b.ID] = true
				most = max(most, len(open))
			},
			BatchFreed: func(b loader.BatchInfo) {
				mu.Lock()
				defer mu.Unlock()
				if !open[b.ID] {
					t.Errorf("%s: batch %d is freed and not begun", name, b.ID)
				}
				delete(open, b.ID)
			},
		}))
		var release func()
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if release == nil {
				release = b.Keep()
			}
			if !body(b) {
				break
			}
		}
		if len(open) != 1 {
			t.Errorf("%s: %d batches are not freed, want that which is kept", name, len(open))
		}
		release()
		if len(open) != 0 || most > l.Stats().Slabs {
			t.Errorf("%s: %d batches are not freed; there were up to %d with %d slabs", name, len(open), most, l.Stats().Slabs)
		}
	}
}

func TestObserversAreCalledInTheirOrder(t *testing.T) {
	var got journal
	observer := func(name string) loader.Option {
		return loader.Observe(loader.Trace{
			LoaderMade:     func(*loader.Loader) error { got.note("%s made", name); return nil },
			LoaderClosed:   func() error { got.note("%s closed", name); return errors.New(name) },
			BatchBegun:     func(loader.BatchInfo) { got.note("%s begun", name) },
			BatchReady:     func(loader.BatchInfo, time.Duration) { got.note("%s ready", name) },
			BatchDelivered: func(loader.BatchInfo, time.Duration) { got.note("%s delivered", name) },
			BatchEnded:     func(loader.BatchInfo, time.Duration) { got.note("%s ended", name) },
			BatchFreed:     func(loader.BatchInfo) { got.note("%s freed", name) },
			SampleDone:     func(loader.SampleInfo) { got.note("%s done", name) },
			SampleFailed:   func(*loader.SampleError) { got.note("%s failed", name) },
		})
	}
	step := dataset.BatchFunc(func(dst, src dataset.Columns) error { return nil })
	l, err := loader.New(failing(2, func(i int) bool { return i == 0 }), loader.Workers(0), loader.BatchSize(2), loader.Collate(step),
		loader.Skip(1), observer("a"), loader.Observe(loader.Trace{}), observer("b"))
	if err != nil {
		t.Fatal(err)
	}
	collect(t, l, 0, 1)
	if err := l.Close(); err == nil || err.Error() != "a\nb" {
		t.Errorf("Close: %v, want the errors of both", err)
	}
	var want []string
	for _, event := range strings.Fields("made begun done failed done ready delivered ended freed closed") {
		want = append(want, "a "+event, "b "+event)
	}
	if !slices.Equal(got.lines, want) {
		t.Errorf("got %q\nwant %q", got.lines, want)
	}
}

func TestLoaderIsNotMadeIfItsHookFails(t *testing.T) {
	for want, made := range map[string]func() error{
		"loader: hook LoaderMade: panic: broken":         func() error { panic("broken") },
		"loader: hook LoaderMade: it has another\nfirst": func() error { return errors.New("it has another") },
	} {
		var got journal
		memory := new(checked)
		closes := func(name string) func() error {
			return func() error { got.note("%s closed", name); return errors.New(name) }
		}
		_, err := loader.New(&fake{n: 8}, loader.Memory(memory),
			loader.Observe(loader.Trace{LoaderClosed: closes("first")}),
			loader.Observe(loader.Trace{LoaderMade: func(*loader.Loader) error { return made() }, LoaderClosed: closes("second")}),
			loader.Observe(loader.Trace{LoaderMade: func(*loader.Loader) error { got.note("third made"); return nil }, LoaderClosed: closes("third")}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if len(memory.out) != 0 || !slices.Equal(got.lines, []string{"first closed"}) {
			t.Errorf("%s: %d slabs are not freed, got %q", want, len(memory.out), got.lines)
		}
	}
}

// TestObserversAreClosedIfAnEarlierOnePanics: a file that is not ended would be lost.
func TestObserversAreClosedIfAnEarlierOnePanics(t *testing.T) {
	closed := false
	l, err := loader.New(&fake{n: 8},
		loader.Observe(loader.Trace{LoaderClosed: func() error { panic("broken") }}),
		loader.Observe(loader.Trace{LoaderClosed: func() error { closed = true; return nil }}))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err == nil || !strings.Contains(err.Error(), "panic: broken") || !closed {
		t.Errorf("Close: %v, closed %v", err, closed)
	}
}

func TestHooksOfSamplesDoNotAllocate(t *testing.T) {
	const n, batch = 1 << 14, 64
	ds := &fake{n: n, place: func(_ context.Context, i int, dst dataset.Slot) error {
		dst.Stage(dataset.StageRead)
		dst.Stage(dataset.StageDecode)
		return nil
	}}
	samples := 0
	l := loadertest.New(t, ds, loader.Workers(0), loader.BatchSize(batch), loader.Observe(loader.Trace{SampleDone: func(s loader.SampleInfo) { samples += len(s.Stages) / 2 }}))
	epochs := 0
	perEpoch := allocs.PerRun(20*n/batch, 5, func() {
		for range l.Epoch(t.Context(), 0) {
		}
		epochs++
	})
	if perBatch := perEpoch / (n / batch); perBatch > 20 || samples != epochs*n {
		t.Errorf("%.1f allocations per batch, want 20 at most; %d samples, want %d", perBatch, samples, epochs*n)
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
	l := loadertest.New(t, failing(4, func(i int) bool { return i == 3 }), loader.Workers(1), loader.BatchSize(2), loader.Skip(1),
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
