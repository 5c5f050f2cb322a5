package loader

import (
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/usercode"
	"github.com/penstock-go/penstock/loader/internal/plan"
)

// A foresight is the future of an epoch that the dataset was told. It is the
// [dataset.Future] of a plan.
type foresight struct {
	r    *run
	plan *plan.Plan
	base int // the plan's first batch's number in the run
	stop func()
}

// foresee tells the dataset the batches of a plan. It returns nil if the dataset does not
// use that. A panic of the dataset becomes an error.
func (r *run) foresee(p *plan.Plan) (*foresight, error) {
	if p.Samples == dataset.Unknown {
		return nil, nil // the future is not known
	}
	f := &foresight{r: r, plan: p, base: r.nextBase()}
	err := usercode.Call(func() error {
		f.stop = dataset.Foresee(r.l.ds, f)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("loader: epoch %d: foresee: %w", p.Epoch, err)
	}
	if f.stop == nil {
		return nil, nil
	}
	return f, nil
}

// nextBase is the seq after the last batch of the plan that is under way.
func (r *run) nextBase() int {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	return r.cursor.Ahead()
}

// end tells the dataset that the epoch is over. A panic of the dataset is for Close to
// return.
func (f *foresight) end() { f.ended(usercode.Call(f.doEnd)) }

func (f *foresight) doEnd() error {
	f.stop()
	return nil
}

func (f *foresight) ended(err error) {
	if err != nil {
		f.r.l.fails(fmt.Errorf("loader: epoch %d: stop of Foresee: %w", f.plan.Epoch, err))
	}
}

// Len is the number of batches of the plan.
func (f *foresight) Len() int { return f.plan.Len() }

// At appends the samples of a batch. Batches that an earlier run has delivered have none,
// and neither have those for which the sampler panics: the worker that begins such a
// batch reports that.
func (f *foresight) At(batch int, dst []int) (indices []int) {
	if batch < 0 || batch >= f.plan.Len() {
		return dst
	}
	if f.r.from.Delivered(f.base + batch) {
		return dst
	}
	defer func() {
		if recover() != nil {
			indices = dst
		}
	}()
	return f.plan.AppendSamples(batch, dst)
}

// Begun is the number of batches of the plan that have been begun.
func (f *foresight) Begun() int {
	f.r.l.mu.Lock()
	defer f.r.l.mu.Unlock()
	return f.begun()
}

// begun is Begun. The caller holds the mutex.
func (f *foresight) begun() int {
	return f.r.cursor.Begun(f.plan)
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
		if j.Plan == f.plan && !j.complete {
			return j.K
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
	ended := l.background(fmt.Sprintf("ending the foresight of epoch %d", f.plan.Epoch), f.doEnd, f.ended)
	l.mu.Unlock()
	l.waitFor(ended)
}

// overForesight removes a foresight that is to end, and returns it or nil.
func (r *run) overForesight() *foresight {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	for i, f := range r.foresights {
		if r.stopped.Load() || f.done() == f.plan.Len() {
			r.foresights = slices.Delete(r.foresights, i, i+1)
			return f
		}
	}
	return nil
}
