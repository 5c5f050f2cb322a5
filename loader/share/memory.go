package share

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"unsafe"

	"github.com/penstock-go/penstock/internal/machine"
)

// A Memory is a [loader.Allocator] of memory that another process can map. This memory
// counts as shared memory of the system, not as Go's, and the size of /dev/shm does not
// limit it. The zero Memory is ready for use. On systems other than Linux, Alloc returns
// an error.
type Memory struct {
	mu     sync.Mutex
	blocks []*block
	last   int   // the id of the newest block
	gone   []int // ids of freed blocks that a reader has mapped
	bytes  int   // of all blocks
}

// A block is a file in memory, mapped here. The Memory's mutex guards it.
type block struct {
	id    int
	bytes []byte // at an address that does not change
	file  *os.File
	known bool // to a reader, which may have mapped it
}

// Alloc returns n zero bytes, aligned to a page. It is an error if the machine has less
// memory. Without this error the system would kill the program.
func (m *Memory) Alloc(n int) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if has := machine.Memory(); n < 0 || n > has-m.bytes {
		return nil, fmt.Errorf("share: allocate %d bytes: the machine has %d, and %d are allocated already", n, has, m.bytes)
	}
	file, bytes, err := newFile(n)
	if err != nil {
		return nil, fmt.Errorf("share: allocate %d bytes: %w", n, err)
	}
	m.last++
	m.blocks = append(m.blocks, &block{id: m.last, bytes: bytes, file: file})
	m.bytes += len(bytes)
	return bytes[:n:n], nil
}

// Free takes back memory that Alloc returned. A reader that has mapped it can still
// read it.
func (m *Memory) Free(slab []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.blocks, func(b *block) bool {
		return unsafe.SliceData(b.bytes) == unsafe.SliceData(slab)
	})
	if i < 0 {
		return fmt.Errorf("share: free %d bytes: Alloc did not return them, or they are freed already", len(slab))
	}
	b := m.blocks[i]
	if err := unmap(b.bytes); err != nil {
		return fmt.Errorf("share: free %d bytes: %w", len(slab), err)
	}
	m.blocks = slices.Delete(m.blocks, i, i+1)
	m.bytes -= len(b.bytes)
	return m.forget(b)
}

// forget closes a block's file. Who has mapped it keeps its memory.
func (m *Memory) forget(b *block) error {
	if b.known {
		m.gone = append(m.gone, b.id)
	}
	return b.file.Close()
}

// find is the block that holds the bytes, of which there are some, and where in it they
// are. It is nil if there is none.
func (m *Memory) find(bytes []byte) (b *block, offset int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := uintptr(unsafe.Pointer(unsafe.SliceData(bytes)))
	for _, b = range m.blocks {
		base := uintptr(unsafe.Pointer(unsafe.SliceData(b.bytes)))
		if at >= base && at-base < uintptr(len(b.bytes)) {
			return b, int(at - base)
		}
	}
	return nil, 0
}

// show is the block's id and the name of its file, for a reader to map.
func (m *Memory) show(b *block) (id int, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b.known = true
	return b.id, fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), b.file.Fd())
}

// lose gives a block new memory. What it held stays what it is for those who have it
// mapped.
func (m *Memory) lose(b *block) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	file, err := exchange(b.bytes)
	if err != nil {
		return fmt.Errorf("share: %d bytes: %w", len(b.bytes), err)
	}
	err = m.forget(b)
	m.last++
	b.id, b.file, b.known = m.last, file, false
	return err
}

// unannounced are the ids of freed blocks that a reader knows. They are asked for once.
func (m *Memory) unannounced() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	gone := m.gone
	m.gone = nil
	return gone
}
