package loader

import "time"

// A Trace is a set of hooks, all of them optional. Several workers may call a hook
// at once. The caller waits until the hook returns.
type Trace struct {
	// BatchBegun is called by the worker that begins a batch.
	BatchBegun func(b BatchInfo)
	// BatchReady is called by the worker that finishes the batch's last sample.
	// took is the time since the batch was begun.
	BatchReady func(b BatchInfo, took time.Duration)
	// BatchDelivered is called by the loop's goroutine before the loop body.
	// waited is the time that the loop waited for the batch.
	BatchDelivered func(b BatchInfo, waited time.Duration)
	// SampleFailed is called by the worker for every sample that cannot be
	// placed, before the error policy decides.
	SampleFailed func(err *SampleError)
}

// A BatchInfo says which batch a [Trace] is about.
type BatchInfo struct {
	Epoch  int
	Batch  int // number in the epoch, from 0
	Worker int // the worker that began it
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
