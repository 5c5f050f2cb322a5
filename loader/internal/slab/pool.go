// Package slab owns the memory of batches. A [Slab] has room for one batch: a column for every field of fixed size, and
// rows of ragged fields, whose size is known only when they are there. A [Pool] has the slabs of a loader, hands them
// out and takes them back, and keeps them and all ragged memory within a budget.
//
// It knows nothing of plans and workers, and starts no goroutine but those of [Pool.Touch]. The mutex of a Pool guards
// which slabs there are and which are free, that of an arena its chunks. None is held while the Allocator, which is code
// of the user, is called.
package slab

import (
	"errors"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader/internal/usercode"
)

// Fewest is the number of slabs with which workers always have something to do: one is in the loop body, one is
// complete and one is filled.
const Fewest = 3

// A Config says what slabs there are.
type Config struct {
	Spec   dataset.Spec // of the columns
	Memory Allocator
	Poison bool // whether memory is filled with bytes 0xFF when it is allocated, and when its batch is over
	Budget int  // bytes of all batches
	Least  int  // slabs that there are even if they exceed the budget
}

// A Pool has the slabs of a loader.
type Pool struct {
	Config
	bytes  atomic.Int64 // of all slabs and ragged fields
	ragged bool

	mu      sync.Mutex
	rows    int // of the largest slab
	mean    int // bytes of ragged fields that batches have on average
	largest int // bytes that those of the largest batch have used at once; 0 before the first one
	slabs   int
	free    []*Slab
	filling int   // slabs that are taken and not delivered
	out     int   // slabs that are delivered and not given back
	refused error // of the Allocator, by which there are no more slabs
	closed  bool
}

// NewPool makes a pool without slabs. Each of them will have that many rows.
func NewPool(c Config, rows int) *Pool {
	p := &Pool{Config: c, rows: rows}
	for _, f := range c.Spec {
		p.ragged = p.ragged || f.Ragged
	}
	return p
}

// Bytes is the size of a slab for the largest batch so far, without ragged fields.
func (p *Pool) Bytes() int { return Bytes(p.Spec, p.Rows()) }

// Rows is the number of rows of the largest slab.
func (p *Pool) Rows() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rows
}

// Len is the number of slabs.
func (p *Pool) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.slabs
}

// Held is the bytes of all slabs and ragged fields.
func (p *Pool) Held() int64 { return p.bytes.Load() }

// Out is the number of slabs that are delivered and not given back.
func (p *Pool) Out() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out
}

// Add makes a slab. It calls the Allocator. A panic of it becomes an error.
func (p *Pool) Add() (err error) {
	defer usercode.Recover(&err)
	s, err := newSlab(p, p.Rows())
	if err == nil && !p.adopt(s) {
		err = s.free()
	}
	return err
}

// Touch writes to every page of the free slabs, in n goroutines, so that the system maps the memory now and not
// while the first batches are filled.
func (p *Pool) Touch(n int) {
	if p.Poison {
		return // it has written to all of it
	}
	p.mu.Lock()
	free := slices.Clone(p.free)
	p.mu.Unlock()
	var touching sync.WaitGroup
	for k := range n {
		touching.Go(func() {
			for i := k; i < len(free); i += n {
				free[i].touch()
			}
		})
	}
	touching.Wait()
}

// adopt adds a slab unless the pool is closed.
func (p *Pool) adopt(s *Slab) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.slabs++
	p.free = append(p.free, s)
	return true
}

// Grow adds a slab if all are in use and the budget has room for it. If the Allocator refuses, there will be no more.
func (p *Pool) Grow() (grown bool) {
	p.mu.Lock()
	room := len(p.free) == 0 && p.refused == nil && Bytes(p.Spec, p.rows) <= p.Budget-int(p.bytes.Load())
	p.mu.Unlock()
	if !room {
		return false
	}
	err := p.Add()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused = err
	return err == nil
}

// Refused is why the Allocator has refused another slab, if it has.
func (p *Pool) Refused() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused
}

// Limit is how many slabs there may be at most with [Pool.Grow].
func (p *Pool) Limit() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refused != nil {
		return p.slabs
	}
	return max(p.slabs, p.Budget/max(Bytes(p.Spec, p.rows), 1))
}

// Room reports whether there is a slab for another batch. Ragged fields count too, as soon as their sizes are known:
// some slabs then stay empty while others hold large batches.
func (p *Pool) Room() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.room()
}

func (p *Pool) room() bool {
	switch {
	case len(p.free) == 0:
		return false
	case !p.ragged || p.filling < max(1, p.Least-1): // one more is in the loop body
		return true
	}
	return p.fits()
}

// fits reports whether the budget has room for another batch with ragged fields as large as the largest so far. Slabs
// that are free may still have memory, but the one that was freed last is taken first, so no more of them have than
// were used at once.
func (p *Pool) fits() bool {
	if p.largest == 0 {
		return false // the size of batches is not known before the first one is complete
	}
	largest := p.largest + p.largest/8 // later ones may be a little larger
	fixed := Product(p.slabs, Bytes(p.Spec, p.rows))
	return Product(p.slabs-len(p.free)+1, largest) <= p.Budget-fixed
}

// notes notes how many bytes the ragged fields of a batch have, and how many they have used at once.
func (p *Pool) notes(joined, used int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mean == 0 {
		p.mean = joined
	}
	p.mean += (min(joined, 2*p.mean) - p.mean) / 16 // so that a few very large ones hardly count
	p.largest = max(p.largest, used, 1)
}

// typical is a little more than what the ragged fields of most batches have.
func (p *Pool) typical() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mean + p.mean/8
}

// enough is how many bytes a slab keeps for ragged fields: a few times what batches need on average, or nothing if all
// is more than the budget allows.
func (p *Pool) enough() int {
	const small = 16 << 10 // is cheaper to keep than to free
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bytes.Load() > int64(p.Budget) {
		return 0
	}
	return small + 2*p.mean
}

// alloc allocates n bytes, more than 0, and counts them.
func (p *Pool) alloc(memory Allocator, n int) ([]byte, error) {
	b, err := alloc(memory, n)
	p.bytes.Add(int64(len(b)))
	if p.Poison {
		spoil(b)
	}
	return b, err
}

// dispose frees memory, which counts no longer, even if Free panics.
func (p *Pool) dispose(memory Allocator, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	p.bytes.Add(-int64(len(b)))
	if p.Poison {
		spoil(b)
	}
	return memory.Free(b)
}

// Take takes a slab for a batch, or nil if there is no room. The one that was freed last is taken first.
func (p *Pool) Take() *Slab {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.room() {
		return nil
	}
	p.filling++
	return p.pop()
}

// pop removes a free slab. There must be one.
func (p *Pool) pop() *Slab {
	last := len(p.free) - 1
	s := p.free[last]
	p.free[last], p.free = nil, p.free[:last]
	return s
}

// Delivered notes that a slab is delivered.
func (p *Pool) Delivered(s *Slab) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.delivered = true
	p.filling--
	p.out++
}

// grew notes that there is a slab with that many rows.
func (p *Pool) grew(rows int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rows = max(p.rows, rows)
}

// Put takes back a slab that was vacated. If the pool is closed, or if the budget has no room for so many slabs of the
// largest batch, its memory goes back to the Allocator. If all is more than the budget allows, that of the ragged fields
// of all free slabs does.
func (p *Pool) Put(s *Slab) error {
	over := p.bytes.Load() > int64(p.Budget)
	idle, surplus := p.put(s, over)
	if surplus {
		return s.free()
	}
	var err error
	for _, s := range idle {
		err = errors.Join(err, p.lighten(s))
	}
	return err
}

// put adds a slab to the free ones, or, if over, removes all of them for the caller to lighten. It reports a slab that
// the caller is to free.
func (p *Pool) put(s *Slab, over bool) (idle []*Slab, surplus bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.delivered {
		s.delivered = false
		p.out--
	} else {
		p.filling--
	}
	switch {
	case p.closed:
		return nil, true
	case p.slabs > p.Least && Product(p.slabs, Bytes(p.Spec, p.rows)) > p.Budget:
		p.slabs--
		return nil, true
	}
	p.free = append(p.free, s)
	if p.ragged && over {
		idle, p.free = p.free, nil
	}
	return idle, false
}

// lighten frees the memory of a slab for ragged fields, and puts it back, also if Free panics. If the pool was closed
// meanwhile, it frees the slab.
func (p *Pool) lighten(s *Slab) (err error) {
	defer func() {
		p.mu.Lock()
		closed := p.closed
		if !closed {
			p.free = append(p.free, s)
		}
		p.mu.Unlock()
		if closed {
			err = errors.Join(err, s.free())
		}
	}()
	return s.freeRagged()
}

// Shut says that slabs that are put from now on are freed.
func (p *Pool) Shut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

// Close frees all slabs that are free.
func (p *Pool) Close() (err error) {
	for s := p.drain(); s != nil; s = p.drain() {
		err = errors.Join(err, s.free())
	}
	return err
}

func (p *Pool) drain() *Slab {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) == 0 {
		return nil
	}
	return p.pop()
}

// Product is that of two numbers that are not negative, or the largest int if it overflows.
func Product(a, b int) int {
	if high, low := bits.Mul(uint(a), uint(b)); high == 0 && low <= math.MaxInt {
		return int(low)
	}
	return math.MaxInt
}
