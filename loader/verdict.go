package loader

import (
	"fmt"
	"runtime"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/loader/internal/assemble"
	"github.com/penstock-go/penstock/loader/internal/tune"
)

// Verdict says in one sentence what limits the loop, and what would help. It is the last line of [Stats.String]. It is
// empty before the first batch. Where the last loop ended without a batch, it says why, such as "no batch: 8 samples,
// batches of 100, DropLast".
//
// Where the loop waits less than a tenth of its time, the loop body is the limit. Otherwise the limit is the first of
// these that applies: a single wait, such as that for the first batch, if it was more than half of all waiting; the
// number of batches in flight, if workers waited for memory for a quarter of the loop's time; drawing batches, if that
// took longer than placing their samples; what workers spend most time on. Whether that is waiting or computing, the
// dataset's stages and the trials of [Auto] tell. Stages that are known to compute, such as decode, may still wait for
// a lock, or for processors that other programs have: if the program had less than 70 % of the processor time that they
// would take, the sentence says so, and on Linux, which counts how long threads wait for processors, it says which of
// the two it is.
func (s Stats) Verdict() string { return s.verdict(runtime.GOMAXPROCS(0)) }

func (s Stats) verdict(processors int) string {
	if s.noBatch != "" {
		return s.noBatch
	}
	loop := s.Wait.Total + s.Body
	if s.Wait.Count == 0 || loop <= 0 {
		return ""
	}
	waits := "the loop waits " + percent(s.Wait.Total, loop) + " of its time"
	longest := s.Wait.Longest > s.Wait.Total/2 && s.Wait.Longest <= s.Wait.Total && s.Wait.Count > 2
	switch {
	case s.Wait.Total < loop/10:
		return "the loop body is the limit: " + waits + ", and more workers change nothing"
	case s.Workers == 0:
		return "there are no workers: " + waits + ", in which it does their work itself"
	case longest && s.Wait.Longest == s.Wait.First:
		return fmt.Sprintf("the first batch took %v of the %v that the loop waited: longer loops, such as Epochs, wait less", figures.Round(s.Wait.First), figures.Round(s.Wait.Total))
	case longest:
		return fmt.Sprintf("a single batch took %v of the %v that the loop waited: look for a slow sample", figures.Round(s.Wait.Longest), figures.Round(s.Wait.Total))
	case s.MemoryWait > time.Duration(s.Workers)*loop/4:
		why := "batches or loop bodies take unequal times"
		if s.Slabs == 1 {
			why = "there is memory for one batch"
		}
		return fmt.Sprintf("the number of batches in flight is the limit: %s, and at other times workers wait for memory, because %s: %s", waits, why, s.choice("a larger InFlight helps", "a larger Budget helps"))
	case s.Drawing > s.Busy:
		return fmt.Sprintf("drawing batches is the limit: it took %v, placing their samples %v, and %s: look at the sampler, the Allocator and the hook BatchBegun", figures.Round(s.Drawing), figures.Round(s.Busy), waits)
	}
	return s.work(processors, waits)
}

// work says what limits the workers, if they are the slower side.
func (s Stats) work(processors int, waits string) string {
	name, stage := "placing samples", s.largest()
	unknown := s.Busy // time of which no stage is known
	for _, known := range s.Stages {
		unknown -= known.Total
	}
	staged := unknown <= s.Busy/2 && stage.Total > 0
	if staged {
		name = "the stage " + stage.Name
	} else {
		stage.Total = s.Busy
	}
	text := fmt.Sprintf("%s takes %s of the work of %s, and %s", name, percent(stage.Total, s.Busy), s.crew(), waits)
	wanted, unoccupied := s.unoccupied(processors)
	switch {
	case staged && stage.Name == dataset.StageRead:
		return fmt.Sprintf("storage is the limit: %s: %s", text,
			s.choice("more workers help, also more than processors", s.found("packed or cached data helps")))
	case staged && stage.Name == assemble.StageService:
		return fmt.Sprintf("the service is the limit: %s: its /metrics tell how long batches take there, and the rest is the network: %s", text,
			s.choice("more workers ask for more batches at once", s.found("a faster service helps")))
	case s.Workers < processors && s.Tuning == "" && (s.Workers == 1 || !unoccupied):
		return fmt.Sprintf("workers are the limit: %s: more workers help, up to %d", text, processors)
	case s.Tuning != "" && s.Workers > processors && (!staged || !computes(stage.Name) || s.Workers > 4*processors):
		return fmt.Sprintf("samples wait rather than compute, because more workers than the %s load more: %s: faster storage helps, or cached data",
			figures.Count(processors, "processor", "processors"), text)
	case !staged:
		return fmt.Sprintf("it is not known whether samples wait or compute, because the dataset reports no stage for %s of the work of %s, and %s: report stages by Slot.Stage%s",
			percent(unknown, s.Busy), s.crew(), waits, s.choice(", or let Auto find the workers", s.found("")))
	}
	if !computes(stage.Name) {
		return fmt.Sprintf("it is not known whether %s waits or computes: it %s: %s", name,
			text[len(name)+1:], s.choice("call it StageRead if it waits for storage, or let Auto find the workers", s.found("call it StageRead if it waits for storage")))
	}
	switch {
	case unoccupied && s.ProcessorWait > 0:
		return fmt.Sprintf("%s waits rather than computes: it %s, but the program used %.0f%% of the processor time for that, or waited for it: look for a lock in it",
			name, text[len(name)+1:], 100*wanted)
	case unoccupied:
		return fmt.Sprintf("it is not known whether %s computes or waits: it %s, but the program had only %.0f%% of the processor time for that: look for a lock in it, or for other programs that take the processors",
			name, text[len(name)+1:], 100*wanted)
	}
	cheaper := "data that was preprocessed"
	switch {
	case !staged:
	case stage.Name == dataset.StageStore:
		cheaper = "samples of fewer bytes"
	case stage.Name == assemble.StageCollate:
		cheaper = "a cheaper Collate"
	}
	if s.Workers > processors && s.Tuning == "" {
		cheaper += fmt.Sprintf("; Workers(%d) loads as much", processors)
	}
	if share := s.contested(); share > 1-occupied {
		return fmt.Sprintf("processors are the limit: %s, and the program waits for a processor %.0f%% of the time that it wants one: more processors help, fewer other programs, or %s", text, 100*share, cheaper)
	}
	return fmt.Sprintf("processors are the limit: %s: more processors help, or %s", text, cheaper)
}

// choice is what to change with a fixed number of workers, or with [Auto].
func (s Stats) choice(fixed, auto string) string {
	if s.Tuning != "" {
		return auto
	}
	return fixed
}

// found says what Auto does, after another thing that helps.
func (s Stats) found(helps string) string {
	if s.Workers >= tune.Most {
		return fmt.Sprintf("%s, or more workers than the %d that Auto has at most", helps, tune.Most)
	}
	return helps + ", and Auto finds the workers"
}

// largest is the stage that took most time.
func (s Stats) largest() (largest StageTime) {
	for _, stage := range s.Stages {
		if stage.Total > largest.Total {
			largest = stage
		}
	}
	return largest
}

func (s Stats) crew() string { return figures.Count(s.Workers, "worker", "workers") }

func percent(part, whole time.Duration) string {
	if whole <= 0 {
		return "0%"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(whole))
}
