package live_test

import (
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/live"
)

func TestTheViewHasRatesStagesAndTheBottleneck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var view live.View
		names := make([]string, 400)
		names[3] = "three"
		ds := fake(names, func(i int) time.Duration {
			if i == 3 {
				return 200 * time.Millisecond
			}
			return 100 * time.Millisecond
		})
		l := loadertest.New(t, ds, loader.Workers(2), loader.BatchSize(4), loader.Observe(view.Trace("train")))
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if b.Indices()[0] < 380 {
				continue
			}
			// 2 workers place 20 samples a second, and the body takes no time.
			r := reports(t, &view)[0]
			if r.Name != "train" || r.Closed || !near(r.Rate, 20) || !near(r.Wait, 1) || !near(r.Busy, 1) {
				t.Errorf("got %+v", r)
			}
			if len(r.Stages) != 1 || r.Stages[0].Name != "decode" || !near(r.Stages[0].Share, 1) || !near(r.Stages[0].Call, 0.1) {
				t.Errorf("got stages %+v", r.Stages)
			}
			if len(r.Slowest) != 10 || r.Slowest[0].Name != "three" || r.Slowest[0].Stage != "decode" || !near(r.Slowest[0].Took, 0.2) {
				t.Errorf("got slowest %+v", r.Slowest)
			}
			if want := "of the work and the loop waits 100% of its time"; !strings.Contains(r.Verdict, want) {
				t.Errorf("got %q, want %q", r.Verdict, want)
			}
			break
		}
	})
}

func TestTheViewNamesWhatTheLoopWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var view live.View
		ds := fake([]string{"quick.jpg", "slow.jpg"}, func(i int) time.Duration { return time.Duration(i) * time.Minute })
		l := loadertest.New(t, ds, loader.Workers(1), loader.Observe(view.Trace("train")))
		go func() {
			time.Sleep(20 * time.Second)
			r := reports(t, &view)[0]
			if want := "the loop has waited 20s for a batch: placing a sample, slow.jpg, in stage decode takes 20s"; r.Verdict != want {
				t.Errorf("got %q, want %q", r.Verdict, want)
			}
			if a := r.Working[1]; a.Worker != 0 || a.Sample != "slow.jpg" || a.Stage != "decode" || a.For != 20 {
				t.Errorf("got %+v", a)
			}
			page, _ := get(t, &view, "")
			if !strings.Contains(page, `<td class="n">20s<td>decode<td class="name">slow.jpg<`) {
				t.Errorf("the page does not show the worker:\n%s", page)
			}
		}()
		for range l.Epoch(t.Context(), 0) {
		}
	})
}

func TestClosedLoadersAreShownUntilTheNextOfTheirName(t *testing.T) {
	var view live.View
	run := func(name string) {
		l := loadertest.New(t, fake(make([]string, 8), steady(0)), loader.Observe(view.Trace(name)))
		for range l.Epoch(t.Context(), 0) {
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	run("train")
	run("validation")
	if got := reports(t, &view); len(got) != 2 || got[0].Name != "train" || !got[0].Closed || got[0].Samples != 8 || len(got[0].Working) != 0 {
		t.Errorf("got %+v", got)
	}
	if page, _ := get(t, &view, ""); strings.Contains(page, "does now") {
		t.Errorf("the page has workers of closed loaders:\n%s", page)
	}
	for range 3 {
		run("train")
	}
	if got := reports(t, &view); len(got) != 2 || got[0].Name != "validation" || got[1].Name != "train" || got[1].Samples != 8 {
		t.Errorf("got %+v", got)
	}
}

// TestAViewKeepsNoClosedLoader, with its dataset, but only its last report.
func TestAViewKeepsNoClosedLoader(t *testing.T) {
	var view live.View
	var data weak.Pointer[[1 << 20]byte]
	func() {
		big := new([1 << 20]byte)
		data = weak.Make(big)
		l, err := loader.New(fake(make([]string, 8), func(i int) time.Duration { return time.Duration(big[i]) }), loader.Observe(view.Trace("train")))
		if err != nil {
			t.Fatal(err)
		}
		for range l.Epoch(t.Context(), 0) {
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}()
	for range 100 {
		if runtime.GC(); data.Value() == nil {
			break
		}
		time.Sleep(10 * time.Millisecond) // workers are leaving
	}
	if data.Value() != nil {
		t.Error("the dataset of a closed loader is in use")
	}
	if got := reports(t, &view)[0]; !got.Closed || got.Samples != 8 || len(got.Slowest) == 0 {
		t.Errorf("got %+v", got)
	}
}

func TestATraceIsForOneLoader(t *testing.T) {
	var view live.View
	hooks := loader.Observe(view.Trace("train"))
	ds := fake(make([]string, 8), steady(0))
	l := loadertest.New(t, ds, hooks)
	if _, err := loader.New(ds, hooks); err == nil || !strings.Contains(err.Error(), `loader: hook LoaderMade: live: Trace("train"): it already belongs to a loader`) {
		t.Errorf("got %v", err)
	}
	for range l.Epoch(t.Context(), 0) {
	}
	if got := reports(t, &view); len(got) != 1 || got[0].Samples != 8 || got[0].Closed {
		t.Errorf("got %+v, want the first loader", got)
	}
}

func TestRatesAreThoseOfTheLastSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var view live.View
		l := loadertest.New(t, fake(make([]string, 400), steady(100*time.Millisecond)), loader.Workers(1), loader.BatchSize(5), loader.Observe(view.Trace("train")))
		time.Sleep(50 * time.Millisecond) // so that the lines are not written while batches come
		stop := view.Lines(io.Discard, time.Second)
		defer stop()
		for b := range l.Epoch(t.Context(), 0) {
			switch got := reports(t, &view)[0]; b.Indices()[0] {
			case 195:
				if got.Rate < 9.5 || got.Rate > 10.6 || !near(got.Wait, 1) { // looks are a second apart
					t.Errorf("got %+v", got)
				}
				time.Sleep(time.Minute)
			case 200:
				if got.Rate > 5 || got.Wait > 0.2 {
					t.Errorf("after a slow body: got %+v", got)
				}
			}
		}
	})
}

func TestLinesHaveOnePerLoader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var view live.View
		var text strings.Builder
		for _, name := range []string{"train", "validation"} {
			l := loadertest.New(t, fake([]string{"a", "b", "bad", "c"}, steady(time.Second)), loader.Workers(1), loader.BatchSize(2),
				loader.Skip(loader.NoLimit), loader.Observe(view.Trace(name)))
			for range l.Epoch(t.Context(), 0) {
			}
		}
		view.Lines(&text, time.Hour)()
		lines := strings.Split(text.String(), "\n")
		if len(lines) != 3 || !strings.HasPrefix(lines[0], "train: 0.375 samples/s, 3 samples in 2 batches, the loop waits 100%, 0 of ") || !strings.Contains(lines[0], "batches ready, 1 dropped; ") || !strings.HasPrefix(lines[1], "validation: ") {
			t.Errorf("got %q", lines)
		}
	})
}

func TestTheViewSaysWhatAutoHasChosen(t *testing.T) {
	var view live.View
	l := loadertest.New(t, fake(make([]string, 8), steady(0)), loader.Workers(loader.Auto), loader.Observe(view.Trace("train")))
	for range l.Epoch(t.Context(), 0) {
	}
	page, _ := get(t, &view, "")
	if want := l.Stats().Tuning; want == "" || !strings.Contains(page, "Auto: "+want) {
		t.Errorf("the page lacks %q:\n%s", want, page)
	}
}

func TestTheViewMayBeAskedAtAnyTime(t *testing.T) {
	var view live.View
	over := make(chan struct{})
	go func() {
		defer close(over)
		for range 50 {
			get(t, &view, "")
		}
	}()
	stop := view.Lines(new(strings.Builder), time.Millisecond)
	for range 3 {
		l := loadertest.New(t, fake(make([]string, 500), steady(10*time.Microsecond)), loader.Workers(4), loader.BatchSize(3), loader.Observe(view.Trace("train")))
		for range l.Epochs(t.Context(), 0, 3) {
		}
		l.Close()
	}
	<-over
	stop()
	stop()
}
