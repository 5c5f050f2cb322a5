// Package slab owns the memory of batches. A [Slab] has room for one batch: a column for every field of fixed size, and
// rows of ragged fields, whose size is known only when they are there. A [Pool] has the slabs of a loader, hands them
// out and takes them back, and keeps them and all ragged memory within a budget.
//
// It knows nothing of plans and workers, and starts no goroutine. The mutex of a Pool guards which slabs there are and
// which are free; that of a stock guards its free blocks. A Pool's mutex may be held when a stock's is taken, and
// neither is held while the Allocator is called, which is code of the user.
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
	stocks stocks
	ragged bool
	used   [uses]atomic.Int32 // slabs by what they are used for, but for unused ones

	mu      sync.Mutex
	rows    int // of the largest slab
	all     []*Slab
	free    []*Slab
	target  int // how many slabs there are to be
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
	p.stocks.bind(c.Memory, c.Budget)
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
	return p.stocks.slabs.Load() + p.stocks.size()
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

// Aim says how many slabs there are to be for so many workers.
func (p *Pool) Aim(target, workers int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return // blocks that are put from now on are freed
	case p.refused != nil:
		target = len(p.all)
	}
	p.target = target
	p.stocks.serve(max(target, len(p.all)), workers)
}

// Target is how many slabs there are to be, and why there are no more, if the Allocator has refused one.
func (p *Pool) Target() (n int, refused error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.target, p.refused
}

// Lacks reports whether [Pool.Grow] is to be called if there is work for one more slab.
func (p *Pool) Lacks() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lacks()
}

func (p *Pool) lacks() bool {
	switch {
	case p.refused != nil || p.making || len(p.free) > 0 || len(p.all) >= p.target:
		return false
	case len(p.all) < p.Least:
		return true
	}
	return Bytes(p.Spec, p.rows) <= p.Budget-int(p.stocks.slabs.Load())
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
		if p.making = false; err != nil {
			p.refused, p.target = err, len(p.all)
		}
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
	switch taken := len(p.all) - len(p.free); {
	case len(p.free) == 0 || taken >= p.target:
		return false
	case !p.ragged || p.count(open)+p.count(full) < max(1, p.Least-1): // one more is in the loop body
		return true
	}
	return p.fits()
}

// fits reports whether the budget has room for another batch as large as the largest so far.
func (p *Pool) fits() bool {
	largest := int(p.stocks.largest.Load())
	if largest == 0 {
		return false // the size of batches is not known before the first one is complete
	}
	largest += largest / 8 // later ones may be a little larger
	return Product(p.count(open)+1, largest) <= p.Budget-int(p.stocks.slabs.Load())-p.stocks.values.used()-p.stocks.padded.used()
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
		return p.Shrink()
	}
	return nil
}

// Shrink frees the slabs that are not needed: those above the target, and those for which the budget has no room.
func (p *Pool) Shrink() (err error) {
	for s := p.surplus(); s != nil; s = p.surplus() {
		err = errors.Join(err, s.free())
	}
	return err
}

// surplus removes a free slab that is not needed, or returns nil.
func (p *Pool) surplus() *Slab {
	p.mu.Lock()
	defer p.mu.Unlock()
	needed := min(p.target, max(p.Least, p.Budget/max(Bytes(p.Spec, p.rows), 1)))
	if p.closed || len(p.all) <= needed || len(p.free) == 0 {
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

// Close frees all slabs that are free, and the ragged memory.
func (p *Pool) Close() (err error) {
	for s := p.drain(); s != nil; s = p.drain() {
		err = errors.Join(err, s.free())
	}
	return errors.Join(err, p.stocks.each((*stock).close))
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
