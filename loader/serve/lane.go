package serve

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
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
