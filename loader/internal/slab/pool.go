// Package slab owns the memory of batches. A [Slab] has room for one batch: a column for every field of fixed size, and
// rows of ragged fields, whose size is known only when they are there. A [Pool] has the slabs of a loader, hands them
// out and takes them back, and keeps them and all ragged memory within a budget.
//
// It knows nothing of plans and workers, and starts no goroutine. The mutex of a Pool guards which slabs there are and
// which are free, that of an arena its chunks. A Pool's is not held while the Allocator, which is code of the user, is
// called.
package slab

import (
	"errors"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/usercode"
)

// Fewest is the number of slabs with which workers always have something to do: one is in the loop body, one is
// complete and one is filled.
const Fewest = 3

// A Config says what slabs there are.
type Config struct {
	Spec   dataset.Spec // of the columns
	Memory Allocator
	Budget int // bytes of all batches
	Least  int // slabs that there are even if they exceed the budget
}

// A Pool has the slabs of a loader.
type Pool struct {
	Config
	bytes  atomic.Int64 // of all slabs and ragged fields
	ragged bool
	used   [uses]atomic.Int32 // slabs by what they are used for, but for unused ones

	mu      sync.Mutex
	rows    int // of the largest slab
	mean    int // bytes of ragged fields that batches have on average
	largest int // bytes that those of the largest batch have used at once; 0 before the first one
	all     []*Slab
	free    []*Slab
	bound   int // slabs that there may be now; 0 if none are to be added
	making  bool
	refused error // why there are no more slabs
	closed  bool
	held    int64 // bytes when it was closed
}

// What a slab is used for.
type use int

const (
	unused use = iota
	open       // it is being filled
	full       // it is filled and not delivered
	out        // it is delivered, or lost to a call that does not return
	uses       // how many there are
)

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
	return len(p.all)
}

// Held is the bytes of all slabs and ragged fields; of a pool that is closed those that it had then.
func (p *Pool) Held() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return p.held
	}
	return p.bytes.Load()
}

// Out is the number of slabs that are delivered and not given back, or lost.
func (p *Pool) Out() int { return p.count(out) }

// count is the number of slabs that are used for something.
func (p *Pool) count(of use) int { return int(p.used[of].Load()) }

// Add makes a slab. It calls the Allocator. A panic of it becomes an error.
func (p *Pool) Add() (s *Slab, err error) {
	defer usercode.Recover(&err)
	if s, err = newSlab(p, p.Rows()); err != nil {
		return nil, err
	}
	if !p.adopt(s) {
		err = s.free()
	}
	return s, err
}

// adopt adds a slab unless the pool is closed.
func (p *Pool) adopt(s *Slab) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.all = append(p.all, s)
	p.free = append(p.free, s)
	return true
}

// Limit is how many slabs there may be at most, if [Pool.Grow] adds some.
func (p *Pool) Limit() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refused != nil {
		return len(p.all)
	}
	return p.most()
}

func (p *Pool) most() int { return max(p.Least, p.Budget/max(Bytes(p.Spec, p.rows), 1)) }

// Refused is why the Allocator has refused another slab, if it has.
func (p *Pool) Refused() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused
}

// Stretch lets [Pool.Grow] add as many slabs as there are, until [Pool.Settle].
func (p *Pool) Stretch() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bound = 2 * len(p.all)
}

// Settle says that no slabs are to be added.
func (p *Pool) Settle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bound = 0
}

// Lacks reports whether [Pool.Grow] is to be called if there is work for one more slab.
func (p *Pool) Lacks() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lacks()
}

func (p *Pool) lacks() bool {
	switch {
	case p.refused != nil || p.making || len(p.free) > 0 || len(p.all) >= p.bound:
		return false
	case len(p.all) < p.Least:
		return true
	}
	return Bytes(p.Spec, p.rows) <= p.Budget-int(p.bytes.Load())
}

// Grow adds a slab if the pool lacks one. If the Allocator refuses, there will be no more.
func (p *Pool) Grow() {
	p.mu.Lock()
	if !p.lacks() {
		p.mu.Unlock()
		return
	}
	p.making = true
	p.mu.Unlock()
	err := errors.New("runtime.Goexit was called")
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.making, p.refused = false, err
	}()
	_, err = p.Add()
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
	case !p.ragged || p.count(open)+p.count(full) < max(1, p.Least-1): // one more is in the loop body
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
	fixed := Product(len(p.all), Bytes(p.Spec, p.rows))
	return Product(len(p.all)-len(p.free)+1, largest) <= p.Budget-fixed
}

// notes notes how many bytes the ragged fields of a batch have.
func (p *Pool) notes(joined int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mean == 0 {
		p.mean = joined
	}
	p.mean += (min(joined, 2*p.mean) - p.mean) / 16 // so that a few very large ones hardly count
}

// peaks notes how many bytes those of a batch have used at once.
func (p *Pool) peaks(used int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.largest = max(p.largest, used, 1)
}

// typical is a little more than what the ragged fields of most batches have.
func (p *Pool) typical() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mean + p.mean/8
}

// enough is how many bytes a slab keeps for ragged fields, and for padded ones: a few times what batches need on
// average, or nothing if all is more than the budget allows.
func (p *Pool) enough() (most, padded int) {
	const small = 16 << 10 // is cheaper to keep than to free
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bytes.Load() > int64(p.Budget) {
		return 0, 0
	}
	return small + 2*p.mean, small + 16*p.mean
}

// alloc allocates n bytes, more than 0, and counts them. If they exceed the budget, free slabs give back the memory of
// their ragged fields before.
func (p *Pool) alloc(memory Allocator, n int) (b []byte, err error) {
	for s := p.spare(n); s != nil && err == nil; s = p.spare(n) {
		err = p.lighten(s)
	}
	if err == nil {
		b, err = alloc(memory, n)
	}
	p.bytes.Add(int64(len(b)))
	return b, err
}

// lighten frees the memory of a spare slab for ragged fields, and puts it back, to be taken last, also if Free panics.
// If the pool was closed meanwhile, it frees the slab.
func (p *Pool) lighten(s *Slab) (err error) {
	defer func() {
		if !p.restore(s) {
			err = errors.Join(err, s.free())
		}
	}()
	return s.freeRagged()
}

// restore puts a spare slab back unless the pool is closed.
func (p *Pool) restore(s *Slab) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.free = slices.Insert(p.free, 0, s)
	return true
}

// spare removes a free slab with memory for ragged fields if n more bytes exceed the budget, or returns nil.
func (p *Pool) spare(n int) *Slab {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bytes.Load()+int64(n) <= int64(p.Budget) {
		return nil
	}
	for i, s := range p.free {
		if s.arena.total > 0 || slices.ContainsFunc(s.ragged, func(c ragged) bool { return c.block != nil || c.padded != nil || c.mask != nil }) {
			p.free = slices.Delete(p.free, i, i+1)
			return s
		}
	}
	return nil
}

// dispose frees memory, which counts no longer, even if Free panics.
func (p *Pool) dispose(memory Allocator, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	p.bytes.Add(-int64(len(b)))
	return memory.Free(b)
}

// Take takes a slab for a batch, or nil if there is no room.
func (p *Pool) Take() *Slab {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.room() {
		return nil
	}
	s := p.pop()
	p.change(s, open)
	return s
}

// pop removes a free slab. There must be one.
func (p *Pool) pop() *Slab {
	last := len(p.free) - 1
	s := p.free[last]
	p.free = p.free[:last]
	return s
}

// Filled notes that a slab is filled, or will not be.
func (p *Pool) Filled(s *Slab) { p.change(s, full) }

// Delivered notes that a slab is delivered, or lost.
func (p *Pool) Delivered(s *Slab) { p.change(s, out) }

// change changes what a slab is used for. Only who has the slab calls it.
func (p *Pool) change(s *Slab, to use) {
	p.used[s.use].Add(-1)
	p.used[to].Add(1)
	s.use = to
}

// grew notes that there is a slab with that many rows.
func (p *Pool) grew(rows int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rows = max(p.rows, rows)
}

// Put takes back a slab that was vacated. If the pool is closed, or has more memory than the budget allows, or will
// when all slabs have had the largest batch, memory goes back to the Allocator.
func (p *Pool) Put(s *Slab) error {
	p.mu.Lock()
	p.change(s, unused)
	closed := p.closed
	if !closed {
		p.free = append(p.free, s)
	}
	excessive := Product(len(p.all), Bytes(p.Spec, p.rows)) > p.Budget
	p.mu.Unlock()
	switch {
	case closed:
		return s.free()
	case excessive:
		return p.shrink()
	}
	return nil
}

// shrink frees the slabs for which the budget has no room.
func (p *Pool) shrink() (err error) {
	for s := p.surplus(); s != nil; s = p.surplus() {
		err = errors.Join(err, s.free())
	}
	return err
}

// surplus removes a free slab for which there is no room, or returns nil.
func (p *Pool) surplus() *Slab {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.all) <= p.most() || len(p.free) == 0 {
		return nil
	}
	s := p.pop()
	p.all = slices.DeleteFunc(p.all, func(o *Slab) bool { return o == s })
	return s
}

// Shut says that slabs that are put from now on are freed.
func (p *Pool) Shut() {
	held := p.Held()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed, p.held = true, held
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
