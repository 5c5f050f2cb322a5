package loader

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/loader/internal/assemble"
)

// Stats says what a loader has done since it was made, and where the time went. For an interval, subtract earlier
// statistics: s.Sub(before).
type Stats struct {
	Samples int64 // delivered to the loop body
	Batches int64 // delivered to the loop body
	Emptied int64 // batches that lost all their samples to [Skip] and were not delivered

	// Dropped is the number of samples that could not be placed, in batches that the loop has reached.
	Dropped int64
	// Failures lists the first 1,000 of these samples, but none that a service could not place: its batches say only
	// how many there were.
	Failures []*SampleError

	// Wait is the time that the loop waited for batches. If it grows, the loader is slower than the loop body.
	Wait time.Duration
	// FirstWait is the time from the start of the last loop to its first batch; 0 in an interval that begins later.
	FirstWait time.Duration
	// Body is the time that the loop body took, all batches together.
	Body time.Duration

	// Busy is the time that workers spent on samples, all workers together.
	Busy time.Duration
	// Drawing is the time that workers spent in the sampler and the Allocator, all workers together.
	Drawing time.Duration
	// MemoryWait is the time that workers waited for a free slab, all workers together. If it grows, the loop body is
	// slower than the loader. If Wait grows too, batches take unequal times: raise [InFlight].
	MemoryWait time.Duration
	// Stages divides Busy into the stages that the dataset reports. If "read" is large, storage is the limit; if
	// "service" is, the one that package remote asks for batches; if "decode" is, processors.
	Stages []StageTime

	Workers   int   // number of workers, with Auto of those that are active
	Slabs     int   // number of slabs, each the memory of one batch
	SlabBytes int64 // bytes of all slabs and ragged fields

	// Tuning says what [Auto] has chosen, and why, such as "8 workers: 2 workers waited for 96% of their time". It is
	// empty without Auto.
	Tuning string

	// Ready is the number of complete batches that wait for the loop body.
	Ready int

	noBatch string // why the last loop ended without a batch; empty while a loop runs, and after one that ended early
}

// Sub gives the statistics of the time between earlier and s. What is no sum, such as Workers, is that of s.
func (s Stats) Sub(earlier Stats) Stats {
	s.Samples -= earlier.Samples
	s.Batches -= earlier.Batches
	s.Emptied -= earlier.Emptied
	s.Dropped -= earlier.Dropped
	s.Failures = s.Failures[min(len(earlier.Failures), len(s.Failures)):]
	s.Wait -= earlier.Wait
	if s.FirstWait == earlier.FirstWait {
		s.FirstWait = 0
	}
	s.Body -= earlier.Body
	s.Busy -= earlier.Busy
	s.Drawing -= earlier.Drawing
	s.MemoryWait -= earlier.MemoryWait
	s.Stages = slices.Clone(s.Stages)
	for i := range s.Stages {
		for _, e := range earlier.Stages {
			if e.Name == s.Stages[i].Name {
				s.Stages[i].Count -= e.Count
				s.Stages[i].Total -= e.Total
			}
		}
	}
	return s
}

// A StageTime is the time that one stage of placing samples has taken so far, all workers together.
type StageTime struct {
	Name  string        // as given to [dataset.Slot.Stage]
	Count int64         // how often the stage was entered
	Total time.Duration // in the stage
}

// Stats reports what the loader has done so far. It may be called while a loop runs.
func (l *Loader) Stats() Stats {
	s := l.counts.now()
	s.Workers, s.Slabs, s.Tuning = l.team.Active(), l.pool.Len(), l.tuning()
	done, ready := l.team.Effort()
	s.Busy, s.Drawing, s.MemoryWait, s.Ready = done.Busy, done.Drawing, done.MemoryWait, ready
	for _, stage := range done.Stages {
		s.Stages = append(s.Stages, StageTime(stage))
	}
	s.SlabBytes = l.pool.Held()
	return s
}

// String is a table of the statistics and the [Stats.Verdict], for people.
func (s Stats) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	samples, batches := figures.Count(s.Samples, "sample", "samples"), figures.Count(s.Batches, "batch", "batches")
	fmt.Fprintf(w, "delivered\t%s in %s, %s dropped", samples, batches, figures.Count(s.Dropped, "sample", "samples"))
	if s.Emptied > 0 {
		fmt.Fprintf(w, ", %s emptied by that", figures.Count(s.Emptied, "batch", "batches"))
	}
	fmt.Fprintln(w)
	fmt.Fprintf(w, "loop waited\t%v in all, for the first batch %v\n", figures.Round(s.Wait), figures.Round(s.FirstWait))
	fmt.Fprintf(w, "loop body\t%v in all\n", figures.Round(s.Body))
	fmt.Fprintf(w, "workers\t%d, busy %v, waited for memory %v\n", s.Workers, figures.Round(s.Busy), figures.Round(s.MemoryWait))
	each := figures.Bytes(s.SlabBytes / int64(max(s.Slabs, 1)))
	fmt.Fprintf(w, "memory\t%s of %s, %d ready\n", figures.Count(s.Slabs, "slab", "slabs"), each, s.Ready)
	if s.Tuning != "" {
		fmt.Fprintf(w, "tuning\t%s\n", s.Tuning)
	}
	w.Flush()
	if len(s.Stages) > 0 {
		b.WriteString("\n")
		s.writeStages(&b)
	}
	if verdict := s.Verdict(); verdict != "" {
		fmt.Fprintf(&b, "\n%s\n", verdict)
	}
	return b.String()
}

func (s Stats) writeStages(b *strings.Builder) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	defer w.Flush()
	fmt.Fprintf(w, "stage\tshare\ttotal\tcalls\tper call\t\n")
	rest := s.Busy
	for _, stage := range s.Stages {
		rest -= stage.Total
		each := time.Duration(0)
		if stage.Count > 0 {
			each = stage.Total / time.Duration(stage.Count)
		}
		fmt.Fprintf(w, "%s\t%s\t%v\t%d\t%v\t\n", stage.Name, share(stage.Total, s.Busy), figures.Round(stage.Total), stage.Count, figures.Round(each))
	}
	fmt.Fprintf(w, "other\t%s\t%v\t\t\t\n", share(rest, s.Busy), figures.Round(rest))
}

func share(part, whole time.Duration) string {
	if whole <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(whole))
}

// maxFailures bounds Stats.Failures.
const maxFailures = 1000

// counts holds the part of Stats that the loop writes.
type counts struct {
	mu     sync.Mutex
	stats  Stats
	since  time.Time // when the loop began to wait or entered its body; zero if no loop runs
	inBody bool
}

// loops notes that a loop runs and waits since begun, or that it has ended if begun is zero.
func (c *counts) loops(begun time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since, c.inBody = begun, false
	if !begun.IsZero() {
		c.stats.noBatch = ""
	}
}

func (c *counts) waited(d time.Duration, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since, c.inBody = c.since.Add(d), true
	c.stats.Wait += d
	if first {
		c.stats.FirstWait = d
	}
}

func (c *counts) bodyTook(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Body += d
	c.since, c.inBody = c.since.Add(d), false
}

// add changes the sums.
func (c *counts) add(change func(*Stats)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.stats)
}

// failed counts samples that could not be placed here, or by a service.
func (c *counts) failed(failed []*assemble.Failure, dropped int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Dropped += int64(len(failed) + dropped)
	for _, f := range failed {
		if len(c.stats.Failures) < maxFailures {
			c.stats.Failures = append(c.stats.Failures, (*SampleError)(f))
		}
	}
}

func (c *counts) now() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Failures = slices.Clone(s.Failures)
	return s
}

// loop is what the loop does, if one runs.
func (c *counts) loop() (a Activity, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since.IsZero() {
		return a, false
	}
	a = Activity{Worker: -1, Doing: assemble.WaitsForBatch, Epoch: -1, Batch: -1, Index: -1, For: time.Since(c.since)}
	if c.inBody {
		a.Doing = assemble.RunsBody
	}
	return a, true
}
