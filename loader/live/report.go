package live

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/trace"
)

const (
	slowest  = 10               // samples in the list of the slowest, and of those that failed
	recently = 10 * time.Second // for which rates are given
	spacing  = time.Second      // the least time between two looks that are kept
	long     = 5 * time.Second  // a wait of the loop that is the bottleneck by itself
)

// A watch follows a loader. When it is closed, only its last report stays.
type watch struct {
	name string

	mu    sync.Mutex
	slow  *trace.Slow
	l     *loader.Loader // nil before it is made and after it is closed
	ended time.Time      // when it was closed
	last  *report        // of a closed loader
	looks []look         // when somebody looked, in order; of the last seconds, and one before
}

// A look is what a loader had done at a time.
type look struct {
	at    time.Time
	stats loader.Stats
}

// begin follows l. It reports false if it has followed a loader already.
func (w *watch) begin(l *loader.Loader) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.looks != nil {
		return false
	}
	w.l, w.looks = l, []look{{at: time.Now()}}
	return true
}

func (w *watch) open() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended.IsZero()
}

// end is a hook.
func (w *watch) end() error {
	w.mu.Lock()
	w.ended = time.Now()
	w.mu.Unlock()
	last := w.report() // calls the dataset
	w.mu.Lock()
	defer w.mu.Unlock()
	w.l, w.slow, w.last = nil, nil, &last // and looks stay: a watch is for one loader
	return nil
}

// look is what the loader has done, and what it has done lately. A closed loader has no goroutines.
func (w *watch) look(l *loader.Loader) (s, recent loader.Stats, took time.Duration, working []loader.Activity, closed bool) {
	s, working = l.Stats(), l.Working()
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if closed = !w.ended.IsZero(); closed {
		now, working = w.ended, nil
	}
	for len(w.looks) > 1 && now.Sub(w.looks[1].at) >= recently {
		w.looks = w.looks[1:]
	}
	first, last := w.looks[0], w.looks[len(w.looks)-1]
	if now.Sub(last.at) >= spacing {
		w.looks = append(w.looks, look{now, s})
	}
	return s, s.Sub(first.stats), now.Sub(first.at), working, closed
}

// A report is what a view shows of a loader. It is also the JSON, in which times are in
// seconds and shares are from 0 to 1.
type report struct {
	Name    string `json:"name"`
	Closed  bool   `json:"closed"`
	Verdict string `json:"verdict"`
	Tuning  string `json:"tuning"` // what Auto has chosen and why; empty without it

	// Of the last ten seconds, or since the view was last looked at, if that is longer ago.
	Rate float64 `json:"samples_per_second"`
	Wait float64 `json:"wait"` // share of the loop's time
	Busy float64 `json:"busy"` // share of the workers' time

	// Since the loader was made.
	Samples int64 `json:"samples"`
	Batches int64 `json:"batches"`
	Dropped int64 `json:"dropped"`

	Workers int   `json:"workers"`
	Slabs   int   `json:"slabs"`
	Ready   int   `json:"ready"`
	Bytes   int64 `json:"bytes"`

	Stages  []stage    `json:"stages"`
	Working []activity `json:"working"`
	Slowest []sample   `json:"slowest"`
	Failed  []sample   `json:"failed"` // the last of them
}

type stage struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"` // of the workers' busy time
	Call  float64 `json:"call"`  // average time of a call
}

type activity struct {
	Worker int     `json:"worker"` // -1 if it is none
	Doing  string  `json:"doing"`
	Sample string  `json:"sample"`
	Stage  string  `json:"stage"`
	For    float64 `json:"for"`
}

type sample struct {
	Name  string  `json:"name"`
	Epoch int     `json:"epoch"`
	Batch int     `json:"batch"`
	Took  float64 `json:"took"`
	Stage string  `json:"stage"` // that took longest
}

func (w *watch) report() report {
	w.mu.Lock()
	l, slow, last := w.l, w.slow, w.last
	w.mu.Unlock()
	if last != nil {
		return *last
	}
	s, recent, took, working, closed := w.look(l)
	r := report{
		Name: w.name, Closed: closed, Verdict: verdict(s, recent, working), Tuning: s.Tuning,
		Rate: float64(recent.Samples) / max(took.Seconds(), 1e-9),
		Wait: share(recent.Wait, recent.Wait+recent.Body), Busy: share(recent.Busy, recent.Busy+recent.Drawing+recent.MemoryWait),
		Samples: s.Samples, Batches: s.Batches, Dropped: s.Dropped,
		Workers: s.Workers, Slabs: s.Slabs, Ready: s.Ready, Bytes: s.SlabBytes,
		Stages: []stage{}, Working: []activity{}, Slowest: []sample{}, Failed: []sample{},
	}
	for _, t := range recent.Stages {
		r.Stages = append(r.Stages, stage{t.Name, share(t.Total, recent.Busy), t.Total.Seconds() / float64(max(t.Count, 1))})
	}
	for _, a := range working {
		r.Working = append(r.Working, activity{a.Worker, a.Doing, title(a.Index, a.Name), a.Stage, a.For.Seconds()})
	}
	for _, t := range slow.Samples() {
		r.Slowest = append(r.Slowest, sample{title(t.Index, t.Name()), t.Batch.Epoch, t.Batch.Batch, t.Took.Seconds(), longest(t.Stages)})
	}
	for _, e := range s.Failures[max(0, len(s.Failures)-slowest):] {
		r.Failed = append(r.Failed, sample{Name: title(e.Index, e.Name), Epoch: e.Epoch, Batch: e.Batch})
	}
	return r
}

// String is a report in one line.
func (r report) String() string {
	text := fmt.Sprintf("%s: %s samples/s, %s in %s, the loop waits %s, %d of %d batches ready", figures.OneLine(r.Name), number(r.Rate),
		figures.Count(r.Samples, "sample", "samples"), figures.Count(r.Batches, "batch", "batches"), percent(r.Wait), r.Ready, r.Slabs)
	if r.Dropped > 0 {
		text += fmt.Sprintf(", %d dropped", r.Dropped)
	}
	return text + "; " + figures.OneLine(r.Verdict)
}

// share is the share of a part, from 0 to 1.
func share(part, whole time.Duration) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// verdict is the bottleneck in one sentence: that of the last seconds, if they have enough
// batches to tell.
func verdict(s, recent loader.Stats, working []loader.Activity) string {
	for _, a := range working {
		if a.Worker < 0 && a.Doing == "waiting for a batch" && a.For >= long {
			return fmt.Sprintf("the loop has waited %v for a batch%s", a.For.Round(100*time.Millisecond), culprit(working))
		}
	}
	return cmp.Or(recent.Verdict(), s.Verdict(), "no batch yet")
}

// culprit describes the call that lasts longest.
func culprit(working []loader.Activity) string {
	calls := slices.DeleteFunc(slices.Clone(working), func(a loader.Activity) bool { return !a.Calls() })
	if len(calls) == 0 {
		return ""
	}
	a := slices.MaxFunc(calls, func(a, b loader.Activity) int { return cmp.Compare(a.For, b.For) })
	text := ": " + a.Doing
	if a.Index >= 0 {
		text += fmt.Sprintf(", %s,", figures.OneLine(title(a.Index, a.Name)))
	}
	if a.Stage != "" {
		text += " in stage " + a.Stage
	}
	return text + fmt.Sprintf(" takes %v", a.For.Round(100*time.Millisecond))
}

// title is a sample's name, its index if it has none, or nothing if there is no sample.
func title(index int, name string) string {
	if name == "" && index >= 0 {
		return fmt.Sprintf("sample %d", index)
	}
	return name
}

// longest is the stage that took most of a sample's time.
func longest(stages []loader.StageSpan) string {
	if len(stages) == 0 {
		return ""
	}
	return slices.MaxFunc(stages, func(a, b loader.StageSpan) int { return cmp.Compare(a.Took, b.Took) }).Name
}

// number has three digits at least, and no decimal place from 100 on.
func number(x float64) string {
	if x >= 100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

func percent(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }

func seconds(s float64) time.Duration {
	return figures.Round(time.Duration(s * float64(time.Second)))
}
