package stream

import (
	"errors"
	"os"
	"sync"
)

// mostHandles is how many blocks are open at most, apart from those that are in use. With
// blocks of 4 MiB it is a window of 1 GiB.
const mostHandles = 256

// handles are the blocks that are open for reading.
type handles struct {
	folder *folder

	mu     sync.Mutex
	open   map[int]*handle // by the number of the first record
	clock  int             // counts uses
	closed bool
	late   error // of closing files
}

// A handle is an open block.
type handle struct {
	contents
	file  *os.File
	users int
	used  int  // the clock when it was last used
	gone  bool // whether it is to be closed after its last use
}

// use returns a handle of the block with that first record, and opens the block if need
// be. done must be called after it.
func (h *handles) use(first int) (*handle, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, os.ErrClosed
	}
	one := h.open[first]
	if one == nil {
		c, file, err := h.folder.contents(first)
		if err != nil {
			return nil, err
		}
		if h.open == nil {
			h.open = make(map[int]*handle)
		}
		h.evict()
		one = &handle{contents: c, file: file}
		h.open[first] = one
	}
	h.clock++
	one.used = h.clock
	one.users++
	return one, nil
}

// evict makes room for a handle. The caller holds the mutex.
func (h *handles) evict() {
	if len(h.open) < mostHandles {
		return
	}
	var oldest *handle
	for _, one := range h.open {
		if one.users == 0 && (oldest == nil || one.used < oldest.used) {
			oldest = one
		}
	}
	if oldest != nil {
		h.remove(oldest)
	}
}

// remove closes a handle, if need be after its last use. The caller holds the mutex.
func (h *handles) remove(one *handle) {
	delete(h.open, one.first)
	one.gone = true
	if one.users == 0 {
		h.late = errors.Join(h.late, one.file.Close())
	}
}

// done ends the use of a handle.
func (h *handles) done(one *handle) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if one.users--; one.users == 0 && one.gone {
		h.late = errors.Join(h.late, one.file.Close())
	}
}

// drop closes the block with that first record, if it is open.
func (h *handles) drop(first int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if one := h.open[first]; one != nil {
		h.remove(one)
	}
}

// close closes all blocks.
func (h *handles) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, one := range h.open {
		h.remove(one)
	}
	return h.late
}
