package loader

import (
	"time"

	"github.com/penstock-go/penstock/dataset"
)

// A window is what the loader did in some time.
type window struct {
	took    time.Duration
	samples int           // that workers began to place
	batches int           // delivered
	waited  time.Duration // of took, by the loop
	idle    time.Duration // of active workers without work, all together
	short   time.Duration // of idle, because no slab was free
	reads   int64
	reading time.Duration // in the stage "read", all workers together
	other   time.Duration // in other stages
	known   time.Duration // of other, in stages that are known to compute
	used    time.Duration // processor time of the program; 0 if it is not known
	deeper  bool          // whether there may be more slabs
	room    int           // samples for which there may be slabs; 0 if not known
	rows    int           // samples of a batch
}

// cheap is the time of a sample below which workers may be in each other's way.
const cheap = 20 * time.Microsecond

func (w *window) add(v window) {
	w.took += v.took
	w.samples += v.samples
	w.batches += v.batches
	w.waited += v.waited
	w.idle += v.idle
	w.short += v.short
	w.reads += v.reads
	w.reading += v.reading
	w.other += v.other
	w.known += v.known
	w.used += v.used
}

func (w *window) rate() float64 { return float64(w.samples) / w.took.Seconds() }

// read is the mean time of a read.
func (w *window) read() time.Duration { return w.reading / time.Duration(max(1, w.reads)) }

// sample is the mean time of a read and what is computed for it.
func (w *window) sample() time.Duration {
	return (w.reading + w.other) / time.Duration(max(1, w.reads))
}

// bodyBound reports whether the loop body is the limit.
func (w *window) bodyBound() bool { return float64(w.waited) < waits*float64(w.took) }

// occupied is the share of the processor time that the program has used, of what the workers
// could use. It is 0 if it is not known.
func (w *window) occupied(workers, processors int) float64 {
	most := min(time.Duration(processors)*w.took, time.Duration(workers)*w.took-w.idle)
	return float64(w.used) / float64(max(most, 1))
}

// busy reports whether the program keeps all processors busy. If the samples do, more workers
// than processors cannot load gain times as much, because every sample takes as much processor
// time as before. If the rest of the program does, such as threads that spin, they can.
func (w *window) busy(workers, processors int) bool { return gain*w.occupied(workers, processors) > 1 }

// waiting reports whether workers wait for storage for most of their time. Reads of data
// that is in memory are fast.
func (w *window) waiting() bool {
	return w.reads > 0 && w.reading > 3*w.other && w.read() >= slowRead
}

// computing reports whether workers compute all the time, according to the dataset's
// stages.
func (w *window) computing(workers int) bool {
	return w.known > 40*(w.reading+w.other-w.known) && w.known > (time.Duration(workers)*w.took-w.idle)/2
}

// computes reports whether a stage is known to compute. One with a name of the dataset's own
// may also wait for something.
func computes(stage string) bool {
	switch stage {
	case dataset.StageDecode, dataset.StageResample, dataset.StageAugment, dataset.StageStore, stageCollate,
		"pack", "check": // of dataset/packed
		return true
	}
	return false
}

// work is the time of a sample.
func (w *window) work(workers int) time.Duration {
	return (time.Duration(workers)*w.took - w.idle) / time.Duration(max(1, w.samples))
}
