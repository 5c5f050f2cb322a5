package loader

import (
	"fmt"
	"runtime"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/loader/internal/assemble"
)

// Verdict says in one sentence what limits the loop, and what would help. Where the last loop ended without a batch, it
// says why. It is empty before the first batch, and the last line of [Stats.String].
func (s Stats) Verdict() string {
	loop := s.Wait + s.Body
	switch {
	case s.noBatch != "":
		return s.noBatch
	case loop <= 0:
		return ""
	}
	waits := "the loop waits " + percent(s.Wait, loop) + " of its time"
	switch {
	case s.Wait < loop/10:
		return "the loop body is the limit: " + waits + ", and more workers change nothing"
	case s.Batches > 2 && s.FirstWait > s.Wait/2 && s.FirstWait <= s.Wait:
		return fmt.Sprintf("the first batch took %v of the %v that the loop waited: longer loops, such as Epochs, wait less",
			figures.Round(s.FirstWait), figures.Round(s.Wait))
	case s.MemoryWait > time.Duration(s.Workers)*loop/4:
		return "batches in flight are the limit: " + waits + " and workers wait for memory: a larger InFlight or Budget helps"
	case s.Drawing > s.Busy:
		return "drawing batches is the limit: " + waits + ": look at the sampler and the Allocator"
	}
	name, stage := "placing samples", s.largest()
	if stage.Name != "" {
		name = stage.Name
	}
	work := fmt.Sprintf("%s takes %s of the work and %s", name, percent(stage.Total, s.Busy), waits)
	switch {
	case stage.Name == dataset.StageRead:
		return "storage is the limit: " + work + ": more workers, packed or cached data help"
	case stage.Name == assemble.StageService:
		return "the service is the limit: " + work + ": more workers help"
	case s.Workers < runtime.GOMAXPROCS(0):
		return fmt.Sprintf("workers are the limit: %s: up to %d help, or Auto", work, runtime.GOMAXPROCS(0))
	case computes(stage.Name):
		return "processors are the limit: " + work + ": more processors or preprocessed data help"
	}
	return "workers are the limit: " + work + ": Auto finds how many help"
}

// largest is the stage that took most time, or all work, without a name, if stages are known for less than half of it.
func (s Stats) largest() StageTime {
	largest, known := StageTime{}, time.Duration(0)
	for _, stage := range s.Stages {
		known += stage.Total
		if stage.Total > largest.Total {
			largest = stage
		}
	}
	if known < s.Busy/2 || known == 0 {
		return StageTime{Total: s.Busy}
	}
	return largest
}

// computes reports whether a stage is known to compute. One with a name of the dataset's own may also wait for
// something.
func computes(stage string) bool {
	switch stage {
	case dataset.StageDecode, dataset.StageResample, dataset.StageAugment, dataset.StageStore, assemble.StageCollate,
		"pack", "check": // of dataset/packed
		return true
	}
	return false
}

func percent(part, whole time.Duration) string {
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(max(whole, 1)))
}

// vacancy says why a loop that began at the beginning of an epoch had no batch.
func (l *Loader) vacancy(failed int) string {
	switch n := l.ds.Len(); {
	case failed > 0:
		return fmt.Sprintf("no batch: %s failed, and Skip left them out: look at Failures", figures.Count(failed, "sample", "samples"))
	case n == 0, n == dataset.Unknown && !l.cfg.dropLast && l.cfg.ranks == nil:
		return "no batch: the dataset has no samples"
	case l.cfg.service != nil:
		return "no batch: the service has none for this rank"
	case l.cfg.dropLast:
		return fmt.Sprintf("no batch: batches of %d, DropLast, and a rank has fewer samples: a smaller BatchSize helps, or DropLast(false)", l.cfg.batchSize)
	}
	return "no batch: the sampler gives no samples to this rank"
}
