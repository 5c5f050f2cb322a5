//go:build cgo

package main

import (
	"context"
	"errors"
	"slices"
	"time"
)

var errClosed = errors.New("the server is shutting down")

// A batcher lets requests that arrive together share one run of the net.
//
// Every request gets a row of the batch that is being filled, and writes its image
// there. While the net is busy, the batch takes rows until it is full. When the net
// is free, the batch runs as soon as all its rows are written. It takes further rows
// for no longer than wait, so that they cannot put off the first one for ever. A
// request that comes alone does not wait for others.
type batcher struct {
	batcherConfig
	seats    chan seat     // to requests, of the batch that is being filled
	written  chan written  // by requests, into that batch
	finished chan struct{} // by the net
	quit     chan struct{} // closed when no batch shall be begun any more
	done     chan struct{} // closed when the batcher's goroutines have ended
}

type batcherConfig struct {
	net     func(x, y []float32, n int) error // n rows of x to n rows of y
	size    int                               // rows of a batch
	values  int                               // of a row of x
	classes int                               // of a row of y
	wait    time.Duration
}

// A batch is the memory of one run.
type batch struct {
	x, y    []float32
	results []chan result // of every row that was given away
	written int
	failed  []int // rows without an image
}

// A seat is a row that a request may write.
type seat struct {
	row    int
	x      []float32
	result chan result // with room for one
}

type written struct {
	row    int
	failed bool
}

type result struct {
	logits []float32 // the request's own
	rows   int       // that shared the run
	err    error
}

// newBatcher starts a batcher, which the caller must close.
func newBatcher(c batcherConfig) *batcher {
	b := &batcher{batcherConfig: c, seats: make(chan seat), written: make(chan written),
		finished: make(chan struct{}), quit: make(chan struct{}), done: make(chan struct{})}
	go b.gather()
	return b
}

// close answers the requests that have a row, and ends the batcher's goroutines.
// Later requests get errClosed.
func (b *batcher) close() {
	close(b.quit)
	<-b.done
}

// classify has write fill a row, and returns what the net says of it. The error of
// write is returned as it is; the other requests do not notice it.
func (b *batcher) classify(ctx context.Context, write func(row []float32) error) (result, error) {
	var s seat
	select {
	case s = <-b.seats:
	case <-ctx.Done():
		return result{}, ctx.Err()
	case <-b.done:
		return result{}, errClosed
	}
	if err := b.write(s, write); err != nil {
		return result{}, err
	}
	select {
	case r := <-s.result:
		return r, r.err
	case <-ctx.Done():
		return result{}, ctx.Err()
	}
}

// write tells the batcher how it went even if the caller's function panics.
func (b *batcher) write(s seat, write func(row []float32) error) error {
	w := written{row: s.row, failed: true}
	defer func() { b.written <- w }() // the batcher runs until every row is written
	err := write(s.x)
	w.failed = err != nil
	return err
}

// gather gives rows away and starts runs.
func (b *batcher) gather() {
	defer close(b.done)
	filling, other := b.newBatch(), b.newBatch()
	var (
		running bool
		bound   <-chan time.Time // runs while the net waits for rows to be written
		full    bool
		quit    = b.quit
	)
	for {
		var seats chan seat
		row := len(filling.results)
		next := seat{row: row, result: make(chan result, 1)}
		if row < b.size && !full && quit != nil {
			seats = b.seats
			next.x = filling.x[row*b.values:][:b.values:b.values]
		}
		select {
		case seats <- next:
			filling.results = append(filling.results, next.result)
		case w := <-b.written:
			filling.written++
			if w.failed {
				filling.failed = append(filling.failed, w.row)
			}
		case <-b.finished:
			running = false
		case <-bound:
			full = true
		case <-quit:
			quit = nil
		}

		taken := len(filling.results)
		switch {
		case running:
		case taken == 0 && quit == nil:
			return
		case taken == 0:
		case filling.written == taken:
			running = true
			go func(run *batch) {
				b.run(run)
				b.finished <- struct{}{}
			}(filling)
			filling, other = other, filling
			filling.results, filling.written, filling.failed = filling.results[:0], 0, filling.failed[:0]
			bound, full = nil, false
		case bound == nil:
			bound = time.After(b.wait)
		}
	}
}

func (b *batcher) newBatch() *batch {
	return &batch{x: make([]float32, b.size*b.values), y: make([]float32, b.size*b.classes)}
}

// run runs the net on the rows that have an image, and answers their requests.
func (b *batcher) run(t *batch) {
	n := len(t.results)
	slices.Sort(t.failed)
	for _, row := range slices.Backward(t.failed) { // the last row moves into the gap
		n--
		if row != n {
			copy(t.x[row*b.values:][:b.values], t.x[n*b.values:][:b.values])
			t.results[row] = t.results[n]
		}
	}
	if n == 0 {
		return
	}
	err := b.net(t.x[:n*b.values], t.y[:n*b.classes], n)
	for row := range n {
		r := result{rows: n, err: err}
		if err == nil {
			r.logits = slices.Clone(t.y[row*b.classes:][:b.classes])
		}
		t.results[row] <- r // has room
	}
}
