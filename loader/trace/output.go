package trace

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Sizes of the output's memory, in bytes.
const (
	chunk   = 64 << 10 // is written at once
	backlog = 8 << 20  // of events that the writer has not taken; more are lost
)

// An output writes events in another goroutine, which exists only while there is something to
// write. So a slow writer does not hold up the loader.
type output struct {
	w   io.Writer
	pid int

	mu      sync.Mutex
	wake    sync.Cond // signalled when writing ends
	buf     []byte    // events that the writer has not taken
	spare   []byte    // memory for buf, while that of buf is written
	writing bool
	due     bool      // whether the writer is to take buf, however short it is
	flushed time.Time // when that was last so
	began   bool      // whether there is an event already
	closed  bool
	last    int64 // when the last event in buf was
	lost    int64 // events since then
	err     error // of the writer
}

func newOutput(w io.Writer, pid int) *output {
	o := &output{w: w, pid: pid, buf: []byte("[\n")}
	o.wake.L = &o.mu
	return o
}

// add adds an event, or loses it if there is no room. The caller holds the mutex.
func (o *output) add(e *event) {
	switch {
	case o.closed || o.err != nil:
		return
	case len(o.buf) > backlog:
		o.lost++
		return
	}
	o.report()
	o.last = e.at
	o.encode(e)
	if len(o.buf) >= chunk {
		o.flush()
	}
}

// report adds an event that says how many were lost.
func (o *output) report() {
	if o.lost == 0 {
		return
	}
	o.encode(&event{phase: 'i', tid: loopTrack, at: o.last, name: "events are missing", args: []arg{{key: "events", number: o.lost}}})
	o.lost = 0
}

// encode appends an event. The separator comes before it, so that the file needs only a
// bracket to be JSON wherever it ends. Viewers do not miss the bracket.
func (o *output) encode(e *event) {
	if o.began {
		o.buf = append(o.buf, ",\n"...)
	}
	o.began = true
	o.buf = e.append(o.buf, o.pid)
}

// flush makes the writer take what there is. The caller holds the mutex.
func (o *output) flush() {
	o.due, o.flushed = true, time.Now()
	if o.writing {
		return
	}
	o.writing = true
	go o.write()
}

// write writes until less than a chunk is left, or everything if the output is closed.
func (o *output) write() {
	o.mu.Lock()
	returned := false
	defer func() {
		if v := recover(); v != nil {
			o.err = fmt.Errorf("panic: %v", v)
		} else if !returned {
			o.err = errors.New("runtime.Goexit was called")
		}
		o.writing = false
		o.wake.Broadcast()
		o.mu.Unlock()
	}()
	for len(o.buf) >= chunk || len(o.buf) > 0 && (o.due || o.closed) {
		b := o.buf
		o.buf, o.spare, o.due = o.spare[:0], nil, false
		if err := o.pass(b); err != nil {
			o.err, o.buf = err, nil
			break
		}
		o.spare = b
	}
	returned = true
}

// pass gives b to the writer, without the mutex.
func (o *output) pass(b []byte) error {
	o.mu.Unlock()
	defer o.mu.Lock()
	_, err := o.w.Write(b)
	return err
}

// close ends the file and waits until it is written.
func (o *output) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil
	}
	o.closed = true
	if o.err == nil {
		o.report()
		o.buf = append(o.buf, "\n]\n"...)
		o.flush()
	}
	for o.writing {
		o.wake.Wait()
	}
	if o.err != nil {
		return fmt.Errorf("trace: write the file: %w", o.err)
	}
	return nil
}
