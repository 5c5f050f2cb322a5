package live

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/trace"
)

// A watch follows a loader.
type watch struct {
	name string
	slow *trace.Slow

	since atomic.Int64 // when the last point was added, in nanoseconds since 1970
	skip  atomic.Int64 // batches to be delivered before the clock is read again
	read  atomic.Int64 // when it was read last, in nanoseconds since 1970
	every atomic.Int64 // batches from then to the next time

	mu     sync.Mutex
	l      *loader.Loader // nil after it is closed
	made   time.Time
	last   loader.Stats // of a closed loader
	ended  time.Time    // when that was
	points []point      // in order of time
}

// A point is what a loader had done at a time.
type point struct {
	at    time.Time
	stats loader.Stats // without Failures
}

// skipped is the number of quick batches for which the clock is read once.
const skipped = 16

// spacing is the least time from one point to the next, most is the largest number of
// points, and recently is the time for which rates are given.
const (
	spacing  = time.Second
	most     = 300
	recently = 10 * time.Second
)

// begin follows l. It reports false if it still follows another loader.
func (w *watch) begin(l *loader.Loader) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.l != nil {
		return false
	}
	w.l, w.made, w.ended = l, time.Now(), time.Time{}
	w.points = []point{{at: w.made, stats: loader.Stats{Workers: l.Stats().Workers}}}
	w.since.Store(w.made.UnixNano())
	w.slow.Reset()
	return true
}

func (w *watch) open() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.l != nil
}

// end is a hook.
func (w *watch) end() error {
	w.mu.Lock()
	l := w.l
	w.mu.Unlock()
	if l == nil {
		return nil
	}
	s, now := l.Stats(), time.Now()
	w.add(now, s)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.l, w.last, w.ended = nil, s, now
	return nil
}

// delivered is a hook. About once a second it adds a point. It reads the clock for every
// batch only if they take more than a millisecond.
func (w *watch) delivered(loader.BatchInfo, time.Duration) {
	if w.skip.Add(-1) >= 0 {
		return
	}
	now, next := time.Now(), int64(0)
	if took := now.UnixNano() - w.read.Swap(now.UnixNano()); took < w.every.Load()*int64(time.Millisecond) {
		next = skipped
	}
	w.skip.Store(next)
	w.every.Store(next + 1)
	since := w.since.Load()
	if now.UnixNano()-since < int64(spacing) || !w.since.CompareAndSwap(since, now.UnixNano()) {
		return
	}
	w.mu.Lock()
	l := w.l
	w.mu.Unlock()
	if l != nil {
		w.add(now, l.Stats())
	}
}

// add adds a point, unless the last one is newer.
func (w *watch) add(now time.Time, s loader.Stats) {
	s.Failures = nil
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.points[len(w.points)-1].at) <= 0 {
		return
	}
	w.points = append(w.points, point{now, s})
	if over := len(w.points) - most; over > 0 {
		w.points = append(w.points[:0], w.points[over:]...)
	}
}

// look is what is known of the loader at that time: its statistics, what its goroutines
// do, and the points, of which the last one is of that time.
func (w *watch) look(now time.Time) (s loader.Stats, working []loader.Activity, points []point, made, ended time.Time) {
	w.mu.Lock()
	l := w.l
	s, made, ended = w.last, w.made, w.ended
	w.mu.Unlock()
	if l != nil {
		s, working = l.Stats(), l.Working()
		if now.UnixNano()-w.since.Load() >= int64(spacing) {
			w.since.Store(now.UnixNano())
			w.add(now, s)
		}
	}
	w.mu.Lock()
	points = append(points, w.points...)
	w.mu.Unlock()
	if l != nil && points[len(points)-1].at.Before(now) {
		points = append(points, point{now, s})
	}
	return s, working, points, made, ended
}
