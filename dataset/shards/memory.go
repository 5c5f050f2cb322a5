package shards

import (
	"context"
	"errors"
	"sync"

	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
)

// memory holds blocks. All Readers of a dataset share it. A block that several of them
// want is loaded once.
type memory struct {
	limit int64 // bytes

	mu      sync.Mutex
	held    map[int]*held // by block
	damaged map[int]error // blocks that cannot be read, by block
	used    int64         // bytes of held blocks, also those being loaded
	idle    held          // ring of the blocks without users; idle.next was used last
	spares  []*held       // their memory can be used again; at most mostSpares
	stored  [][]byte      // memory for blocks before they are unpacked
}

// mostSpares is how many dropped blocks' memory is kept. Blocks differ in size, so two of them
// make room for one at times, and a later one needs none.
const mostSpares = 2

// held is a block in memory.
type held struct {
	block int
	ready chan struct{} // closed when it was loaded, or could not be
	err   error         // why it could not be
	data  []byte
	rows  []shardfmt.Row

	// The mutex of memory guards these.
	users      int
	size       int64
	prev, next *held // in the ring of idle blocks
}

func (h *held) sample(row int) []byte {
	r := h.rows[row]
	return h.data[r.Off : r.Off+r.Len : r.Off+r.Len]
}

// get returns block b, which load fills if it is not in memory. size is its number of
// bytes. The caller releases it.
func (m *memory) get(ctx context.Context, b int, size int64, load func(context.Context, *held) error) (*held, error) {
	for {
		h, mine, err := m.take(b, size)
		if err != nil {
			return nil, err
		}
		if mine {
			return m.load(ctx, h, load)
		}
		select {
		case <-h.ready:
		case <-ctx.Done():
			m.release(h)
			return nil, ctx.Err()
		}
		if h.err == nil {
			return h, nil
		}
		err = h.err
		m.release(h)
		if !ended(err) || ctx.Err() != nil {
			return nil, err
		}
		// The Reader that loaded the block was cancelled. This one was not.
	}
}

// ended reports whether err is that of a context.
func ended(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// take adds a user to a block. mine says that the caller has to load it.
func (m *memory) take(b int, size int64) (h *held, mine bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.damaged[b]; err != nil {
		return nil, false, err
	}
	if h := m.held[b]; h != nil {
		m.use(h)
		return h, false, nil
	}
	m.used += size
	m.evict()
	h = &held{block: b, ready: make(chan struct{}), users: 1, size: size}
	if n := len(m.spares); n > 0 {
		old := m.spares[n-1]
		m.spares = m.spares[:n-1]
		h.data, h.rows = old.data[:0], old.rows[:0]
		old.data, old.rows = nil, nil
	}
	if m.held == nil {
		m.held = make(map[int]*held)
	}
	m.held[b] = h
	return h, true, nil
}

// load fills h. After an error, or a panic of the store, the block is not held.
func (m *memory) load(ctx context.Context, h *held, load func(context.Context, *held) error) (_ *held, err error) {
	h.err = errors.New("reading the block has panicked")
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if h.err != nil {
			delete(m.held, h.block)
			m.used -= h.size
			if _, ok := errors.AsType[*damage](h.err); ok {
				if m.damaged == nil {
					m.damaged = make(map[int]error)
				}
				m.damaged[h.block] = h.err
			}
		} else if n := int64(len(h.data)); n != h.size { // the index has an estimate
			m.used += n - h.size
			h.size = n
			m.evict()
		}
		close(h.ready)
	}()
	if h.err = load(ctx, h); h.err != nil {
		return nil, h.err
	}
	return h, nil
}

// takeStored returns memory for a block that is to be unpacked.
func (m *memory) takeStored() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.stored)
	if n == 0 {
		return nil
	}
	b := m.stored[n-1]
	m.stored = m.stored[:n-1]
	return b[:0]
}

// giveStored returns the memory of a block that was unpacked. As many are kept as there
// were Readers that unpacked blocks at the same time.
func (m *memory) giveStored(b []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stored = append(m.stored, b)
}

// peek returns a block that is in memory, or nil. The caller releases it.
func (m *memory) peek(b int) *held {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.held[b]
	if h == nil {
		return nil
	}
	select {
	case <-h.ready:
		m.use(h)
		return h
	default:
		return nil
	}
}

// has reports whether a block is in memory or being loaded.
func (m *memory) has(b int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held[b] != nil
}

// use adds a user. m.mu must be held.
func (m *memory) use(h *held) {
	if h.users == 0 {
		h.prev.next, h.next.prev = h.next, h.prev
		h.prev, h.next = nil, nil
	}
	h.users++
}

// release takes a user away.
func (m *memory) release(h *held) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h.users--; h.users > 0 || m.held[h.block] != h {
		return // it could not be loaded
	}
	if m.idle.next == nil {
		m.idle.prev, m.idle.next = &m.idle, &m.idle
	}
	h.prev, h.next = &m.idle, m.idle.next
	h.prev.next, h.next.prev = h, h
	m.evict()
}

// evict drops blocks without users, until the rest is within the limit. m.mu must be
// held.
func (m *memory) evict() {
	for m.used > m.limit && m.idle.prev != nil && m.idle.prev != &m.idle {
		h := m.idle.prev
		h.prev.next, h.next.prev = h.next, h.prev
		h.prev, h.next = nil, nil
		delete(m.held, h.block)
		m.used -= h.size
		if len(m.spares) < mostSpares {
			m.spares = append(m.spares, h)
		}
	}
}
