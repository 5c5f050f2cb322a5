package prefetch

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
)

// The states of a block.
const (
	waiting = iota
	fetching
	fetched // or failed
)

// A block is fetched, or will be.
type block struct {
	name objects.Block
	done chan struct{} // closed when it was fetched, or could not be

	// Written before done is closed.
	data []byte
	err  error

	// The Prefetcher's mutex guards these.
	state   int
	claims  []claim // of the epochs that will read it, in their order; the first one's memory it takes
	cancel  func()  // ends the request under way
	readers int     // that use data
	read    bool    // whether it was read
	gone    bool    // whether it was dropped: its request ends, and data is free when no reader is left
}

// A claim says how an epoch will read a block.
type claim struct {
	epoch *epoch
	first int // batch that reads it
	last  int // batch that reads it
	reads int // that are expected
}

// claim notes that a batch of an epoch reads the block. The caller holds the mutex.
func (b *block) claim(e *epoch, batch int) {
	if c := b.of(e); c != nil {
		c.reads++
		c.last = batch
		return
	}
	at := 0
	for at < len(b.claims) && b.claims[at].epoch.number < e.number {
		at++
	}
	if at == 0 {
		e.hold(b.name.Len)
		if len(b.claims) > 0 {
			b.claims[0].epoch.hold(-b.name.Len)
		}
	}
	b.claims = slices.Insert(b.claims, at, claim{e, batch, batch, 1})
	e.met = append(e.met, b)
}

// of is the claim of an epoch, or nil. The caller holds the mutex.
func (b *block) of(e *epoch) *claim {
	for k := range b.claims {
		if b.claims[k].epoch == e {
			return &b.claims[k]
		}
	}
	return nil
}

// panicked is the error of a panic of the store in the request, or nil.
func (b *block) panicked() error {
	if _, ok := errors.AsType[*dataset.PanicError](b.err); ok {
		return b.err
	}
	return nil
}

// start sends requests, as many as are allowed. The caller holds the mutex.
func (p *Prefetcher) start() {
	for _, l := range p.loops {
		for len(p.running) < p.allowed {
			b := l.earliest()
			if b == nil {
				break
			}
			p.request(b)
		}
	}
}

// request sends a request for a block. The caller holds the mutex.
func (p *Prefetcher) request(b *block) {
	ctx, cancel := context.WithCancel(context.Background())
	b.state, b.cancel = fetching, cancel
	b.data = p.spare.take(b.name.Len)
	p.running[b] = struct{}{}
	go p.fetch(ctx, b)
}

// fetch reads a block into memory. A panic of the store is an error of the block, which all reads
// that are expected of it return.
func (p *Prefetcher) fetch(ctx context.Context, b *block) {
	err := errStopped // unless the store returns
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("prefetch: read %s: %w", b.name.Object.Name, &dataset.PanicError{Value: v, Stack: debug.Stack()})
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		b.err = err
		b.state = fetched
		delete(p.running, b)
		if err == nil {
			p.count.fetched.Add(1)
			p.count.bytes.Add(b.name.Len)
			p.allowed = min(p.allowed+1, p.requests)
		} else {
			if !b.gone {
				p.allowed = max(p.allowed/2, 1)
			}
			if b.panicked() == nil || len(b.claims) == 0 {
				p.drop(b)
			}
		}
		b.cancel()
		close(b.done)
		p.free(b)
		p.start()
		p.change.Broadcast()
	}()
	err = p.store.ReadAt(ctx, b.name.Object, b.data, b.name.Off)
}

// release ends the claim of an epoch on a block. The memory is the next epoch's then. The
// caller holds the mutex.
func (p *Prefetcher) release(b *block, e *epoch) {
	for k := range b.claims {
		if b.claims[k].epoch != e {
			continue
		}
		b.claims = append(b.claims[:k], b.claims[k+1:]...)
		if k == 0 {
			e.hold(-b.name.Len)
			if len(b.claims) > 0 {
				b.claims[0].epoch.hold(b.name.Len)
			}
		}
		break
	}
	if len(b.claims) == 0 {
		p.drop(b)
	}
	p.change.Broadcast()
}

// drop takes a block out, and ends its request. The caller holds the mutex.
func (p *Prefetcher) drop(b *block) {
	if b.gone {
		return
	}
	b.gone = true
	delete(p.blocks, b.name)
	p.bytes -= b.name.Len
	if len(b.claims) > 0 {
		b.claims[0].epoch.hold(-b.name.Len)
		b.claims = nil
	}
	if b.state == fetching {
		b.cancel()
	}
	if b.state == fetched && b.err == nil && !b.read && b.readers == 0 {
		p.count.unread.Add(1)
	}
	p.free(b)
	p.change.Broadcast()
}

// keep keeps memory for later blocks. A reader that ends after all loops leaves its memory to
// the garbage collector. The caller holds the mutex.
func (p *Prefetcher) keep(data []byte) {
	if len(p.epochs) > 0 {
		p.spare.put(data, p.maxBytes-p.bytes)
	}
}

// free keeps the memory of a block that is not used any more. The caller holds the mutex.
func (p *Prefetcher) free(b *block) {
	if b.gone && b.readers == 0 && b.state == fetched && b.data != nil {
		p.keep(b.data)
		b.data = nil
	}
}

// mostSpare is how many pieces are kept.
const mostSpare = 64

// spare is memory of earlier blocks, because fresh memory costs time. Blocks differ in size: a piece
// is made an eighth larger than its block, and serves blocks of half its size or more.
type spare struct {
	pieces [][]byte
	bytes  int64
}

// take returns n bytes, which may hold anything.
func (s *spare) take(n int64) []byte {
	for k, p := range s.pieces {
		if size := int64(cap(p)); n <= size && size/2 <= n {
			s.remove(k)
			return p[:n]
		}
	}
	for left := n; left > 0 && len(s.pieces) > 0; { // the new piece takes their place
		left -= int64(cap(s.pieces[0]))
		s.remove(0)
	}
	return make([]byte, n, n+n/8)
}

func (s *spare) remove(k int) {
	s.bytes -= int64(cap(s.pieces[k]))
	s.pieces = slices.Delete(s.pieces, k, k+1)
}

// put keeps a piece, if it is the only one or if all pieces have limit bytes at most.
func (s *spare) put(p []byte, limit int64) {
	size := int64(cap(p))
	if len(s.pieces) == mostSpare || s.bytes > 0 && s.bytes+size > limit {
		return
	}
	s.bytes += size
	s.pieces = append(s.pieces, p)
}
