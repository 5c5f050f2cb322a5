package live

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/trace"
)

// A report is what a view shows of a loader. It is also the JSON, in which times are in
// seconds and shares are from 0 to 1.
type report struct {
	Name    string  `json:"name"`
	Closed  bool    `json:"closed"`
	Seconds float64 `json:"seconds"` // since the loader was made, until it was closed
	Verdict string  `json:"verdict"`
	Tuning  string  `json:"tuning"` // what Auto has chosen and why; empty without it

	// Of the last ten seconds.
	Recent rates `json:"recent"`

	// Since the loader was made.
	Samples    int64   `json:"samples"`
	Batches    int64   `json:"batches"`
	Emptied    int64   `json:"emptied"`
	Dropped    int64   `json:"dropped"`
	FirstBatch float64 `json:"first_batch"`

	Workers int   `json:"workers"`
	Slabs   int   `json:"slabs"`
	Ready   int   `json:"ready"`
	Bytes   int64 `json:"bytes"`

	Stages  []stage    `json:"stages"`
	Working []activity `json:"working"`
	Slowest []sample   `json:"slowest"`
	Failed  []failed   `json:"failed"`  // of the first 1,000 failures, if there were more
	History []moment   `json:"history"` // in order of time
}

// rates are what a loader did in some time.
type rates struct {
	Seconds    float64 `json:"seconds"`
	Samples    float64 `json:"samples_per_second"`
	Batches    float64 `json:"batches_per_second"`
	Wait       float64 `json:"wait"`        // share of the loop's time
	Busy       float64 `json:"busy"`        // share of the workers' time
	MemoryWait float64 `json:"memory_wait"` // share of the workers' time
}

type stage struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"` // of the workers' busy time
	Call  float64 `json:"call"`  // average time of a call
}

type activity struct {
	Worker int     `json:"worker"` // -1 if it is none
	Doing  string  `json:"doing"`
	Index  int     `json:"index"` // -1 if no sample is placed
	Sample string  `json:"sample"`
	Stage  string  `json:"stage"`
	For    float64 `json:"for"`
	calls  bool
}

type sample struct {
	Index int     `json:"index"`
	Name  string  `json:"name"`
	Epoch int     `json:"epoch"`
	Batch int     `json:"batch"`
	Took  float64 `json:"took"`
	Stage string  `json:"stage"` // that took longest
}

type failed struct {
	Index int    `json:"index"`
	Name  string `json:"name"`
	Epoch int    `json:"epoch"` // in which it failed first
	Batch int    `json:"batch"`
	Times int    `json:"times"`
	More  bool   `json:"more"` // whether it may have failed more often than that
}

// A moment is the time from one point to the next.
type moment struct {
	Ago     float64 `json:"ago"` // when it ended
	Samples float64 `json:"samples_per_second"`
	Wait    float64 `json:"wait"`
}

// shownFailures is the number of failed samples that are shown.
const shownFailures = 10

func (w *watch) report(now time.Time) report {
	s, working, points, made, ended := w.look(now)
	closed := !ended.IsZero()
	if closed {
		now = ended
	}
	last := lately(points, now)
	recent := total(last)
	r := report{
		Name: w.name, Closed: closed, Seconds: now.Sub(made).Seconds(),
		Verdict: verdict(s, recent, working), Tuning: s.Tuning,
		Recent:  ratesOf(last),
		Samples: s.Samples, Batches: s.Batches, Emptied: s.Emptied, Dropped: s.Dropped, FirstBatch: s.Wait.First.Seconds(),
		Workers: s.Workers, Slabs: s.Slabs, Ready: s.Ready, Bytes: s.SlabBytes,
		Stages: []stage{}, Working: []activity{}, Slowest: []sample{}, Failed: []failed{}, History: []moment{},
	}
	from := recent
	if from.Busy <= 0 {
		from = s
	}
	for _, t := range from.Stages {
		r.Stages = append(r.Stages, stage{t.Name, share(t.Total, from.Busy), t.Total.Seconds() / float64(max(t.Count, 1))})
	}
	for _, a := range working {
		r.Working = append(r.Working, activity{a.Worker, a.Doing, a.Index, a.Name, a.Stage, a.For.Seconds(), a.Calls()})
	}
	for _, t := range w.slow.Samples() {
		r.Slowest = append(r.Slowest, sample{t.Index, t.Name, t.Epoch, t.Batch, t.Took.Seconds(), longest(t)})
	}
	r.Failed = append(r.Failed, failures(s.Failures, s.Dropped)...)
	for i := 1; i < len(points); i++ {
		took := points[i].at.Sub(points[i-1].at)
		if took < spacing/2 && i > 1 {
			continue // too short for a rate
		}
		m := ratesOf(points[i-1 : i+1])
		r.History = append(r.History, moment{now.Sub(points[i].at).Seconds(), m.Samples, m.Wait})
	}
	return r
}

// failures are the samples that failed most often, of those whose errors are kept. dropped
// is the number of all failures.
func failures(errs []*loader.SampleError, dropped int64) (all []failed) {
	at := map[int]int{}
	for _, e := range errs {
		i, ok := at[e.Index]
		if !ok {
			i = len(all)
			at[e.Index] = i
			all = append(all, failed{e.Index, e.Name, e.Epoch, e.Batch, 0, dropped > int64(len(errs))})
		}
		all[i].Times++
	}
	slices.SortStableFunc(all, func(a, b failed) int { return cmp.Compare(b.Times, a.Times) })
	return all[:min(len(all), shownFailures)]
}

// lately is the points since the last one that is ten seconds old, or all of them.
func lately(points []point, now time.Time) []point {
	from := 0
	for i, p := range points {
		if now.Sub(p.at) >= recently {
			from = i
		}
	}
	return points[from:]
}

// total is what was done from the first point to the last one.
func total(points []point) loader.Stats {
	return points[len(points)-1].stats.Sub(points[0].stats)
}

// ratesOf is what was done from the first point to the last one, per second and as shares.
func ratesOf(points []point) rates {
	d, took := total(points), points[len(points)-1].at.Sub(points[0].at)
	r := rates{Seconds: took.Seconds(), Wait: share(d.Wait.Total, d.Wait.Total+d.Body)}
	if took > 0 {
		r.Samples, r.Batches = float64(d.Samples)/took.Seconds(), float64(d.Batches)/took.Seconds()
		r.Busy, r.MemoryWait = min(1, share(d.Busy, worked(points))), min(1, share(d.MemoryWait, worked(points)))
	}
	return r
}

// worked is the time of all workers together. With Auto their number changes, and from one
// point to the next it is taken to be the mean of both.
func worked(points []point) (sum time.Duration) {
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		sum += time.Duration(max(a.stats.Workers, 1)+max(b.stats.Workers, 1)) * b.at.Sub(a.at) / 2
	}
	return sum
}

// share is the share of a part, from 0 to 1.
func share(part, whole time.Duration) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// long is how long the loop must have waited for a batch to say so instead of what limits
// the loop on average.
const long = 5 * time.Second

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
		text += fmt.Sprintf(", %s,", plain(title(a.Index, a.Name)))
	}
	if a.Stage != "" {
		text += " in stage " + a.Stage
	}
	return text + fmt.Sprintf(" takes %v", a.For.Round(100*time.Millisecond))
}

// title is a sample's name, or its index if it has none.
func title(index int, name string) string {
	if name == "" {
		return fmt.Sprintf("sample %d", index)
	}
	return name
}

// longest is the stage that took most of a sample's time.
func longest(s trace.Sample) string {
	if len(s.Stages) == 0 {
		return ""
	}
	return slices.MaxFunc(s.Stages, func(a, b loader.StageSpan) int { return cmp.Compare(a.Took, b.Took) }).Name
}
