package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/live"
)

// A fake is a dataset with names of its own, whose samples take some time to decode.
type fake struct {
	names []string
	took  func(i int) time.Duration
}

func (f fake) Len() int { return len(f.names) }

func (f fake) Spec() dataset.Spec { return dataset.Spec{{Name: "x", Dtype: tensor.Int64}} }

func (f fake) Name(i int) string { return f.names[i] }

func (f fake) Open() (dataset.Reader, error) { return reader{f}, nil }

type reader struct{ fake }

func (r reader) Place(_ context.Context, i int, dst dataset.Slot) error {
	dst.Stage(dataset.StageDecode)
	time.Sleep(r.took(i))
	if r.names[i] == "bad" {
		return errors.New("https://bucket/bad?signature=secret")
	}
	dataset.Set(dst, 0, int64(i))
	return nil
}

func (r reader) Close() error { return nil }

func newLoader(t testing.TB, ds dataset.Dataset, options ...loader.Option) *loader.Loader {
	t.Helper()
	l, err := loader.New(ds, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return l
}

func steady(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

// get asks the view for its page or, by a query, for something else.
func get(t testing.TB, v *live.View, query string) (body string, resp *http.Response) {
	t.Helper()
	w := httptest.NewRecorder()
	v.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/debug/loader?"+query, nil))
	return w.Body.String(), w.Result()
}

// A report is what tests read of the JSON.
type report struct {
	Name                      string
	Closed                    bool
	Seconds                   float64
	Verdict                   string
	Samples, Batches, Dropped int64
	Recent                    struct {
		Samples    float64 `json:"samples_per_second"`
		Batches    float64 `json:"batches_per_second"`
		Wait, Busy float64
	}
	Stages []struct {
		Name        string
		Share, Call float64
	}
	Working []struct {
		Worker, Index        int
		Doing, Sample, Stage string
		For                  float64
	}
	Slowest []struct {
		Name, Stage string
		Took        float64
	}
	Failed []struct {
		Name  string
		Times int
	}
	History []struct {
		Ago     float64
		Samples float64 `json:"samples_per_second"`
		Wait    float64
	}
}

func reports(t testing.TB, v *live.View) []report {
	t.Helper()
	text, resp := get(t, v, "format=json")
	if got := resp.Header.Get("Content-Type"); got != "application/json" {
		t.Fatalf("got %s: %s", got, text)
	}
	var all struct{ Loaders []report }
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	return all.Loaders
}

func near(a, b float64) bool { return math.Abs(a-b) <= 0.02*math.Abs(b) }

func TestTheViewHasRatesStagesAndTheBottleneck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var view live.View
		ds := fake{make([]string, 400), steady(100 * time.Millisecond)}
		ds.names[3] = "three"
		ds.took = func(i int) time.Duration {
			if i == 3 {
				return 200 * time.Millisecond
			}
			return 100 * time.Millisecond
		}
		l := newLoader(t, ds, loader.Workers(2), loader.BatchSize(4), loader.Observe(view.Trace("train")))
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if b.Indices()[0] < 380 {
				continue
			}
			// 2 workers place 20 samples a second, and the body takes no time.
			r := reports(t, &view)[0]
			if r.Name != "train" || r.Closed || !near(r.Recent.Samples, 20) || !near(r.Recent.Wait, 1) || !near(r.Recent.Busy, 1) {
				t.Errorf("got %+v", r)
			}
			if len(r.Stages) != 1 || r.Stages[0].Name != "decode" || !near(r.Stages[0].Share, 1) || !near(r.Stages[0].Call, 0.1) {
				t.Errorf("got stages %+v", r.Stages)
			}
			if len(r.Slowest) != 10 || r.Slowest[0].Name != "three" || r.Slowest[0].Stage != "decode" || !near(r.Slowest[0].Took, 0.2) {
				t.Errorf("got slowest %+v", r.Slowest)
			}
			if n := len(r.History); n < 15 || n > 21 || !near(r.History[n/2].Samples, 20) {
				t.Errorf("got a history of %+v", r.History)
			}
			if want := "of the work of 2 workers, and the loop waits 100% of its time"; !strings.Contains(r.Verdict, want) {
				t.Errorf("got %q, want %q", r.Verdict, want)
			}
			break
		}
	})
}

func TestTheViewNamesWhatTheLoopWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var view live.View
		ds := fake{[]string{"quick.jpg", "slow.jpg"}, func(i int) time.Duration { return time.Duration(i) * time.Minute }}
		l := newLoader(t, ds, loader.Workers(1), loader.Observe(view.Trace("train")))
		go func() {
			time.Sleep(20 * time.Second)
			r := reports(t, &view)[0]
			if want := "the loop has waited 20s for a batch: placing a sample, slow.jpg, in stage decode takes 20s"; r.Verdict != want {
				t.Errorf("got %q, want %q", r.Verdict, want)
			}
			if a := r.Working[1]; a.Worker != 0 || a.Index != 1 || a.Sample != "slow.jpg" || a.Stage != "decode" || a.For != 20 {
				t.Errorf("got %+v", a)
			}
			page, _ := get(t, &view, "")
			if !strings.Contains(page, `<td class="n">20s<td class="does">decode<td class="name">slow.jpg<`) {
				t.Errorf("the page does not show the worker:\n%s", page)
			}
		}()
		for range l.Epoch(t.Context(), 0) {
		}
	})
}

func TestHostileNamesDoNoHarm(t *testing.T) {
	var view live.View
	ds := fake{[]string{`<script>alert(1)</script>"'&`, "\x1b]0;owned\x07\x1b[2J", "\u202egpj.exe", strings.Repeat("a", 5000) + ".jpg", strings.Repeat("ä", 100), "bad"}, steady(0)}
	l := newLoader(t, ds, loader.Workers(1), loader.BatchSize(6), loader.OnError(loader.Skip, loader.NoLimit), loader.Observe(view.Trace("<b>train</b>")))
	for range l.Epochs(t.Context(), 0, 2) {
	}
	var text strings.Builder
	view.Terminal(&text, time.Hour)()
	page, resp := get(t, &view, "")
	numbers, _ := get(t, &view, "format=json")
	for what, shown := range map[string]string{"page": page, "JSON": numbers, "terminal": text.String()} {
		for _, harm := range []string{"<script", "\x1b", "\x07", "signature", "secret"} {
			if strings.Contains(shown, harm) {
				t.Errorf("the %s has %q", what, harm)
			}
		}
	}
	for _, harm := range []string{"<b>train", "\u202e", strings.Repeat("a", 100), "src=", "http:", "https:"} {
		if strings.Contains(page, harm) {
			t.Errorf("the page has %q", harm)
		}
	}
	for _, want := range []string{"&lt;script&gt;alert(1)&lt;/script&gt;", strings.Repeat("a", 39) + "…" + strings.Repeat("a", 76) + ".jpg", strings.Repeat("ä", 100), "Samples that failed", `<td class="name">bad<`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	for key, want := range map[string]string{"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"} {
		if got := resp.Header.Get(key); got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
	if got := resp.Header.Get("Content-Security-Policy"); !strings.HasPrefix(got, "default-src 'none';") {
		t.Errorf("got the policy %q", got)
	}
	if got := reports(t, &view)[0]; got.Dropped != 2 || len(got.Failed) != 1 || got.Failed[0].Name != "bad" || got.Failed[0].Times != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestThePageOnlyReads(t *testing.T) {
	var view live.View
	for method, want := range map[string]int{"GET": 200, "HEAD": 200, "POST": 405, "PUT": 405, "DELETE": 405} {
		w := httptest.NewRecorder()
		view.ServeHTTP(w, httptest.NewRequest(method, "/", nil))
		if w.Code != want {
			t.Errorf("%s: got %d, want %d", method, w.Code, want)
		}
	}
	for query, want := range map[string]int{"": 200, "refresh=0": 200, "refresh=60": 200, "refresh=-1": 400, "refresh=x": 400, "refresh=1e9": 400, "format=xml": 400} {
		if _, resp := get(t, &view, query); resp.StatusCode != want {
			t.Errorf("%s: got %d, want %d", query, resp.StatusCode, want)
		}
	}
	page, _ := get(t, &view, "refresh=60")
	if !strings.Contains(page, `http-equiv="refresh" content="60"`) {
		t.Errorf("the page does not refresh:\n%s", page)
	}
	page, _ = get(t, &view, "refresh=0")
	if strings.Contains(page, `http-equiv="refresh"`) || !strings.Contains(page, "No loader has been made") {
		t.Errorf("got\n%s", page)
	}
}

func TestClosedLoadersAreShownUntilTheNextOfTheirName(t *testing.T) {
	var view live.View
	run := func(name string) {
		l := newLoader(t, fake{make([]string, 8), steady(0)}, loader.Observe(view.Trace(name)))
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
	if page, _ := get(t, &view, "refresh=0"); strings.Contains(page, "<h3>Now") {
		t.Errorf("the page has workers of closed loaders:\n%s", page)
	}
	for range 3 {
		run("train")
	}
	if got := reports(t, &view); len(got) != 2 || got[0].Name != "validation" || got[1].Name != "train" || got[1].Samples != 8 {
		t.Errorf("got %+v", got)
	}
}

func TestATraceIsForOneLoaderAtATime(t *testing.T) {
	var view live.View
	hooks := loader.Observe(view.Trace("train"))
	ds := fake{make([]string, 8), steady(0)}
	l := newLoader(t, ds, hooks)
	if _, err := loader.New(ds, hooks); err == nil || !strings.Contains(err.Error(), `loader: hook LoaderMade: live: Trace("train"): it belongs to a loader that is not closed`) {
		t.Errorf("got %v", err)
	}
	for range l.Epoch(t.Context(), 0) {
	}
	if got := reports(t, &view); len(got) != 1 || got[0].Samples != 8 || got[0].Closed {
		t.Errorf("got %+v, want the first loader", got)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	newLoader(t, ds, hooks)
}

func TestTheViewSaysWhatAutoHasChosen(t *testing.T) {
	var view live.View
	l := newLoader(t, fake{make([]string, 8), steady(0)}, loader.Workers(loader.Auto), loader.Observe(view.Trace("train")))
	for range l.Epoch(t.Context(), 0) {
	}
	page, _ := get(t, &view, "")
	if want := l.Stats().Tuning.String(); want == "" || !strings.Contains(page, "Auto: "+want) {
		t.Errorf("the page lacks %q:\n%s", want, page)
	}
}

// TestBusyFollowsAuto from 2 workers to many, all of them busy.
func TestBusyFollowsAuto(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	synctest.Test(t, func(t *testing.T) {
		var view live.View
		ds := dataset.Func(50_000, fake{}.Spec(), func(context.Context, int, dataset.Slot) error {
			time.Sleep(20 * time.Millisecond)
			return nil
		})
		l := newLoader(t, ds, loader.Workers(loader.Auto), loader.Observe(view.Trace("train")))
		made := time.Now()
		for _, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if time.Since(made) > 4*time.Second {
				break
			}
		}
		if r, s := reports(t, &view)[0], l.Stats(); s.Workers < 16 || r.Recent.Busy < 0.9 {
			t.Errorf("got %.0f%% busy, want nearly all of many, with %v", 100*r.Recent.Busy, s.Tuning)
		}
	})
}

func TestTheHistoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var view live.View
		l := newLoader(t, fake{make([]string, 1000), steady(time.Second)}, loader.Workers(1), loader.Observe(view.Trace("")))
		for range l.Epoch(t.Context(), 0) {
		}
		r := reports(t, &view)[0]
		if n := len(r.History); n < 290 || n > 300 || r.History[0].Ago > 310 {
			t.Errorf("got %d moments, the first %v s ago", n, r.History[0].Ago)
		}
	})
}

// TestTheHistoryHasNoGapWhereBatchesBecomeSlow: batches of 10 ms already count as slow ones.
func TestTheHistoryHasNoGapWhereBatchesBecomeSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var view live.View
		took := func(i int) time.Duration {
			if i < 200 {
				return 10 * time.Millisecond
			}
			return 10 * time.Second
		}
		l := newLoader(t, fake{make([]string, 220), took}, loader.Workers(1), loader.Observe(view.Trace("")))
		for range l.Epoch(t.Context(), 0) {
		}
		all := reports(t, &view)[0].History
		for i := range all[1:] {
			if gap := all[i].Ago - all[i+1].Ago; gap > 11 {
				t.Errorf("there is no moment from %.0f s ago on, for %.0f s", all[i].Ago, gap)
			}
		}
		if len(all) < 20 {
			t.Errorf("got %d moments, want one for every slow batch", len(all))
		}
	})
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
	stop := view.Terminal(new(strings.Builder), time.Millisecond)
	for range 3 {
		l := newLoader(t, fake{make([]string, 500), steady(10 * time.Microsecond)}, loader.Workers(4), loader.BatchSize(3), loader.Observe(view.Trace("train")))
		for range l.Epochs(t.Context(), 0, 3) {
		}
		l.Close()
	}
	<-over
	stop()
	stop()
}
