package loader

import (
	"slices"
	"time"
)

// Stats says what a loader has done since it was made, and where the time went. For
// an interval, subtract earlier statistics: s.Sub(before).
type Stats struct {
	Samples int64 // delivered to the loop body
	Batches int64 // delivered to the loop body
	Emptied int64 // batches that lost all their samples to [Skip] and were not delivered

	// Dropped is the number of samples that could not be placed, in batches that
	// the loop has reached. With [Skip] their batches are shorter. With [Replace]
	// other samples took their place, and replacements that failed count too.
	Dropped int64
	// Failures lists the first 1,000 of these samples, but none that a service could not
	// place: its batches say only how many there were.
	Failures []*SampleError
	// NoBatch says why the last loop ended without a batch, such as "no batch: 8 samples,
	// batches of 100, DropLast". It is empty if there was one, while a loop runs, and if the
	// last loop that began ended with an error or early.
	NoBatch string

	// Wait is the time that the loop waited for batches. If it grows, the loader is
	// slower than the loop body: add workers, or make samples cheaper. If it hardly
	// grows, the loop body is the limit, and more workers change nothing.
	Wait Wait
	// Body is the time that the loop body took, all batches together.
	Body time.Duration

	// Busy is the time that workers spent on samples, all workers together.
	Busy time.Duration
	// Drawing is the time that workers spent before the first sample of their batches, all
	// workers together: in the sampler, the Allocator and the hook BatchBegun.
	Drawing time.Duration
	// MemoryWait is the time that workers waited for a free slab, all workers
	// together. If it grows, the loop body is slower than the loader, which is what
	// one wants. If Wait grows too, batches take unequal times: raise [InFlight].
	MemoryWait time.Duration
	// Stages divides Busy into the stages that the dataset reports. If "read" is
	// large, storage is the limit: add workers, beyond the number of processors. If
	// "service" is, it is the one that package remote asks for batches. If
	// "decode" is large, processors are the limit: use a smaller or preprocessed
	// format.
	Stages []StageTime

	// ProcessorTime is the time that the whole program has used processors while loops ran,
	// the garbage collector and the loop body included. It is 0 where the system does not tell
	// it. Go does not tell it for a stage or a worker.
	ProcessorTime time.Duration
	// ProcessorWait is the time that threads of the program were ready to run while loops ran and
	// had no processor, because others had them, or a container's limit was reached, all threads
	// together. It is read ten times per second at most, and 0 where the system does not tell it:
	// Linux does.
	ProcessorWait time.Duration

	Workers   int   // number of workers, with Auto of those that are active; 0 if the loop's goroutine does the work
	Slabs     int   // number of slabs, each the memory of one batch
	SlabBytes int64 // bytes of all slabs and ragged fields; after Close those that Close freed

	Tuning Tuning // what Auto has chosen, and why

	// Ready is the number of complete batches that wait for the loop body. If it
	// is near 0, the loop may soon wait for batches. If it is near Slabs, workers
	// may soon wait for the loop body.
	Ready int
}

// Wait sums up the times that the loop waited for batches.
type Wait struct {
	Count   int64         // number of waits, one per batch, however short
	Total   time.Duration // of all waits
	Longest time.Duration // the longest wait in all loops
	First   time.Duration // from the start of the last loop to its first batch, also after Sub
}

// Sub gives the statistics of the time between earlier and s. NoBatch, Workers,
// Slabs, SlabBytes, Tuning, Ready and Wait.First are those of s. So is Wait.Longest if it came after
// earlier; otherwise the longest wait of that time is not known, and it is 0.
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
	s.Busy -= earlier.Busy
	s.Drawing -= earlier.Drawing
	s.MemoryWait -= earlier.MemoryWait
	s.ProcessorTime -= earlier.ProcessorTime
	s.ProcessorWait -= earlier.ProcessorWait
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

// A StageTime is the time that one stage of placing samples has taken so far, all
// workers together.
type StageTime struct {
	Name  string        // as given to [dataset.Slot.Stage]
	Count int64         // how often the stage was entered
	Total time.Duration // in the stage
}

// Stats reports what the loader has done so far. It may be called while a loop runs.
func (l *Loader) Stats() Stats {
	s := l.counts.stats()
	s.Workers, s.Slabs, s.Tuning = l.settings()
	done, ready := l.effort()
	s.Busy, s.Drawing, s.MemoryWait, s.Stages, s.Ready = done.busy, done.drawing, done.memoryWait, done.stages, ready
	d := l.meter.now()
	s.ProcessorTime, s.ProcessorWait = d.used, d.queued
	s.SlabBytes = l.slabBytes()
	return s
}

func (l *Loader) slabBytes() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return l.heldAtEnd
	}
	return l.held()
}

// held is the bytes of all slabs and ragged fields. The caller holds the mutex.
func (l *Loader) held() int64 {
	bytes := l.stocks.size()
	for _, j := range l.jobs {
		bytes += j.slab.size.Load()
	}
	return bytes
}
