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

	// Dropped is the number of samples that could not be placed, in batches that the loop has reached. With [Skip]
	// their batches are shorter. With [Replace] other samples took their place, and replacements that failed count too.
	Dropped int64
	// Failures lists the first 1,000 of these samples, but none that a service could not place: its batches say only
	// how many there were.
	Failures []*SampleError

	// Wait is the time that the loop waited for batches. If it grows, the loader is slower than the loop body: add
	// workers, or make samples cheaper. If it hardly grows, the loop body is the limit, and more workers change
	// nothing.
	Wait Wait
	// Body is the time that the loop body took, all batches together.
	Body time.Duration

	Work

	Workers   int   // number of workers, with Auto of those that are active; 0 if the loop's goroutine does the work
	Slabs     int   // number of slabs, each the memory of one batch
	SlabBytes int64 // bytes of all slabs and ragged fields; after Close those that Close freed

	// Tuning says what [Auto] has chosen, and why, such as "8 workers: 2 workers waited for 96% of their time". It is
	// empty without Auto.
	Tuning string

	// Ready is the number of complete batches that wait for the loop body. If it is near 0, the loop may soon wait for
	// batches. If it is near Slabs, workers may soon wait for the loop body.
	Ready int

	noBatch string // why the last loop ended without a batch; empty while a loop runs, and after one that ended early
}

// Work is what workers, and the processors, have done for a loader.
type Work struct {
	// Busy is the time that workers spent on samples, all workers together.
	Busy time.Duration
	// Drawing is the time that workers spent before the first sample of their batches, all workers together: in the
	// sampler, the Allocator and the hook BatchBegun.
	Drawing time.Duration
	// MemoryWait is the time that workers waited for a free slab, all workers together. If it grows, the loop body is
	// slower than the loader, which is what one wants. If Wait grows too, batches take unequal times: raise [InFlight].
	MemoryWait time.Duration
	// Stages divides Busy into the stages that the dataset reports. If "read" is large, storage is the limit: add
	// workers, beyond the number of processors. If "service" is, it is the one that package remote asks for batches. If
	// "decode" is large, processors are the limit: use a smaller or preprocessed format.
	Stages []StageTime

	// ProcessorTime is the time that the whole program has used processors while loops ran, the garbage collector and
	// the loop body included. It is 0 where the system does not tell it. Go does not tell it for a stage or a worker.
	ProcessorTime time.Duration
	// ProcessorWait is the time that threads of the program were ready to run while loops ran and had no processor,
	// because others had them, or a container's limit was reached, all threads together. It is read ten times per
	// second at most, and 0 where the system does not tell it: Linux does.
	ProcessorWait time.Duration
}

// Wait sums up the times that the loop waited for batches.
type Wait struct {
	Count   int64         // number of waits, one per batch, however short
	Total   time.Duration // of all waits
	Longest time.Duration // the longest wait in all loops
	First   time.Duration // from the start of the last loop to its first batch, also after Sub
}

// Sub gives the statistics of the time between earlier and s. Workers, Slabs, SlabBytes, Tuning, Ready and
// Wait.First are those of s. So is Wait.Longest if it came after earlier; otherwise the longest wait of that time is
// not known, and it is 0.
func (s Stats) Sub(earlier Stats) Stats {
	s.Samples -= earlier.Samples
	s.Batches -= earlier.Batches
	s.Emptied -= earlier.Emptied
	s.Dropped -= earlier.Dropped
	s.Failures = s.Failures[min(len(earlier.Failures), len(s.Failures)):]
	s.Wait.Count -= earlier.Wait.Count
	s.Wait.Total -= earlier.Wait.Total
	if s.Wait.Longest == earlier.Wait.Longest {
		s.Wait.Longest = 0
	}
	s.Body -= earlier.Body
	s.Work = s.Work.sub(earlier.Work)
	return s
}

func (w Work) sub(earlier Work) Work {
	w.Busy -= earlier.Busy
	w.Drawing -= earlier.Drawing
	w.MemoryWait -= earlier.MemoryWait
	w.ProcessorTime -= earlier.ProcessorTime
	w.ProcessorWait -= earlier.ProcessorWait
	w.Stages = slices.Clone(w.Stages)
	for i := range w.Stages {
		for _, e := range earlier.Stages {
			if e.Name == w.Stages[i].Name {
				w.Stages[i].Count -= e.Count
				w.Stages[i].Total -= e.Total
			}
		}
	}
	return w
}

// A StageTime is the time that one stage of placing samples has taken so far, all workers together.
type StageTime struct {
	Name  string        // as given to [dataset.Slot.Stage]
	Count int64         // how often the stage was entered
	Total time.Duration // in the stage
}

// Stats reports what the loader has done so far. It may be called while a loop runs.
func (l *Loader) Stats() Stats {
	s := l.counts.stats()
	s.Workers, s.Slabs, s.Tuning = l.team.Active(), l.pool.Len(), l.tuning()
	done, ready := l.team.Effort()
	s.Busy, s.Drawing, s.MemoryWait, s.Ready = done.Busy, done.Drawing, done.MemoryWait, ready
	for _, stage := range done.Stages {
		s.Stages = append(s.Stages, StageTime(stage))
	}
	d := l.meter.now()
	s.ProcessorTime, s.ProcessorWait = d.used, d.queued
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
	fmt.Fprintf(w, "loop waited\t%v in all, longest %v, first batch %v\n", figures.Round(s.Wait.Total), figures.Round(s.Wait.Longest), figures.Round(s.Wait.First))
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
	mu       sync.Mutex
	samples  int64
	batches  int64
	empty    int64
	dropped  int64
	failures []*SampleError
	noBatch  string
	wait     Wait
	body     time.Duration

	since  time.Time // when the loop began to wait or entered its body; zero if no loop runs
	inBody bool
}

// loops notes that a loop runs and waits since begun, or that it has ended if begun is zero.
func (c *counts) loops(begun time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since, c.inBody = begun, false
	if !begun.IsZero() {
		c.noBatch = ""
	}
}

func (c *counts) waited(d time.Duration, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since, c.inBody = c.since.Add(d), true
	c.wait.Count++
	c.wait.Total += d
	c.wait.Longest = max(c.wait.Longest, d)
	if first {
		c.wait.First = d
	}
}

func (c *counts) bodyTook(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.body += d
	c.since, c.inBody = c.since.Add(d), false
}

func (c *counts) delivered(samples int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batches++
	c.samples += int64(samples)
}

// vacant notes why a loop had no batch, if it had none.
func (c *counts) vacant(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noBatch = why
}

func (c *counts) emptied() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.empty++
}

// failed counts samples that could not be placed here, or by a service.
func (c *counts) failed(failed []*assemble.Failure, dropped int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropped += int64(len(failed) + dropped)
	for _, f := range failed {
		if len(c.failures) < maxFailures {
			c.failures = append(c.failures, (*SampleError)(f))
		}
	}
}

func (c *counts) stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Stats{
		Samples:  c.samples,
		Batches:  c.batches,
		Emptied:  c.empty,
		Dropped:  c.dropped,
		Failures: slices.Clone(c.failures),
		noBatch:  c.noBatch,
		Wait:     c.wait,
		Body:     c.body,
	}
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
