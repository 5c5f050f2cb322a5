package loader

import (
	"runtime"
	"time"
)

// turn is the time of a sample after which a worker lets other goroutines run.
const turn = 50 * time.Microsecond

// yield lets other goroutines run after a sample that took long, according to the
// stages of the dataset. Otherwise the loop would wait for the end of a time slice,
// and so would workers that have claimed rows, if there are more workers than
// processors.
//
// After the last row of batch j that could be claimed, the worker does so only when it has
// counted its rows: the loop may wait for that.
func (w *worker) yield(j *job, took time.Duration) {
	switch {
	case took <= turn:
	case j.unclaimed() == 0:
		w.yields = true
	default:
		w.giveWay()
	}
}

// yieldLate lets other goroutines run if the worker has put that off.
func (w *worker) yieldLate() {
	if w.yields {
		w.yields = false
		w.giveWay()
	}
}

// giveWay lets other goroutines run. This time does not count as busy.
func (w *worker) giveWay() {
	if w.l.cfg.workers == 0 {
		return
	}
	begun := time.Now()
	runtime.Gosched()
	w.gave += time.Since(begun)
}
