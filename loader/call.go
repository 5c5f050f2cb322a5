package loader

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"
)

// A call says which user code a worker is in, and since when. Only the worker writes
// it. Any goroutine may read it.
type call struct {
	what  atomic.Int64 // a sample's index plus one, or one of the constants below; 0 if there is no call
	since atomic.Int64 // nanoseconds from Loader.made to the call; only if Loader.timed
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

// doing is the purpose of a call, in words.
func doing(what int64) string {
	switch what {
	case opening:
		return "opening the dataset"
	case drawing:
		return "drawing a batch"
	case reporting:
		return "reporting a failure"
	case finishing:
		return "finishing a batch"
	case closing:
		return "closing its Reader"
	case observing:
		return "calling a hook"
	case allocating:
		return "allocating a slab"
	case fetching:
		return "fetching a batch"
	case naming:
		return "naming a sample"
	case replacing:
		return "choosing another sample"
	}
	return "placing a sample"
}

// errGoexit is the cause of an error if user code has called runtime.Goexit, as testing.T.FailNow
// does.
var errGoexit = errors.New("runtime.Goexit was called")

// calls calls user code: to place the sample of that index, or for one of the purposes above. A panic
// becomes an error. All user code that workers call is called by it.
func (w *worker) calls(what int, f func() error) (err error) {
	w.enter(what)
	returned := false
	defer func() {
		w.call.end()
		if returned {
			return
		}
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
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

// exited is called when user code has called runtime.Goexit, which ends the worker's goroutine after
// the deferred functions. The run ends with an error that names the call, in the place of the batch
// that the worker works on. Nobody waits for its rows.
func (w *worker) exited(what int) {
	err := fmt.Errorf("%s: %w", doing(int64(what)), errGoexit)
	r, j, own := w.run, w.at.Load(), w.own
	w.own = nil
	defer func() {
		if own != nil && own != j && !r.stopped.Load() {
			w.forfeit(own, err)
		}
	}()
	switch {
	case what == allocating:
		w.l.added(nil, err)
	case j == nil && what == closing:
		w.l.fails(fmt.Errorf("loader: close dataset: %w", errGoexit))
	case j == nil:
		r.failsIn(w, err)
	case r.stopped.Load(): // the batch may be another one already
	case what == drawing:
		r.prepared(j, j.named(err))
	case what == finishing:
		j.err = j.named(err)
	default:
		e := &SampleError{Index: w.index, Epoch: j.plan.epoch, Batch: j.plan.number(j.k), Err: err}
		j.breaks(e)
		defer func() {
			w.finished(j, w.claimed)
			w.forfeit(j, err)
		}()
		if what != naming {
			e.Name = w.l.name(w.index, j.plan.samples)
		}
	}
}

// forfeit gives up the rows of a batch that nobody has claimed.
func (w *worker) forfeit(j *job, err error) {
	if rows := j.claimRest(); rows > 0 {
		j.breaks(j.named(err))
		w.finished(j, rows)
	}
}

// enter notes that the worker calls user code: to place the sample of that index, or
// for one of the purposes above. If its calls are quick, those of a batch are not timed
// one by one: all of them begin with the batch.
func (w *worker) enter(index int) {
	if (index < observing || !w.quick()) && w.l.timed() {
		w.call.since.Store(int64(time.Since(w.l.made)))
	}
	if index >= 0 {
		index++
		w.placing++
	}
	w.call.what.Store(int64(index))
}

// begins notes when the worker has begun with a batch.
func (w *worker) begins(at time.Time) {
	if w.l.timed() {
		w.call.since.Store(int64(at.Sub(w.l.made)))
	}
}

// A batch is quick if its calls that place samples take less than quickCall on average. To
// time one takes about a hundredth of that. A worker is quick from the 4th quick batch on,
// until two of its next eight batches or so are not. A single one does not count, because
// it happens whenever the system lets another process run.
const (
	quickCall     = 20 * time.Microsecond
	quickWorker   = 4  // quickness of a worker that is quick
	mostQuickness = 12 // after as many quick batches
	slowBatch     = 8  // what another batch takes from it
)

func (w *worker) quick() bool { return w.quickness >= quickWorker }

// worked notes how long the calls of a batch that place samples took.
func (w *worker) worked(took time.Duration) {
	switch {
	case w.placing == 0: // others had placed all samples
	case took < time.Duration(w.placing)*quickCall:
		w.quickness = min(w.quickness+1, mostQuickness)
	default:
		w.quickness = max(w.quickness-slowBatch, 0)
	}
	w.placing = 0
}

// timed reports whether workers note when their calls begin.
func (l *Loader) timed() bool { return l.cfg.timeout > 0 || l.watched.Load() > 0 }

func (c *call) end() { c.what.Store(0) }

// lasts is how long the worker has been in its call, or 0 if it is in none.
func (w *worker) lasts() time.Duration {
	if w.call.what.Load() == 0 {
		return 0
	}
	since := w.call.since.Load()
	if w.l.cfg.timeout == 0 {
		since = max(since, w.l.watched.Load()-1) // earlier calls are not timed
	}
	return time.Since(w.l.made) - time.Duration(since)
}

// stuck describes the call that the worker is in, if any, without the name of its sample.
func (w *worker) stuck() (s Stuck, ok bool) {
	what := w.call.what.Load()
	if what == 0 {
		return Stuck{}, false
	}
	s = Stuck{Worker: w.id, Doing: doing(what), Index: -1, Stage: w.clock.Current(), For: w.lasts()}
	if what > 0 {
		s.Index = int(what) - 1
	}
	return s, true
}

// stackOf is the stack of a goroutine as text, or "" if it is not found in the first 64 MiB
// of the stacks of all goroutines.
func stackOf(goroutine int64) string {
	all := make([]byte, 1<<20)
	n := runtime.Stack(all, true)
	for n == len(all) && n < 64<<20 {
		all = make([]byte, 2*len(all))
		n = runtime.Stack(all, true)
	}
	all = all[:n]
	header := fmt.Appendf(nil, "goroutine %d ", goroutine)
	for block := range bytes.SplitSeq(all, []byte("\n\n")) {
		if bytes.HasPrefix(block, header) {
			return string(block)
		}
	}
	return ""
}

// goroutineID is the number under which stack dumps show this goroutine.
func goroutineID() int64 {
	var buf [64]byte
	fields := bytes.Fields(buf[:runtime.Stack(buf[:], false)])
	if len(fields) < 2 {
		return 0
	}
	id, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	return id
}
