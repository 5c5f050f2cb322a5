// Package prefetch fetches the blocks of objects before they are read, in the order in
// which a loader will need them:
//
//	client, err := objects.NewClient(server)
//	blocks, err := cache.New(client, "/var/cache/photos", 100<<30) // if there is room on a disk
//	ahead, err := prefetch.New(blocks)
//	fsys, err := objects.NewFS(ctx, ahead, "train")
//	photos, err := dataset.ImageFolder(fsys)
//
// A loader tells its dataset the batches of an epoch (see [dataset.Foreseer]), and the
// dataset passes them on to its store. So nothing is guessed: each block is fetched once,
// those that are needed first come first, and what is on the local disk is not fetched.
// Without a loader, and for datasets that do not pass the future on, a [Prefetcher] reads
// from the underlying store whatever is read from it.
//
// # How much at once
//
// Blocks are fetched as far ahead as memory allows: 64 MiB and a block of every dataset at
// first, and twice as much whenever a later batch than the first has to wait, up to [Memory]. When a block is read
// its memory is free, and the next one is requested. So in the long run there are as many
// requests at once as Little's law says: blocks per second times seconds per request. At the
// start, and after a delay, there are more, to fill the memory; [Requests] bounds them. The
// first requests are few, so that the first batch need not share the network with later ones.
//
// A request that takes twenty times as long as others delays no batch, as long as the
// memory holds what is consumed in that time.
package prefetch

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/penstock-go/penstock/dataset/objects"
)

// A Prefetcher is an [objects.Store] that fetches blocks in advance. [New] makes it.
type Prefetcher struct {
	store  objects.Store
	holder objects.Holder // store, if it is one
	config
	count counters

	mu       sync.Mutex
	change   sync.Cond // tells epochs that there may be room
	foreseen int       // number of epochs so far
	epochs   []*epoch  // that have not ended, in the order in which they were foreseen
	loops    []*loop   // of these epochs, in the same order
	blocks   map[objects.Block]*block
	bytes    int64               // of blocks
	room     int64               // for bytes, which grows up to the option Memory
	running  map[*block]struct{} // requests under way
	allowed  int                 // requests at once, which grows up to the option Requests
	spare    spare

	// Blocks that a reader has read before an epoch came to them, and the number of the
	// latest epoch that had begun by then: those after it will read them themselves.
	overtaken map[objects.Block]int
}

// mostOvertaken bounds the memory for blocks of which no epoch knows.
const mostOvertaken = 1 << 16

// New makes a store that reads from s. It starts nothing.
func New(s objects.Store, options ...Option) (*Prefetcher, error) {
	p := &Prefetcher{store: s, config: defaults(), blocks: make(map[objects.Block]*block), running: make(map[*block]struct{}), overtaken: make(map[objects.Block]int)}
	p.holder, _ = s.(objects.Holder)
	p.change.L = &p.mu
	for _, option := range options {
		if option.set != nil {
			option.set(&p.config)
		}
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	p.allowed = min(firstRequests, p.requests)
	p.room = min(firstRoom, p.memory)
	return p, nil
}

// List yields the objects of the underlying store.
func (p *Prefetcher) List(ctx context.Context, prefix string) iter.Seq2[objects.Object, error] {
	return p.store.List(ctx, prefix)
}

// Stat asks the underlying store.
func (p *Prefetcher) Stat(ctx context.Context, name string) (objects.Object, error) {
	return p.store.Stat(ctx, name)
}

// Identity is that of the underlying store, if it has one.
func (p *Prefetcher) Identity() string {
	if i, ok := p.store.(objects.Identified); ok {
		return i.Identity()
	}
	return ""
}

// Forget passes on to the underlying store that bytes are damaged, if it keeps copies.
func (p *Prefetcher) Forget(o objects.Object, off, n int64) {
	if f, ok := p.store.(objects.Forgetter); ok {
		f.Forget(o, off, n)
	}
}

// ReadAt reads len(dst) bytes of o, from byte off on: from memory, if this is a block that
// was fetched, and otherwise from the underlying store. It waits for a request that is
// under way. If that fails, it sends its own. If the underlying store panics in it, the error
// satisfies [errors.As] for a [dataset.PanicError].
func (p *Prefetcher) ReadAt(ctx context.Context, o objects.Object, dst []byte, off int64) error {
	b := p.take(objects.Block{Object: o, Off: off, Len: int64(len(dst))})
	if b == nil {
		return p.store.ReadAt(ctx, o, dst, off)
	}
	defer p.giveBack(b)
	if err := p.await(ctx, b); err != nil {
		return err
	}
	if b.err != nil {
		p.count.direct.Add(1)
		return p.store.ReadAt(ctx, o, dst, off)
	}
	copy(dst, b.data)
	return nil
}

// take returns a block that is fetched or being fetched, and counts its reader. It returns
// nil if the reader has to read the block itself.
func (p *Prefetcher) take(name objects.Block) *block {
	if b, foreseen := p.found(name); b != nil || !foreseen {
		return b
	}
	local := p.holder != nil && p.holder.Has(name.Object, name.Off, name.Len) // looks at the disk
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.read(name); b != nil || len(p.epochs) == 0 {
		return b
	}
	b := p.blocks[name]
	if !local {
		p.count.direct.Add(1)
		p.widen()
	}
	switch {
	case b != nil:
		p.consume(b)
	case !local: // an epoch that comes to it does not fetch what is local
		p.remember(name)
	}
	return nil
}

// found is read with the mutex, and whether there are epochs.
func (p *Prefetcher) found(name objects.Block) (b *block, foreseen bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.epochs) == 0 {
		return nil, false
	}
	p.change.Broadcast() // a batch may have begun
	return p.read(name), true
}

// read returns a block that is fetched or being fetched, and counts its reader. The caller
// holds the mutex.
func (p *Prefetcher) read(name objects.Block) *block {
	b := p.blocks[name]
	if b == nil || b.state == waiting {
		return nil
	}
	b.readers++
	return b
}

// remember notes that a reader has come to a block before the epoch that reads it, so that
// the epoch does not fetch it. The caller holds the mutex.
func (p *Prefetcher) remember(name objects.Block) {
	if name.Len < 1 || name.Len > p.memory {
		return // never foreseen
	}
	if len(p.overtaken) >= mostOvertaken {
		clear(p.overtaken)
	}
	latest := 0
	for _, e := range p.epochs {
		if e.future.Begun() > 0 {
			latest = e.number
		}
	}
	p.overtaken[name] = latest
}

// consume counts a read of a block, by the first epoch that reads it. The caller holds the
// mutex.
func (p *Prefetcher) consume(b *block) {
	if len(b.claims) == 0 {
		return
	}
	c := &b.claims[0]
	if c.reads--; c.reads <= 0 {
		p.release(b, c.epoch)
	}
}

// await waits until a block was fetched. It returns the error of a panic: any other one is of the
// request alone.
func (p *Prefetcher) await(ctx context.Context, b *block) error {
	select {
	case <-b.done:
		if b.err == nil {
			p.count.ready.Add(1)
		}
		return b.panicked()
	default:
	}
	p.mu.Lock()
	p.widen()
	p.mu.Unlock()
	begin := time.Now()
	defer func() {
		p.count.late.Add(1)
		p.count.lateTime.Add(int64(time.Since(begin)))
	}()
	select {
	case <-b.done:
		return b.panicked()
	case <-ctx.Done():
		return fmt.Errorf("prefetch: read %s: %w", b.name.Object.Name, ctx.Err())
	}
}

// widen makes room for twice as many bytes, because a reader has to wait, if most of the room
// is taken. Before the first batch is complete all readers wait, however much room there is.
// The caller holds the mutex.
func (p *Prefetcher) widen() {
	if p.room < p.memory && p.bytes > p.room/2 && len(p.epochs) > 0 && p.epochs[0].future.Done() > 0 {
		p.room = min(2*p.room, p.memory)
		p.change.Broadcast()
	}
}

// giveBack ends a read of a block. The last expected read frees its memory.
func (p *Prefetcher) giveBack(b *block) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b.readers--
	b.read = true
	p.consume(b)
	p.free(b)
}

var errStopped = errors.New("the loop has ended")
