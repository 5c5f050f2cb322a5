package trace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/loader"
)

// Slow is a list of the slowest samples that a loader has placed. Its methods may be
// called at any time, by any goroutine.
type Slow struct {
	k     int
	least atomic.Int64 // nanoseconds that a sample must exceed to get into the list

	mu      sync.Mutex
	samples []Sample // the slowest first
}

// A Sample says how long a sample has taken, and in which stages.
type Sample struct {
	Index  int    // in the dataset
	Name   string // the dataset's name for it, such as a file's path; may be empty
	Rows   int    // number of samples, if the dataset has placed several by one call; Index is the first of them
	Epoch  int
	Batch  int // number in the epoch
	Worker int // that placed it
	Took   time.Duration
	Stages []loader.StageSpan // in order
	Err    error              // if it failed
}

// Slowest makes a list of the k slowest samples. Each is listed once, with its slowest attempt.
//
//	slow := trace.Slowest(10)
//	l, err := loader.New(ds, loader.Observe(slow.Trace()))
//	…
//	fmt.Print(slow)
//
// A sample that does not get into the list costs about as much as reading the clock.
func Slowest(k int) *Slow {
	s := &Slow{k: k}
	if k < 1 {
		s.least.Store(1<<63 - 1)
	}
	return s
}

// Trace has the hooks that fill the list. It may be given to several loaders whose
// datasets are the same.
func (s *Slow) Trace() loader.Trace { return loader.Trace{SampleDone: s.done} }

// Samples are the slowest samples so far, the slowest first.
func (s *Slow) Samples() []Sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.samples)
}

// Reset empties the list, so that from now on it has the slowest samples after this call.
func (s *Slow) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = nil
	if s.k > 0 {
		s.least.Store(0)
	}
}

func (s *Slow) done(info loader.SampleInfo) {
	if int64(info.Took) <= s.least.Load() {
		return
	}
	s.add(Sample{
		Index: info.Index, Name: info.Name(), Rows: info.Rows,
		Epoch: info.Batch.Epoch, Batch: info.Batch.Batch, Worker: info.Worker,
		Took: info.Took, Stages: slices.Clone(info.Stages), Err: info.Err,
	})
}

func (s *Slow) add(sample Sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.samples, func(o Sample) bool { return o.Index == sample.Index }); i >= 0 {
		if s.samples[i].Took >= sample.Took {
			return
		}
		s.samples = slices.Delete(s.samples, i, i+1)
	}
	// After those that took as long, so that the first one stays.
	i, _ := slices.BinarySearchFunc(s.samples, sample.Took, func(o Sample, took time.Duration) int {
		if o.Took >= took {
			return -1
		}
		return 1
	})
	s.samples = slices.Insert(s.samples, i, sample)
	s.samples = s.samples[:min(len(s.samples), s.k)]
	if len(s.samples) == s.k {
		s.least.Store(int64(s.samples[s.k-1].Took))
	}
}

// String is a table of the samples, one per line, with the stages in which they were
// longest.
func (s *Slow) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, sample := range s.Samples() {
		fmt.Fprintf(w, "%v\t%s\tepoch %d, batch %d\t%s\n", figures.Round(sample.Took), sample.title(), sample.Epoch, sample.Batch, sample.stages())
	}
	w.Flush()
	return b.String()
}

// title names the sample in one line.
func (s Sample) title() string {
	title := fmt.Sprintf("sample %d", s.Index)
	if s.Name != "" {
		title = fmt.Sprintf("%.100q", s.Name)
		if strings.Trim(title, `"`) == s.Name {
			title = s.Name
		}
	}
	if s.Rows > 1 {
		title += fmt.Sprintf(" and %d more", s.Rows-1)
	}
	return title
}

// stages lists the stages, the longest first, those of the same name together.
func (s Sample) stages() string {
	var sums []loader.StageSpan
	for _, span := range s.Stages {
		i := slices.IndexFunc(sums, func(sum loader.StageSpan) bool { return sum.Name == span.Name })
		if i < 0 {
			sums = append(sums, loader.StageSpan{Name: span.Name, Took: span.Took})
			continue
		}
		sums[i].Took += span.Took
	}
	slices.SortStableFunc(sums, func(a, b loader.StageSpan) int { return cmp.Compare(b.Took, a.Took) })
	var words []string
	for _, sum := range sums {
		words = append(words, fmt.Sprintf("%s %v", sum.Name, figures.Round(sum.Took)))
	}
	if s.Err != nil {
		words = append(words, "failed")
	}
	return strings.Join(words, ", ")
}
