package assemble

import (
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/usercode"
	"github.com/penstock-go/penstock/loader/internal/plan"
)

// A foresight is the future of an epoch that the dataset was told. It is the [dataset.Future] of a plan.
type foresight struct {
	l    *Loop
	plan *plan.Plan
	base int // the plan's first batch's number in the loop
	stop func()
}

// foresee tells the dataset the batches of a plan. It returns nil if the dataset does not use that. A panic of the
// dataset becomes an error.
func (l *Loop) foresee(p *plan.Plan) (*foresight, error) {
	if p.Samples == dataset.Unknown {
		return nil, nil // the future is not known
	}
	f := &foresight{l: l, plan: p, base: l.nextBase()}
	err := usercode.Call(func() error {
		f.stop = dataset.Foresee(l.t.cfg.Dataset, f)
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

// nextBase is the number after the last batch of the plan that is under way.
func (l *Loop) nextBase() int {
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	return l.cursor.Ahead()
}

// end tells the dataset that the epoch is over.
func (f *foresight) end() error {
	f.stop()
	return nil
}

// ended keeps a panic of the dataset for Close to return.
func (f *foresight) ended(err error) {
	if err != nil {
		f.l.t.fails(fmt.Errorf("loader: epoch %d: stop of Foresee: %w", f.plan.Epoch, err))
	}
}

// Len is the number of batches of the plan.
func (f *foresight) Len() int { return f.plan.Len() }

// At appends the samples of a batch. Batches that an earlier loop has delivered have none, and neither have those for
// which the sampler panics: the worker that begins such a batch reports that.
func (f *foresight) At(batch int, dst []int) (indices []int) {
	if batch < 0 || batch >= f.plan.Len() {
		return dst
	}
	if f.l.from.Delivered(f.base + batch) {
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
	f.l.t.mu.Lock()
	defer f.l.t.mu.Unlock()
	return f.l.cursor.Begun(f.plan)
}

// Done is the number of the first batch that is not complete.
func (f *foresight) Done() int {
	f.l.t.mu.Lock()
	defer f.l.t.mu.Unlock()
	return f.done()
}

// done is Done. The Team's mutex is held.
func (f *foresight) done() int {
	for _, j := range f.l.inFlight {
		if j.Plan == f.plan && !j.complete {
			return j.K
		}
	}
	return f.l.cursor.Begun(f.plan)
}

// endForesights ends the foresights of epochs whose batches are all complete, or all of them if the loop has stopped.
// It waits for the dataset, at most for the Timeout if there is one.
func (l *Loop) endForesights() {
	var ends []<-chan struct{}
	l.t.mu.Lock()
	l.foresights = slices.DeleteFunc(l.foresights, func(f *foresight) bool {
		over := l.stopped.Load() || f.done() == f.plan.Len()
		if over {
			ends = append(ends, l.t.background(fmt.Sprintf("ending the foresight of epoch %d", f.plan.Epoch), f.end, f.ended))
		}
		return over
	})
	l.t.mu.Unlock()
	for _, ended := range ends {
		l.t.waitFor(ended)
	}
}
