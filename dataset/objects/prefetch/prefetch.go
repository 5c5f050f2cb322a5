// Package prefetch fetches the blocks of objects before they are read, in the order in
// which a loader will need them:
//
//	client, err := objects.NewClient(server)
//	blocks, err := cache.New(client, "/var/cache/photos", 100<<30) // if there is room on a disk
//	ahead, err := prefetch.New(blocks)
//	fsys, err := objects.NewFS(ctx, ahead, "train")
//	photos, err := dataset.ImageFolder(fsys)
//
// A loader tells its dataset the batches of an epoch (see [dataset.Foresee]), and the
// dataset passes them on to its store. So nothing is guessed: each block is fetched once for each
// dataset, those that are needed first come first, and what is on the local disk is not fetched.
// Without a loader, and for datasets that do not pass the future on, a [Prefetcher] reads
// from the underlying store whatever is read from it.
//
// # How much at once
//
// Blocks are fetched as far ahead as memory allows ([MaxBytes]). When a block is read
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
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/internal/figures"
)

// An Option changes what [New] makes. The zero Option sets nothing.
type Option struct{ set func(*config) }

type config struct {
	maxBytes int64
	requests int
}

func defaults() config { return config{maxBytes: 256 << 20, requests: 128} }

// MaxBytes sets how many bytes may be fetched and not read yet, or being fetched, for each dataset
// of each loop over the store. What is left of an epoch when the next one has begun comes on top. The
// default is 256 MiB. It should hold what is consumed in the time of a slow request. A larger block
// is not fetched in advance.
func MaxBytes(n int64) Option { return Option{func(c *config) { c.maxBytes = n }} }

// Requests sets how many requests there may be at once. The default is 128. Readers that
// read a block that was not fetched send their own.
func Requests(n int) Option { return Option{func(c *config) { c.requests = n }} }

func (c *config) check() error {
	var errs []error
	if c.maxBytes < 1 {
		errs = append(errs, fmt.Errorf("prefetch: MaxBytes(%d): want 1 or more", c.maxBytes))
	}
	if c.requests < 1 {
		errs = append(errs, fmt.Errorf("prefetch: Requests(%d): want 1 or more", c.requests))
	}
	return errors.Join(errs...)
}

type store = objects.Store

// A Prefetcher is an [objects.Store] that fetches blocks in advance. [New] makes it.
type Prefetcher struct {
	store                 // List, Stat and Identity are its own
	holder objects.Holder // store, if it is one
	config
	count counters

	mu      sync.Mutex
	change  sync.Cond // tells epochs that there may be room
	epochs  []*epoch  // that have not ended, in the order in which they were foreseen
	bytes   int64     // of their blocks
	running int       // requests under way
	allowed int       // requests at once, which grows up to the option Requests
}

// New makes a store that reads from s. It starts nothing.
func New(s objects.Store, options ...Option) (*Prefetcher, error) {
	p := &Prefetcher{store: s, config: defaults()}
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
	return p, nil
}

// Has asks the underlying store, if it keeps copies.
func (p *Prefetcher) Has(o objects.Object, off, n int64) bool {
	return p.holder != nil && p.holder.Has(o, off, n)
}

// Forget passes on to the underlying store that bytes are damaged, if it keeps copies.
func (p *Prefetcher) Forget(o objects.Object, off, n int64) {
	if p.holder != nil {
		p.holder.Forget(o, off, n)
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
	if _, panicked := errors.AsType[*dataset.PanicError](b.err); panicked {
		return b.err
	}
	if b.data == nil {
		p.count.direct.Add(1)
		return p.store.ReadAt(ctx, o, dst, off)
	}
	copy(dst, b.data)
	return nil
}

// take returns a block that is fetched or being fetched, and counts its reader. It returns
// nil if the reader has to read the block itself.
func (p *Prefetcher) take(name objects.Block) *block {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.epochs) == 0 {
		return nil
	}
	p.change.Broadcast() // a batch may have begun
	var found *block     // of a batch that has begun, if there is one: another loop may need the same
	for _, e := range p.epochs {
		if !e.looking {
			e.forget(e.future.Done())
		}
		if b := e.blocks[name]; b != nil && (found == nil || !found.begun() && b.begun()) {
			found = b
		}
	}
	switch {
	case found != nil && found.state != waiting:
		found.readers++
		return found
	case found != nil:
		p.count.direct.Add(1)
		p.consume(found)
		return nil
	}
	p.count.direct.Add(1)
	for _, e := range p.epochs {
		if e.looking && name.Len <= p.maxBytes && e.future.Begun() > 0 {
			if len(e.overtaken) >= mostOvertaken {
				clear(e.overtaken)
			}
			e.overtaken[name] = true
		}
	}
	return nil
}

// consume counts a read of a block. The last one that is expected frees its memory. The caller
// holds the mutex.
func (p *Prefetcher) consume(b *block) {
	if b.reads--; b.reads <= 0 {
		p.drop(b)
	}
}

// await waits until a block was fetched.
func (p *Prefetcher) await(ctx context.Context, b *block) error {
	select {
	case <-b.done:
		if b.err == nil {
			p.count.ready.Add(1)
		}
		return nil
	default:
	}
	begin := time.Now()
	defer func() {
		p.count.late.Add(1)
		p.count.lateTime.Add(int64(time.Since(begin)))
	}()
	select {
	case <-b.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("prefetch: read %s: %w", b.name.Object.Name, ctx.Err())
	}
}

// giveBack ends a read of a block.
func (p *Prefetcher) giveBack(b *block) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b.readers--
	b.read = true
	p.consume(b)
	if b.gone && b.readers == 0 {
		b.data = nil
	}
}

var errStopped = errors.New("the loop has ended")

// Stats is what a [Prefetcher] has done since it was made.
type Stats struct {
	Fetched int64 // blocks
	Bytes   int64 // of these blocks

	Ready    int64         // reads of blocks that had been fetched by then
	Late     int64         // reads that waited for a request under way
	LateTime time.Duration // that they waited, all together
	Direct   int64         // reads during an epoch of blocks that were not fetched in advance, also of those nearby
	Local    int64         // blocks that were foreseen and not fetched, because the store had them nearby
	Unread   int64         // blocks that were fetched and not read

	Requests int   // under way now
	Held     int64 // bytes that are fetched and not read, or being fetched, now
}

// String is one line: "1000 blocks of 8 GiB fetched, 990 reads ready, 10 late by 30ms on
// average, 2 direct, 0 local, 0 not read".
func (s Stats) String() string {
	each := time.Duration(0)
	if s.Late > 0 {
		each = s.LateTime / time.Duration(s.Late)
	}
	return fmt.Sprintf("%s of %s fetched, %s ready, %d late by %v on average, %d direct, %d local, %d not read",
		figures.Count(s.Fetched, "block", "blocks"), figures.Bytes(s.Bytes), figures.Count(s.Ready, "read", "reads"),
		s.Late, each.Round(time.Microsecond), s.Direct, s.Local, s.Unread)
}

type counters struct{ fetched, bytes, ready, late, lateTime, direct, local, unread atomic.Int64 }

// Stats returns the counts. It may be called at any time.
func (p *Prefetcher) Stats() Stats {
	n := &p.count
	p.mu.Lock()
	defer p.mu.Unlock()
	return Stats{
		Fetched: n.fetched.Load(), Bytes: n.bytes.Load(),
		Ready: n.ready.Load(), Late: n.late.Load(), LateTime: time.Duration(n.lateTime.Load()),
		Direct: n.direct.Load(), Local: n.local.Load(), Unread: n.unread.Load(),
		Requests: p.running, Held: p.bytes,
	}
}
