package loader

import "time"

// A Trace is hooks into a loader's work, each of them optional. Those called by
// workers are called by several goroutines at once; they hold up the worker.
type Trace struct {
	// BatchBegun is called by the worker that begins a batch.
	BatchBegun func(b BatchInfo)
	// BatchReady is called by the worker that finishes the batch's last sample.
	// The time is since BatchBegun.
	BatchReady func(b BatchInfo, took time.Duration)
	// BatchDelivered is called in the loop before its body, with the time the
	// loop has waited for the batch.
	BatchDelivered func(b BatchInfo, waited time.Duration)
	// SampleFailed is called by the worker for every sample that cannot be
	// placed, before the error policy decides.
	SampleFailed func(err *SampleError)
}

// A BatchInfo says which batch a [Trace] is about.
type BatchInfo struct {
	Epoch  int
	Batch  int // in the epoch
	Worker int // that began it
}

func (j *job) info() BatchInfo { return BatchInfo{j.plan.epoch, j.plan.number(j.k), j.worker} }

func (t *Trace) batchBegun(j *job) {
	if t.BatchBegun != nil {
		t.BatchBegun(j.info())
	}
}

func (t *Trace) batchReady(j *job) {
	if t.BatchReady != nil {
		t.BatchReady(j.info(), time.Since(j.begun))
	}
}

func (t *Trace) batchDelivered(j *job, waited time.Duration) {
	if t.BatchDelivered != nil {
		t.BatchDelivered(j.info(), waited)
	}
}
