package serve

import (
	"context"
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/loader"
)

// A run is a loop of a lane. It publishes every batch from where it begins, in order, also
// those without samples, which the loader does not deliver.
type run struct {
	l      *lane
	ctx    context.Context
	losses *losses
	begun  address
	first  int     // the loader's number of the batch that the lane counts as 0 in the first epoch
	next   address // of the batch that is published next; after the last one of an epoch its number is count
	count  int     // batches of its epoch, from its draw on
	until  int     // the epoch before which the run ends
}

// epochs is how many epochs a run lasts at most. The next one begins with a gap.
const epochs = 64

// take publishes what the loader has delivered, after batches without samples that come before
// it. It reports whether the run goes on.
func (r *run) take(b *loader.Batch, err error) bool {
	at := r.place(b, err)
	for r.next.before(at) { // Skip has left no samples of these
		if !r.give(&made{}) {
			return false
		}
	}
	if err == nil && at != r.next {
		err = fmt.Errorf("the sampler's orders disagree: %v comes in the place of batch %d of epoch %d", b, r.next.number, r.next.epoch)
	}
	if err != nil {
		r.give(&made{err: err})
		return false
	}
	return r.give(&made{batch: b, keep: b.Keep, drop: b.Keep()})
}

// place is the address of what the loader has delivered. Errors of no sample have that of the
// next batch.
func (r *run) place(b *loader.Batch, err error) address {
	epoch, number := 0, 0
	if err == nil {
		epoch, number = b.Epoch(), b.Number()
	} else if e, ok := errors.AsType[*loader.SampleError](err); ok {
		epoch, number = e.Epoch, e.Batch
	} else {
		return r.next
	}
	if epoch == r.begun.epoch {
		return address{epoch, r.begun.draw, number - r.first}
	}
	return address{epoch, 0, number}
}

// give publishes m as the next batch. It reports whether there is one after it.
func (r *run) give(m *made) bool {
	number := r.next.number
	if r.next.epoch == r.begun.epoch {
		number += r.first
	}
	m.at, m.dropped = r.next, r.losses.take(r.next.epoch, number)
	r.next.number++
	return r.l.publish(r.ctx, m, r.next, r.count) && r.plan()
}

// plan goes on to the next epoch if this one is over. It reports whether the run makes a batch of
// it. Planning may take long, so it begins when the last batch of this one can be sent.
func (r *run) plan() bool {
	for r.next.number >= r.count {
		r.next = address{epoch: r.next.epoch + 1}
		if r.next.epoch >= r.until {
			return false
		}
		rest, err := r.l.p.s.rests.of(r.ctx, r.l.share, r.next.epoch, 0)
		if err != nil {
			return false
		}
		r.count = rest.Batches
	}
	return true
}
