package trace

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/loader"
)

// Slow is a list of the slowest samples that a loader has placed. Its methods may be
// called at any time, by any goroutine. It keeps the dataset, which names the samples.
type Slow struct {
	k     int
	least atomic.Int64 // nanoseconds that a sample must exceed to get into the list

	mu      sync.Mutex
	samples []loader.SampleInfo // the slowest first
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
		s.least.Store(math.MaxInt64)
	}
	return s
}

// Trace has the hooks that fill the list. It may be given to several loaders whose
// datasets are the same.
func (s *Slow) Trace() loader.Trace {
	return loader.Trace{SampleDone: func(info loader.SampleInfo) {
		if int64(info.Took) > s.least.Load() {
			info.Stages = slices.Clone(info.Stages)
			s.add(info)
		}
	}}
}

// Samples are the slowest samples so far, the slowest first.
func (s *Slow) Samples() []loader.SampleInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.samples)
}

func (s *Slow) add(sample loader.SampleInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.samples, func(o loader.SampleInfo) bool { return o.Index == sample.Index }); i >= 0 {
		if s.samples[i].Took >= sample.Took {
			return
		}
		s.samples = slices.Delete(s.samples, i, i+1)
	}
	s.samples = append(s.samples, sample)
	slices.SortStableFunc(s.samples, func(a, b loader.SampleInfo) int { return cmp.Compare(b.Took, a.Took) })
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
		fmt.Fprintf(w, "%v\t%s\tepoch %d, batch %d\t%s\n", figures.Round(sample.Took), title(sample), sample.Batch.Epoch, sample.Batch.Batch, stages(sample))
	}
	w.Flush()
	return b.String()
}

// title names the sample in one line.
func title(s loader.SampleInfo) string {
	title := fmt.Sprintf("sample %d", s.Index)
	if name := s.Name(); name != "" {
		title = figures.OneLine(name)
	}
	if s.Rows > 1 {
		title += fmt.Sprintf(" and %d more", s.Rows-1)
	}
	return title
}

// stages lists the stages, the longest first, those of the same name together.
func stages(s loader.SampleInfo) string {
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
