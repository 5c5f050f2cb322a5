package prefetch

import (
	"math"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
)

const (
	// mostBatches is how many batches are looked ahead, at most. More are of no use where
	// all blocks are on the disk.
	mostBatches = 256

	// firstRequests is how many requests there are at once at the beginning. Each response
	// allows one more, so the number doubles with every round trip.
	firstRequests = 16
)

// An epoch is a future and what was fetched for it.
type epoch struct {
	p      *Prefetcher
	number int // in the order in which epochs were foreseen
	future dataset.Future
	loop   *loop
	of     objects.Blocks
	seen   []uint64       // a bit per block, with Once: whether it was met
	ahead  sync.WaitGroup // the goroutine that looks ahead

	panicked *dataset.PanicError // while it looked ahead, or nil

	// Only the goroutine that looks ahead uses these.
	batch   int             // that it looks at
	samples []int           // of the batch
	next    int             // of samples
	parts   []objects.Block // ranges of that sample's block
	part    int             // that it looks at

	// The Prefetcher's mutex guards these.
	met     []*block // that it has claimed, in the order in which they are needed
	asked   int      // number of those at the beginning that do not wait for a request
	bytes   int64
	at      int  // batch that it looks at
	looking bool // whether there are batches that it has not looked at
	stopped bool
}

// Foresee begins to fetch the blocks of the samples of f, in the order of their batches.
func (p *Prefetcher) Foresee(f dataset.Future, of objects.Blocks) (stop func()) {
	e := &epoch{p: p, future: f, of: of, looking: true}
	var key any = e
	if whole := wholeOf(f); reflect.ValueOf(whole).Comparable() {
		key = whole
	}
	if of.Once {
		e.seen = make([]uint64, (max(of.Len, 0)+63)/64)
	}
	p.mu.Lock()
	p.foreseen++
	e.number = p.foreseen
	p.epochs = append(p.epochs, e)
	p.join(e, key)
	p.mu.Unlock()
	// The first batch's blocks are requested before Foresee returns.
	switch more := e.look(false); {
	case e.panicked != nil:
		e.stop() // which panics
	case more:
		e.ahead.Go(func() { e.look(true) })
	}
	return e.stop
}

// look is lookAhead, after which the epoch looks ahead no more if the dataset or the store panics.
func (e *epoch) look(wait bool) (more bool) {
	defer func() {
		if v := recover(); v != nil {
			e.panicked = &dataset.PanicError{Value: v, Stack: debug.Stack()}
			e.p.mu.Lock()
			defer e.p.mu.Unlock()
			e.loop.ended(e)
			e.p.change.Broadcast()
		}
	}()
	return e.lookAhead(wait)
}

// wholeOf is the future that the loader has told, of which f may be a part.
func wholeOf(f dataset.Future) dataset.Future {
	for {
		part, ok := f.(interface{ Underlying() dataset.Future })
		if !ok {
			return f
		}
		f = part.Underlying()
	}
}

// stop ends the requests that only this epoch needs, and frees its memory. It passes on a panic of
// the goroutine that looks ahead.
func (e *epoch) stop() {
	p := e.p
	p.mu.Lock()
	e.stopped = true
	e.loop.ended(e)
	p.change.Broadcast()
	p.mu.Unlock()
	e.ahead.Wait()
	p.mu.Lock()
	for _, b := range e.met {
		p.release(b, e)
	}
	p.leave(e)
	p.change.Broadcast()
	var ending []*block
	for b := range p.running {
		if b.gone {
			ending = append(ending, b)
		}
	}
	p.mu.Unlock()
	for _, b := range ending {
		<-b.done
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.epochs) == 0 {
		p.spare = spare{}
		clear(p.overtaken)
	}
	if e.panicked != nil {
		panic(e.panicked)
	}
}

// lookAhead meets the blocks of all batches, and waits where there is no room. If it is not
// to wait, it returns true then, or after the first batch.
func (e *epoch) lookAhead(wait bool) (more bool) {
	for ; e.batch < e.future.Len(); e.batch++ {
		if e.batch > 0 && !wait {
			return true
		}
		if e.next == 0 {
			e.samples = e.future.At(e.batch, e.samples[:0])
		}
		for ; e.next < len(e.samples); e.next++ {
			k := e.of.Of(e.samples[e.next])
			if k < 0 || k >= e.of.Len || e.known(k) {
				continue
			}
			if e.part == 0 {
				if e.parts = e.of.At(k, e.parts[:0]); len(e.parts) == 0 {
					continue
				}
			}
			for ; e.part < len(e.parts); e.part++ {
				b := e.parts[e.part]
				if b.Len < 1 || b.Len > e.p.maxBytes {
					continue
				}
				local := e.p.Has(b.Object, b.Off, b.Len)
				if met, stopped := e.meet(b, local, wait); stopped {
					return false
				} else if !met {
					return true
				}
			}
			e.part = 0
			if e.of.Once {
				e.seen[k/64] |= 1 << (k % 64)
			}
		}
		e.next = 0
	}
	e.p.mu.Lock()
	defer e.p.mu.Unlock()
	e.loop.ended(e)
	e.p.change.Broadcast()
	return false
}

// known reports whether a block was met that is read once.
func (e *epoch) known(k int) bool { return e.of.Once && e.seen[k/64]&(1<<(k%64)) != 0 }

// meet plans to fetch a block that the batch needs, if no one has. It waits until there is
// room, or reports false if there is none.
func (e *epoch) meet(name objects.Block, local, wait bool) (met, stopped bool) {
	p := e.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if from := e.at; from < e.batch {
		e.at = e.batch
		e.loop.moved(from)
		p.change.Broadcast() // others of the loop may wait for that
	}
	for !e.stopped {
		done := e.future.Done()
		e.loop.forget(done)
		switch begun := e.future.Begun(); {
		case done > e.batch:
			return true, false
		case e.batch < begun && p.overtaken[name] >= e.number: // otherwise another loop has read it
			delete(p.overtaken, name)
			return true, false
		case e.batch >= begun+mostBatches || !e.mayFetch(begun, name.Len):
		case p.blocks[name] != nil:
			p.blocks[name].claim(e, e.batch)
			return true, false
		case local:
			p.count.local.Add(1)
			return true, false
		default: // a reader that comes from now on finds the block
			e.plan(name)
			p.start()
			return true, false
		}
		if !wait {
			return false, false
		}
		p.change.Wait()
	}
	return false, true
}

// mayFetch reports whether n more bytes may be fetched. Epochs of one loop wait for each other
// with every batch. A loop that has not begun waits until all blocks of earlier ones, and of
// those that have begun, are under way. The caller holds the mutex.
func (e *epoch) mayFetch(begun int, n int64) bool {
	if e.loop.least < e.batch {
		return false
	}
	// Blocks of the loop's other epochs do not keep it from its first one.
	if begun == 0 && e.p.bytes+n > e.p.maxBytes || e.bytes > 0 && e.loop.bytes+n > e.p.maxBytes {
		return false
	}
	if begun > 0 {
		return true
	}
	for _, other := range e.p.loops {
		if other != e.loop && other.looking > 0 && (other.number < e.loop.number || other.future.Begun() > 0) {
			return false
		}
	}
	return true
}

// hold counts n more bytes that the epoch holds. The caller holds the mutex.
func (e *epoch) hold(n int64) {
	e.bytes += n
	e.loop.bytes += n
}

// plan adds a block that waits for a request. The caller holds the mutex.
func (e *epoch) plan(name objects.Block) {
	b := &block{name: name, done: make(chan struct{})}
	e.p.blocks[name] = b
	e.p.bytes += name.Len
	b.claim(e, e.batch)
}

// first is the block that the epoch needs first of those that wait for a request, or nil. The caller
// holds the mutex.
func (e *epoch) first() (*block, *claim) {
	for ; e.asked < len(e.met); e.asked++ {
		b := e.met[e.asked]
		if c := b.of(e); c != nil && b.state == waiting {
			return b, c
		}
	}
	return nil, nil
}

// forget drops blocks that were not read although their batches are complete. The caller
// holds the mutex.
func (e *epoch) forget(done int) {
	for len(e.met) > 0 {
		b := e.met[0]
		c := b.of(e)
		if c != nil && c.last >= done {
			break
		}
		if c != nil {
			e.p.release(b, e)
		}
		e.met[0] = nil
		e.met = e.met[1:]
		e.asked = max(e.asked-1, 0)
	}
}

// A loop has the epochs of the same batches, such as those of datasets that are concatenated:
// they share its memory, and look ahead together. The Prefetcher's mutex guards it.
type loop struct {
	key    any // equal for the futures of these epochs
	future dataset.Future
	number int      // of the first epoch
	epochs []*epoch // that have not ended
	bytes  int64    // that they hold
	done   int      // batches whose blocks were forgotten

	looking int // epochs that look ahead
	least   int // batch that one of them looks at
	there   int // how many look at that batch
}

// join adds an epoch to its loop. The caller holds the mutex.
func (p *Prefetcher) join(e *epoch, key any) {
	k := slices.IndexFunc(p.loops, func(l *loop) bool { return l.key == key })
	if k < 0 {
		k = len(p.loops)
		p.loops = append(p.loops, &loop{key: key, future: e.future, number: e.number})
	}
	e.loop = p.loops[k]
	e.loop.epochs = append(e.loop.epochs, e)
	e.loop.looking++
	if e.loop.least > 0 {
		e.loop.least, e.loop.there = 0, 0
	}
	e.loop.there++
}

// leave takes an epoch out that has ended. The caller holds the mutex.
func (p *Prefetcher) leave(e *epoch) {
	isIt := func(other *epoch) bool { return other == e }
	p.epochs = slices.DeleteFunc(p.epochs, isIt)
	e.loop.epochs = slices.DeleteFunc(e.loop.epochs, isIt)
	if len(e.loop.epochs) == 0 {
		p.loops = slices.DeleteFunc(p.loops, func(l *loop) bool { return l == e.loop })
	}
}

// moved notes that an epoch has left a batch, for a later one or because it has ended to look
// ahead. The caller holds the mutex.
func (l *loop) moved(from int) {
	if from != l.least {
		return
	}
	if l.there--; l.there == 0 {
		l.find()
	}
}

// ended notes that an epoch has looked at all batches, or was stopped. The caller holds the
// mutex.
func (l *loop) ended(e *epoch) {
	if e.looking {
		e.looking = false
		l.looking--
		l.moved(e.at)
	}
}

// find looks for the least batch.
func (l *loop) find() {
	l.least, l.there = math.MaxInt, 0
	for _, e := range l.epochs {
		switch {
		case !e.looking:
		case e.at < l.least:
			l.least, l.there = e.at, 1
		case e.at == l.least:
			l.there++
		}
	}
}

// forget drops the blocks that were not read although their batches are complete, also those
// of epochs that look ahead no more. The caller holds the mutex.
func (l *loop) forget(done int) {
	if done <= l.done {
		return
	}
	l.done = done
	for _, e := range l.epochs {
		e.forget(done)
	}
}

// earliest is the block that is needed first of those that wait for a request, or nil. The caller
// holds the mutex.
func (l *loop) earliest() (found *block) {
	least := 0
	for _, e := range l.epochs {
		if e.stopped {
			continue
		}
		if b, c := e.first(); b != nil && (found == nil || c.first < least) {
			found, least = b, c.first
		}
	}
	return found
}
