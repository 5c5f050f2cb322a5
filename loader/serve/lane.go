package serve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/internal/usercode"
)

// A lane is a loop over the batches of a share. It makes them in order, a few ahead of
// the requests, and keeps the latest, so that several requests in any order, and
// repeated ones, need no loop of their own. A request for a batch elsewhere makes the
// loop begin again there.
type lane struct {
	p     *pool
	share share
	ctx   context.Context // done when the lane is closed
	end   context.CancelFunc
	done  chan struct{} // closed when its memory is free

	// The pool's mutex guards these.
	changed   chan struct{}      // closed, and replaced, when something below changes
	starts    *address           // where the loop must begin again
	stop      context.CancelFunc // ends the loop that runs
	running   bool               // whether a loop runs, or will
	begun     address            // where it begins
	window    []*made            // the latest batches
	next      address            // of the batch after them
	count     int                // batches of that epoch, from that draw on
	published int                // batches of the loop
	wanted    int                // number of batches that the loop must publish
	awaited   map[address]int    // requests that wait for a batch
	holders   int                // requests that have one
	touched   time.Time          // the last request
	expiry    *time.Timer        // closes the lane when it was not used for long
	closing   bool
	err       error // why there is no loader
}

// A made is a batch that is complete, or the error in its place.
type made struct {
	share
	at    address
	seq   int           // number in its loop
	batch *loader.Batch // nil if there is an error, or no sample
	keep  func() func() // holds the batch until what it returns is called
	drop  func()        // ends the lane's hold on the batch
	err   error

	dropped int // samples that could not be placed

	render sync.Once
	text   body
}

func (l *lane) broadcast() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// waits reports whether requests wait for batches of the lane.
func (l *lane) waits() bool { return len(l.awaited) > 0 }

// begin makes the loop begin again at a. It returns what is to be dropped after the
// mutex is unlocked.
func (l *lane) begin(a address, count int) (drop []*made) {
	if l.stop != nil {
		l.stop()
	}
	drop, l.window = l.window, nil
	l.starts, l.running, l.begun, l.next, l.count, l.published, l.wanted = &a, true, a, a, count, 0, 1
	l.broadcast()
	return drop
}

// find is the batch in the window, or nil.
func (l *lane) find(a address) *made {
	for _, m := range l.window {
		if m.at == a {
			return m
		}
	}
	return nil
}

// reach is how many batches the loop makes to come to a, or -1 if it must begin again.
func (l *lane) reach(a address) int {
	if !l.running {
		return -1
	}
	d := -1
	switch {
	case a.epoch == l.next.epoch && a.draw == l.next.draw:
		d = a.number - l.next.number
	case a.epoch == l.next.epoch+1 && a.draw == 0:
		d = l.count - l.next.number + a.number
	}
	if d > kept {
		return -1
	}
	return d
}

// precedes reports whether a lies shortly before the place where the loop has just begun,
// because requests have overtaken each other. Then the loop may begin again at a: it makes
// all batches that are awaited.
func (l *lane) precedes(a address) bool {
	b := l.begun
	if !l.running || l.published > kept || a.epoch != b.epoch || a.draw != b.draw || a.number > b.number {
		return false
	}
	for w := range l.awaited {
		if w.epoch != a.epoch || w.draw != a.draw || w.number > a.number+kept {
			return false
		}
	}
	return b.number-a.number <= kept
}

// await waits for a batch for which choose has counted the request. It returns nil if the
// lane does not make it any more. The caller calls done when it no longer uses it.
func (l *lane) await(ctx context.Context, a address) (m *made, done func(), err error) {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	defer func() {
		if l.awaited[a]--; l.awaited[a] == 0 {
			delete(l.awaited, a)
		}
		l.touched = time.Now()
	}()
	for {
		if m := l.find(a); m != nil {
			return m, l.hold(m), nil
		}
		d := l.reach(a)
		if d < 0 {
			return nil, nil, l.err
		}
		if want := l.published + d + 1; want > l.wanted {
			l.wanted = want
			l.broadcast()
		}
		changed := l.changed
		l.p.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			err = ctx.Err()
		}
		l.p.mu.Lock()
		if err != nil {
			return nil, nil, err
		}
	}
}

// hold counts the holder of a batch in the window.
func (l *lane) hold(m *made) (done func()) {
	if m.seq+1 > l.wanted {
		l.wanted = m.seq + 1
		l.broadcast()
	}
	if m.passing() {
		l.window = slices.DeleteFunc(l.window, func(other *made) bool { return other == m }) // the next request tries again
	}
	free := func() {}
	if m.keep != nil {
		free = m.keep()
	}
	l.holders++
	return func() {
		free()
		l.p.mu.Lock()
		defer l.p.mu.Unlock()
		l.holders--
		l.touched = time.Now()
	}
}

// shrink removes the oldest batches from the window that nobody waits for.
func (l *lane) shrink() (drop []*made) {
	for i := 0; i < len(l.window) && len(l.window) > kept; {
		if m := l.window[i]; l.awaited[m.at] == 0 {
			drop = append(drop, m)
			l.window = slices.Delete(l.window, i, i+1)
			continue
		}
		i++
	}
	return drop
}

// release ends the lane's hold on batches. It may call an Allocator, so the mutex is not
// held.
func release(drop []*made) {
	for _, m := range drop {
		if m.drop != nil {
			m.drop()
		}
	}
}

// passing reports whether another attempt of this service may succeed. An object that was
// replaced stays an error: the service knows its version from the listing with which it began.
func (m *made) passing() bool {
	return m.err != nil && dataset.MayPass(m.err) && !persists(m.err)
}

// persists reports whether it is of no use to try again in this process.
func persists(err error) bool {
	var e interface{ Persistent() bool }
	return errors.As(err, &e) && e.Persistent()
}

// main is the lane's goroutine.
func (l *lane) main() {
	defer l.p.remove(l)
	err := usercode.ErrGoexit // unless the sampler and the hooks return
	defer func() { l.fail(err) }()
	err = l.p.work(l)
}

// work makes loops of a loader until the lane is closed.
func (l *lane) work() (err error) {
	var losses losses
	ld, err := loader.New(l.p.s.ds, append(l.p.s.loader(l.share), losses.observe())...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ld.Close()) }()
	for {
		ctx, a, ok := l.started()
		if !ok {
			return nil
		}
		losses.forget()
		l.loop(ctx, ld, a, &losses)
		l.ended()
	}
}

// fail closes the lane.
func (l *lane) fail(err error) {
	l.p.mu.Lock()
	l.closing, l.running, l.err = true, false, err
	drop := l.window
	l.window = nil
	l.broadcast()
	l.p.mu.Unlock()
	release(drop)
}

// started waits until the loop must begin. ctx is done when it must end.
func (l *lane) started() (ctx context.Context, a address, ok bool) {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	for l.starts == nil {
		if !l.wait() {
			return nil, a, false
		}
	}
	a, l.starts = *l.starts, nil
	ctx, l.stop = context.WithCancel(l.ctx)
	return ctx, a, l.ctx.Err() == nil
}

// wait unlocks the mutex until something changes. It reports false if the lane is closed.
func (l *lane) wait() bool {
	changed := l.changed
	l.p.mu.Unlock()
	defer l.p.mu.Lock()
	select {
	case <-changed:
		return true
	case <-l.ctx.Done():
		return false
	}
}

// ended notes that the loop is over.
func (l *lane) ended() {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	l.stop()
	l.stop = nil
	if l.starts == nil {
		l.running = false
		l.broadcast()
	}
}

// loop makes batches from a on.
func (l *lane) loop(ctx context.Context, ld *loader.Loader, a address, losses *losses) {
	rest, err := l.p.s.rests.of(ctx, l.share, a.epoch, a.draw)
	if err != nil {
		l.publish(ctx, &made{at: a, err: err}, a, 0)
		return
	}
	r := &run{l: l, ctx: ctx, losses: losses, begun: a, first: rest.Number, next: a, count: rest.Batches,
		until: a.epoch + min(epochs, math.MaxInt-a.epoch)}
	from := ld.Position(a.epoch)
	from.Draw = min(a.draw+a.number*rest.Step, rest.End)
	for b, err := range ld.From(ctx, from, r.until) {
		if ctx.Err() != nil || !r.take(b, err) {
			return
		}
	}
	for ctx.Err() == nil && r.give(&made{}) { // Skip has left no samples of any that remain
	}
}

// publish adds a batch to the window, and waits until the next one is wanted.
func (l *lane) publish(ctx context.Context, m *made, next address, count int) bool {
	m.share = l.share
	l.p.mu.Lock()
	if l.starts != nil || l.closing {
		l.p.mu.Unlock()
		release([]*made{m})
		return false
	}
	m.seq = l.published
	l.published++
	l.next, l.count = next, count
	l.window = append(l.window, m)
	drop := l.shrink()
	l.broadcast()
	l.p.mu.Unlock()
	release(drop)

	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	for l.published > l.wanted { // not if the loop must begin again
		if !l.wait() {
			return false
		}
	}
	return l.starts == nil && ctx.Err() == nil
}

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

// losses are how many samples of each batch of a loop could not be placed.
type losses struct {
	mu sync.Mutex
	m  map[ordinal]int
}

// An ordinal is the number that a loader gives a batch.
type ordinal struct{ epoch, number int }

// observe counts the samples that a loader cannot place. A batch is complete after that.
func (l *losses) observe() loader.Option {
	return loader.Observe(loader.Trace{SampleFailed: func(e *loader.SampleError) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.m == nil {
			l.m = make(map[ordinal]int)
		}
		l.m[ordinal{e.Epoch, e.Batch}]++
	}})
}

// take is the number of a batch, which is not needed again.
func (l *losses) take(epoch, number int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := ordinal{epoch, number}
	n := l.m[at]
	delete(l.m, at)
	return n
}

// forget forgets batches that a loop has begun and not delivered.
func (l *losses) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.m)
}
