package assemble

import (
	"context"
	"fmt"
	"runtime/trace"
)

// An execution trace, of package runtime/trace, has a task "loader.batch" for every batch, from its begin until its
// slab is free. These regions belong to it: "loader.draw" and "loader.finish" of workers, the stages of its samples,
// and "loader.body" of the loop. Regions of no task are "loader.build", while a worker works on its own batch,
// "loader.help", while it works on another one, and "loader.wait" of the loop. While no trace is taken, none of this is
// made.

// A traceTask is a batch in an execution trace.
type traceTask struct {
	ctx  context.Context
	task *trace.Task
}

// beginTask begins the batch's task if an execution trace is taken.
func (j *Job) beginTask(ctx context.Context) {
	if !trace.IsEnabled() {
		return
	}
	t := new(traceTask)
	t.ctx, t.task = trace.NewTask(ctx, "loader.batch")
	trace.Log(t.ctx, "batch", fmt.Sprintf("epoch %d, batch %d", j.Epoch(), j.Number()))
	j.traced = t
}

// endTask ends the batch's task, if there is one.
func (j *Job) endTask() {
	if j.traced != nil {
		j.traced.task.End()
		j.traced = nil
	}
}

// traceContext is that of the batch that the worker works on.
func (w *worker) traceContext() context.Context {
	if j := w.at.Load(); j != nil && j.traced != nil {
		return j.traced.ctx
	}
	return w.ctx
}

// Region begins a region of the batch's task, and returns what ends it, in the same goroutine. Without a task it does
// nothing.
func (j *Job) Region(name string) (end func()) {
	if j.traced == nil {
		return func() {}
	}
	return trace.StartRegion(j.traced.ctx, name).End
}
