package loader

import (
	"slices"
	"time"
)

// effort is the work that workers have done.
type effort struct {
	busy, drawing, memoryWait time.Duration
	stages                    []StageTime
}

func (sum *effort) add(w *worker) {
	staged := time.Duration(0)
	times := w.clock.Times(nil)
	for _, t := range times {
		staged += t.Total
	}
	// The time of a batch is known when it is complete, that of a stage before.
	sum.busy += max(time.Duration(w.busy.Load()), staged)
	sum.drawing += time.Duration(w.drawing.Load())
	sum.memoryWait += time.Duration(w.memoryWait.Load())
	for _, t := range times {
		i := slices.IndexFunc(sum.stages, func(s StageTime) bool { return s.Name == t.Name })
		if i < 0 {
			sum.stages = append(sum.stages, StageTime(t))
			continue
		}
		sum.stages[i].Count += t.Count
		sum.stages[i].Total += t.Total
	}
}

// effort is the work of all workers, and the number of batches that are complete but
// not delivered.
func (l *Loader) effort() (done effort, ready int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	done = l.past
	done.stages = slices.Clone(done.stages)
	for _, w := range slices.Concat(l.workers, l.strays) {
		done.add(w)
	}
	if l.run == nil {
		return done, 0
	}
	for _, j := range l.run.inFlight {
		if j.complete {
			ready++
		}
	}
	return done, ready
}
