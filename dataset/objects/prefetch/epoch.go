package prefetch

import (
	"context"
	"fmt"
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

	// mostOvertaken bounds the memory for blocks that an epoch has not come to.
	mostOvertaken = 1 << 16
)

// An epoch is a future and what was fetched for it.
type epoch struct {
	p      *Prefetcher
	future dataset.Future
	of     objects.Blocks
	seen   []uint64       // a bit per block, with Once: whether it was met
	group  sync.WaitGroup // the goroutine that looks ahead, and those of requests

	panicked *dataset.PanicError // while it looked ahead, or nil

	// Only the goroutine that looks ahead uses these.
	batch   int             // that it looks at
	samples []int           // of the batch
	next    int             // of samples
	parts   []objects.Block // ranges of that sample's block
	part    int             // that it looks at

	// The Prefetcher's mutex guards these.
	blocks    map[objects.Block]*block
	order     []*block               // these, and some that are gone, in the order in which they are needed
	asked     int                    // number of those at the beginning that do not wait for a request
	bytes     int64                  // of blocks
	overtaken map[objects.Block]bool // that a reader has read before the epoch came to them
	looking   bool                   // whether there are batches that it has not looked at
	stopped   bool
}

// The states of a block.
const (
	waiting = iota
	fetching
	fetched // or failed
)

// A block is fetched for an epoch, or will be.
type block struct {
	name  objects.Block
	epoch *epoch
	done  chan struct{} // closed when it was fetched, or could not be

	// Written before done is closed.
	data []byte
	err  error

	// The Prefetcher's mutex guards these.
	state       int
	first, last int    // batches that read it
	reads       int    // that are expected
	cancel      func() // ends the request under way
	readers     int    // that use data
	read        bool   // whether it was read
	gone        bool   // whether it was dropped
}

// begun reports whether a batch that reads the block has begun.
func (b *block) begun() bool { return b.first < b.epoch.future.Begun() }

// Foresee begins to fetch the blocks of the samples of f, in the order of their batches.
func (p *Prefetcher) Foresee(f dataset.Future, of objects.Blocks) (stop func()) {
	e := &epoch{p: p, future: f, of: of, looking: true, blocks: make(map[objects.Block]*block), overtaken: make(map[objects.Block]bool)}
	if of.Once {
		e.seen = make([]uint64, (max(of.Len, 0)+63)/64)
	}
	p.mu.Lock()
	p.epochs = append(p.epochs, e)
	p.mu.Unlock()
	// The first batch's blocks are requested before Foresee returns.
	switch more := e.look(false); {
	case e.panicked != nil:
		e.stop() // which panics
	case more:
		e.group.Go(func() { e.look(true) })
	}
	return e.stop
}

// stop ends the epoch's requests, and frees its memory. It passes on a panic of the goroutine that
// looks ahead.
func (e *epoch) stop() {
	p := e.p
	p.mu.Lock()
	e.stopped, e.looking = true, false
	for _, b := range e.order {
		p.drop(b)
	}
	p.epochs = slices.DeleteFunc(p.epochs, func(other *epoch) bool { return other == e })
	p.start()
	p.change.Broadcast()
	p.mu.Unlock()
	e.group.Wait()
	if e.panicked != nil {
		panic(e.panicked)
	}
}

// look is lookAhead. If the dataset or the store panics, the epoch looks ahead no more.
func (e *epoch) look(wait bool) (more bool) {
	defer func() {
		if v := recover(); v != nil {
			e.panicked = &dataset.PanicError{Value: v, Stack: debug.Stack()}
		}
		if !more {
			e.p.mu.Lock()
			defer e.p.mu.Unlock()
			e.looking = false
			e.p.change.Broadcast()
		}
	}()
	return e.lookAhead(wait)
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
			if k < 0 || k >= e.of.Len || e.of.Once && e.seen[k/64]&(1<<(k%64)) != 0 {
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
	return false
}

// meet plans to fetch a block that the batch needs, if that was not done. It waits until there is
// room, or reports false if there is none.
func (e *epoch) meet(name objects.Block, local, wait bool) (met, stopped bool) {
	p := e.p
	p.mu.Lock()
	defer p.mu.Unlock()
	for !e.stopped {
		done, begun := e.future.Done(), e.future.Begun()
		e.forget(done)
		switch b := e.blocks[name]; {
		case done > e.batch:
			return true, false
		case e.batch < begun && e.overtaken[name]:
			delete(e.overtaken, name)
			return true, false
		case e.batch >= begun+mostBatches:
		case b != nil:
			b.reads++
			b.last = e.batch
			return true, false
		case local:
			p.count.local.Add(1)
			return true, false
		case e.mayFetch(begun, name.Len): // a reader that comes from now on finds the block
			b := &block{name: name, epoch: e, done: make(chan struct{}), first: e.batch, last: e.batch, reads: 1}
			e.blocks[name] = b
			e.order = append(e.order, b)
			e.bytes += name.Len
			p.bytes += name.Len
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

// mayFetch reports whether n more bytes may be fetched. An epoch that has not begun has what others
// leave, when those that have begun look ahead no more. The caller holds the mutex.
func (e *epoch) mayFetch(begun int, n int64) bool {
	if begun > 0 {
		return e.bytes == 0 || e.bytes+n <= e.p.maxBytes
	}
	return e.p.bytes+n <= e.p.maxBytes && !slices.ContainsFunc(e.p.epochs, func(other *epoch) bool { return other.looking && other.future.Begun() > 0 })
}

// forget drops blocks that were not read although their batches are complete. The caller
// holds the mutex.
func (e *epoch) forget(done int) {
	for len(e.order) > 0 && (e.order[0].gone || e.order[0].last < done) {
		e.p.drop(e.order[0])
		e.order[0] = nil
		e.order = e.order[1:]
		e.asked = max(e.asked-1, 0)
	}
}

// waits is the first block that waits for a request, or nil, and how many batches there are before
// its own. The caller holds the mutex.
func (e *epoch) waits() (b *block, batches int) {
	for ; e.asked < len(e.order); e.asked++ {
		b := e.order[e.asked]
		if b.gone || b.state != waiting {
			continue
		}
		begun := e.future.Begun()
		if begun == 0 {
			return b, b.first + mostBatches // after those of epochs that have begun
		}
		return b, b.first - begun
	}
	return nil, 0
}

// start sends requests, as many as are allowed: first for what is needed first. The caller holds the mutex.
func (p *Prefetcher) start() {
	for p.running < p.allowed {
		var next *block
		least := 0
		for _, e := range p.epochs {
			if b, batches := e.waits(); b != nil && (next == nil || batches < least) {
				next, least = b, batches
			}
		}
		if next == nil {
			return
		}
		ctx, cancel := context.WithCancel(context.Background())
		next.state, next.cancel = fetching, cancel
		p.running++
		next.epoch.group.Go(func() { p.fetch(ctx, next) })
	}
}

// fetch reads a block into memory. A panic of the store is an error of the block, which all reads
// that are expected of it return.
func (p *Prefetcher) fetch(ctx context.Context, b *block) {
	data := make([]byte, b.name.Len)
	err, panicked := errStopped, false // unless the store returns
	defer func() {
		if v := recover(); v != nil {
			err, panicked = fmt.Errorf("prefetch: read %s: %w", b.name.Object.Name, &dataset.PanicError{Value: v, Stack: debug.Stack()}), true
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		b.cancel()
		b.state, b.err = fetched, err
		p.running--
		switch {
		case err == nil:
			if !b.gone || b.readers > 0 {
				b.data = data
			}
			p.count.fetched.Add(1)
			p.count.bytes.Add(b.name.Len)
			p.allowed = min(p.allowed+1, p.requests)
		case !b.gone:
			p.allowed = max(p.allowed/2, 1)
			if !panicked {
				p.drop(b)
			}
		}
		close(b.done)
		p.start()
		p.change.Broadcast()
	}()
	err = p.store.ReadAt(ctx, b.name.Object, data, b.name.Off)
}

// drop takes a block out, and ends its request. The caller holds the mutex.
func (p *Prefetcher) drop(b *block) {
	if b.gone {
		return
	}
	b.gone = true
	delete(b.epoch.blocks, b.name)
	b.epoch.bytes -= b.name.Len
	p.bytes -= b.name.Len
	if b.state == fetching {
		b.cancel()
	}
	if b.state == fetched && b.err == nil && !b.read && b.readers == 0 {
		p.count.unread.Add(1)
	}
	if b.readers == 0 {
		b.data = nil
	}
	p.change.Broadcast()
}
