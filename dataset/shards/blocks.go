package shards

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
	"github.com/penstock-go/penstock/internal/bulk"
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

// atOnce is how many bytes are allocated and requested because an index says so. Larger
// blocks, such as compressed shards, are read in parts that grow with what was read.
const atOnce = 64 << 20

// more is how much larger than a block its memory is, at most, so that a slightly larger one fits
// too.
const more = 1 << 20

// damage is the error of bytes that are wrong and stay so.
type damage struct{ error }

func (d *damage) Unwrap() error { return d.error }

// fetch reads the first n bytes of an object.
func fetch(ctx context.Context, s objects.Store, o objects.Object, n int64) ([]byte, error) {
	return appendRange(ctx, s, o, 0, n, false, nil)
}

// appendRange appends n bytes of an object from byte off on. again says that the same bytes were
// read before, and were damaged. Then the first byte is read alone, so that no other read begins
// where one began before: also not where a cache divides it into blocks.
func appendRange(ctx context.Context, s objects.Store, o objects.Object, off, n int64, again bool, to []byte) ([]byte, error) {
	first := len(to)
	for int64(len(to)-first) < n {
		done := int64(len(to) - first)
		part := int(min(n-done, max(atOnce, done)))
		if again && done == 0 {
			part = 1
		}
		begin := len(to)
		if cap(to)-begin < part {
			grown := make([]byte, 0, begin+part+min(more, (begin+part)/8))
			to = append(grown, to...)[:begin]
		}
		to = to[:begin+part]
		if err := s.ReadAt(ctx, o, to[begin:], off+done); err != nil {
			return nil, err
		}
	}
	return to, nil
}

// load reads a block, compares its checksum, decompresses it and finds its samples.
func (d *Dataset) load(ctx context.Context, h *held) error {
	b := &d.index.blocks[h.block]
	err := d.tryLoad(ctx, h, b, false)
	if _, ok := errors.AsType[*damage](err); ok {
		// The bytes may have been damaged on their way. They are read again as other ranges,
		// because a cache of blocks may hold the damaged ones, also one that cannot forget them.
		if f, ok := d.store.(objects.Holder); ok {
			for _, r := range b.Ranges(nil) {
				f.Forget(d.object(h.block), r.Off, r.Len)
			}
		}
		err = d.tryLoad(ctx, h, b, true)
	}
	if err != nil {
		return fmt.Errorf("%s, block at byte %d: %w", d.index.objectOf(h.block).Name, b.Off, err)
	}
	return nil
}

// tryLoad reads a block, for the second time if it was damaged.
func (d *Dataset) tryLoad(ctx context.Context, h *held, b *indexedBlock, again bool) error {
	c := d.index.shards[b.shard].compression
	to := h.data[:0]
	if c != shardfmt.Plain {
		to = d.memory.takeStored()
	} else {
		h.data = nil // after an error the store may not be done with it
	}
	var err error
	var memory [4]shardfmt.Range
	for _, r := range b.Ranges(memory[:0]) {
		if to, err = appendRange(ctx, d.store, d.object(h.block), r.Off, r.Len, again, to); err != nil {
			return err
		}
	}
	if c == shardfmt.Plain {
		h.data = to
	} else {
		defer d.memory.giveStored(to)
	}
	if b.Summed {
		if sum := crc32.Checksum(to[:b.Len], castagnoli()); sum != b.Sum {
			return &damage{fmt.Errorf("%d bytes with the CRC-32C %08x, want %08x: the shard is damaged, or not that of the index", b.Len, sum, b.Sum)}
		}
	}
	switch c {
	case shardfmt.Plain:
	case shardfmt.ByFormat:
		h.data, err = d.index.layout.(shardfmt.Unpacker).Unpack(h.data[:0], to, &b.Block)
	default:
		h.data, err = decompress(c, to, b.Size)
	}
	if err != nil {
		return &damage{err}
	}
	if h.rows, err = d.index.layout.Rows(h.data, b.Off, h.rows[:0]); err != nil {
		return &damage{err}
	}
	if len(h.rows) != b.Rows {
		return &damage{fmt.Errorf("%d samples, want %d: the shard is damaged, or not that of the index", len(h.rows), b.Rows)}
	}
	return nil
}

// likely is the compression ratio for which memory is allocated before anything is
// decompressed.
const likely = 16

func decompress(c shardfmt.Compression, packed []byte, size int64) ([]byte, error) {
	r, err := decompressor(c, bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b := bulk.Growing(size, likely*int64(len(packed)))
	if _, err := b.Fill(r, size); err != nil {
		if errors.Is(err, bulk.ErrShort) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("byte %d of the decompressed data: %w", len(b.Bytes()), err)
	}
	switch ended, err := bulk.Ended(r); {
	case err != nil:
		return nil, err
	case !ended:
		return nil, fmt.Errorf("more than %d bytes after decompression", size)
	}
	return b.Bytes(), nil
}

// Foresee tells the store which blocks will be read, and in which order, if it is an
// [objects.Foreseer]: see package prefetch. It leaves out ranges of more than 64 MiB, which are
// read in parts, and blocks that are in memory, if there is room for all of them. Otherwise
// these may have gone when their turn comes, and a Reader would wait for them.
func (d *Dataset) Foresee(f dataset.Future) (stop func()) {
	s, ok := d.store.(objects.Foreseer)
	if !ok {
		return nil
	}
	stays := d.index.size() <= d.memory.limit
	return s.Foresee(f, objects.Blocks{
		Len: len(d.index.blocks),
		Of: func(sample int) int {
			if dataset.CheckIndex(sample, d.Len()) != nil {
				return -1
			}
			b, _ := d.index.find(sample)
			return b
		},
		At: func(b int, dst []objects.Block) []objects.Block {
			if stays && d.memory.has(b) {
				return dst
			}
			var memory [4]shardfmt.Range
			for _, r := range d.index.blocks[b].Ranges(memory[:0]) {
				if r.Len <= atOnce {
					dst = append(dst, objects.Block{Object: d.object(b), Off: r.Off, Len: r.Len})
				}
			}
			return dst
		},
		Once: true,
	})
}
