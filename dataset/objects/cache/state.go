package cache

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"strconv"
	"time"

	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/private"
)

// A state is what the processes share. It is in the file that they lock.
type state struct {
	used int64 // bytes of blocks and parts, or more if a process was killed
	top  int   // one more than the first two digits of the highest key
}

const stateBytes = 16

func (s *state) add(k key, n int64) {
	s.used += n
	if sub, err := strconv.ParseUint(string(k[:2]), 16, 8); err == nil {
		s.top = max(s.top, int(sub)+1)
	}
}

// remove deletes a file that counts. Its size is subtracted only when it is gone, so that
// used is never too low.
func (f *folder) remove(s *state, name string) error {
	n := f.sizeOf(name)
	err := f.dir.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // by another process, which has subtracted it
	}
	if err == nil {
		s.used = max(0, s.used-n)
	}
	return files.Cause(err)
}

func (f *folder) read() (s state, err error) {
	var b [stateBytes]byte
	if _, err := f.lock.ReadAt(b[:], 0); err != nil && err != io.EOF {
		return s, files.Cause(err)
	}
	s.used = max(0, int64(binary.LittleEndian.Uint64(b[:])))
	s.top = int(min(256, binary.LittleEndian.Uint64(b[8:])))
	return s, nil
}

func (f *folder) write(s state) error {
	var b [stateBytes]byte
	binary.LittleEndian.PutUint64(b[:], uint64(s.used))
	binary.LittleEndian.PutUint64(b[8:], uint64(s.top))
	_, err := f.lock.WriteAt(b[:], 0)
	return files.Cause(err)
}

// errHeld is the error if another goroutine or process has held the folder until the context
// was done.
var errHeld = errors.New("the folder is held by another process")

// with calls change while no other process changes the folder. The error is errHeld if ctx is
// done before that, and [fs.ErrClosed] if the folder is closed.
func (f *folder) with(ctx context.Context, change func(*state) error) (err error) {
	select {
	case f.turn <- struct{}{}:
	case <-ctx.Done():
		return errHeld
	}
	defer func() { <-f.turn }()
	if f.closed {
		return fs.ErrClosed
	}
	if err := f.acquire(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, private.Unlock(f.lock)) }()
	s, err := f.read()
	if err != nil {
		return err
	}
	before := s
	err = change(&s)
	if s != before {
		err = errors.Join(err, f.write(s))
	}
	return err
}

// acquire locks the file. Its caller has the turn. The error is as in with.
func (f *folder) acquire(ctx context.Context) error {
	if f.alive == nil { // in New, which nothing ends
		return private.Lock(f.lock)
	}
	timer := time.NewTimer(0) // no system call waits for a lock, a context and close
	defer timer.Stop()
	for wait := leastWait; ; wait = min(2*wait, mostWait) {
		if ok, err := private.TryLock(f.lock); ok || err != nil {
			return err
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			return errHeld
		case <-f.closing:
			return fs.ErrClosed
		}
	}
}

const (
	leastWait = 100 * time.Microsecond // between two attempts to lock the file: a change takes as long
	mostWait  = 10 * time.Millisecond
	patience  = time.Second // of changes that have no context
)

// soon is with for changes that have no context.
func (f *folder) soon(change func(*state) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return f.with(ctx, change)
}

// used is the number of bytes in the folder, or 0 if it is closed.
func (f *folder) used() int64 {
	s, _ := f.read()
	return s.used
}
