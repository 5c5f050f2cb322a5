package loader

import (
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/dataset"
)

// A foresight is the future of an epoch that the dataset was told. It is the
// [dataset.Future] of a plan.
type foresight struct {
	r    *run
	plan *plan
	base int // the plan's first batch's seq in the run, as in plan, which has it only later
	stop func()
}

// foresee tells the dataset the batches of a plan. It returns nil if the dataset does not
// use that. A panic of the dataset becomes an error.
func (r *run) foresee(p *plan) (f *foresight, err error) {
	defer func() {
		if _, panicked := err.(*PanicError); panicked {
			f, err = nil, fmt.Errorf("loader: epoch %d: foresee: %w", p.epoch, err)
		}
	}()
	defer recovered(&err)
	if p.samples == dataset.Unknown {
		return nil, nil // the future is not known
	}
	f = &foresight{r: r, plan: p, base: r.nextBase()}
	if f.stop = dataset.Foresee(r.l.ds, f); f.stop == nil {
		return nil, nil
	}
	return f, nil
}

// nextBase is the seq after the last batch of the plan that is under way.
func (r *run) nextBase() int {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	if p := r.cursor.plan; p != nil {
		return p.base + p.count()
	}
	return 0
}

// end tells the dataset that the epoch is over. A panic of the dataset is for Close to
// return.
func (f *foresight) end() { f.ended(protected(f.doEnd)) }

func (f *foresight) doEnd() error {
	f.stop()
	return nil
}

func (f *foresight) ended(err error) {
	if err != nil {
		f.r.l.fails(fmt.Errorf("loader: epoch %d: stop of Foresee: %w", f.plan.epoch, err))
	}
}

// Len is the number of batches of the plan.
func (f *foresight) Len() int { return f.plan.count() }

// At appends the samples of a batch. Batches that an earlier run has delivered have none,
// and neither have those for which the sampler panics: the worker that begins such a
// batch reports that.
func (f *foresight) At(batch int, dst []int) (indices []int) {
	if batch < 0 || batch >= f.plan.count() {
		return dst
	}
	if _, delivered := slices.BinarySearch(f.r.ahead, f.base+batch); delivered {
		return dst
	}
	defer func() {
		if recover() != nil {
			indices = dst
		}
	}()
	return f.plan.samplesOf(batch, dst)
}

// Begun is the number of batches of the plan that have been begun.
func (f *foresight) Begun() int {
	f.r.l.mu.Lock()
	defer f.r.l.mu.Unlock()
	return f.begun()
}

// begun is Begun. The caller holds the mutex.
func (f *foresight) begun() int {
	switch {
	case !f.plan.reached:
		return 0
	case f.r.cursor.plan == f.plan:
		return f.r.cursor.k
	}
	return f.plan.count()
}

// Done is the number of the first batch that is not complete.
func (f *foresight) Done() int {
	f.r.l.mu.Lock()
	defer f.r.l.mu.Unlock()
	return f.done()
}

// done is Done. The caller holds the mutex.
func (f *foresight) done() int {
	for _, j := range f.r.inFlight {
		if j.plan == f.plan && !j.complete {
			return j.k
		}
	}
	return f.begun()
}

// endForesights ends the foresights of epochs whose batches are all complete, or all of
// them if the run has stopped.
func (r *run) endForesights() {
	for f := r.overForesight(); f != nil; f = r.overForesight() {
		f.endInTime()
	}
}

// endInTime is end, but waits no longer than the Timeout if there is one.
func (f *foresight) endInTime() {
	l := f.r.l
	if l.cfg.timeout == 0 {
		f.end()
		return
	}
	l.mu.Lock()
	ended := l.background(fmt.Sprintf("ending the foresight of epoch %d", f.plan.epoch), f.doEnd, f.ended)
	l.mu.Unlock()
	l.waitFor(ended)
}

// overForesight removes a foresight that is to end, and returns it or nil.
func (r *run) overForesight() *foresight {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	for i, f := range r.foresights {
		if r.stopped.Load() || f.done() == f.plan.count() {
			r.foresights = slices.Delete(r.foresights, i, i+1)
			return f
		}
	}
	return nil
}
