package assemble

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/dataset"
)

// A call says which user code a worker is in, and since when. Only the worker writes it. Any goroutine may read it.
type call struct {
	what  atomic.Int64 // a sample's index plus one, or one of the constants below; 0 if there is no call
	since atomic.Int64 // nanoseconds from Team.made to the call, or to the worker's batch unless calls are timed
}

// The purpose of a call that does not place a sample.
const (
	drawing = -1 - iota
	finishing
	observing
	opening
	reporting
	closing
	allocating
	fetching
	naming
	replacing
)

// purposes are the same in words, and the last one is that of placing a sample.
var purposes = [...]string{
	"drawing a batch", "finishing a batch", "calling a hook", "opening the dataset", "reporting a failure", "closing its Reader",
	"allocating a slab", "fetching a batch", "naming a sample", "choosing another sample", "placing a sample",
}

// doing is the purpose of a call, in words.
func doing(what int64) string {
	if what >= 0 {
		return purposes[len(purposes)-1]
	}
	return purposes[-1-what]
}

// errGoexit is the cause of an error if user code has called runtime.Goexit, as testing.T.FailNow does.
var errGoexit = errors.New("runtime.Goexit was called")

// calls calls user code: to place the sample of that index, or for one of the purposes above. A panic becomes an error.
// All user code that workers call is called by it.
func (w *worker) calls(what int, f func() error) (err error) {
	w.enter(what)
	returned := false
	defer func() {
		w.call.end()
		if returned {
			return
		}
		if v := recover(); v != nil {
			err = &dataset.PanicError{Value: v, Stack: debug.Stack()}
			if what >= 0 || what == fetching { // the Reader may be in any state
				err = errors.Join(err, w.close())
			}
			return
		}
		w.exited(what)
	}()
	err = f()
	returned = true
	return err
}

// exited is called when user code has called runtime.Goexit, which ends the worker's goroutine after the deferred
// functions. The loop ends with an error that names the call, in the place of the batch that the worker works on.
func (w *worker) exited(what int) {
	err := fmt.Errorf("%s: %w", doing(int64(what)), errGoexit)
	w.clock.Stop()
	switch j := w.at.Load(); {
	case what == allocating: // the pool has noted it, and needs no more workers
	case j == nil && what == closing:
		w.t.fails(fmt.Errorf("loader: close dataset: %w", errGoexit))
	case j == nil:
		w.loop.failsIn(w, err)
	case what == drawing || what == finishing:
		w.loop.abort(j, j.named(err))
	default:
		e := &Failure{Index: w.index, Epoch: j.Epoch(), Batch: j.Number(), Err: err}
		defer w.loop.abort(j, e) // also if Name ends the goroutine once more
		if what != naming {
			e.Name = w.t.Name(w.index, j.Plan.Samples)
		}
	}
}

// enter notes that the worker calls user code: to place the sample of that index, or for one of the purposes above.
func (w *worker) enter(index int) {
	if w.t.cfg.Timed {
		w.call.since.Store(int64(time.Since(w.t.made)))
	}
	if index >= 0 {
		index++
	}
	w.call.what.Store(int64(index))
}

// begins notes when the worker has begun with a batch. If its calls are not timed, they count from then on.
func (w *worker) begins(at time.Time) { w.call.since.Store(int64(at.Sub(w.t.made))) }

func (c *call) end() { c.what.Store(0) }

// lasts is how long the worker has been in its call, or 0 if it is in none.
func (w *worker) lasts() time.Duration {
	if w.call.what.Load() == 0 {
		return 0
	}
	return time.Since(w.t.made) - time.Duration(w.call.since.Load())
}
