package gpu

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"unsafe"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/machine"
	"github.com/penstock-go/penstock/loader"
)

// Pinned is a [loader.Allocator] of page-locked memory. A device reads such memory by
// direct memory access: the processor copies nothing and can do other work meanwhile.
// The memory is page-locked for every device and context of the process.
type Pinned struct {
	device *Device
	root   fs.FS // the system's /, whose files say how much is available

	mu     sync.Mutex
	slabs  map[*byte]*block // by address
	bytes  int64            // of all slabs, and of those being allocated
	taking int              // calls of Alloc under way
	closed bool
}

// A block is an allocated slab.
type block struct {
	bytes   int
	given   bool // its user has freed it; if it is still here, the driver has not
	freeing bool // a call to free it is under way
}

var _ loader.Allocator = (*Pinned)(nil)

// Pinned makes an allocator of page-locked memory. It fails with [ErrClosed] if the
// device is closed.
func (d *Device) Pinned() (*Pinned, error) {
	if err := d.enter(); err != nil {
		return nil, fmt.Errorf("gpu: page-locked memory of %v: %w", d, err)
	}
	return &Pinned{device: d, root: os.DirFS("/"), slabs: map[*byte]*block{}}, nil
}

// Alloc returns n bytes, aligned to a page. Their content is undefined. Alloc first
// checks that there is room, because the driver does not, and page-locked memory is never
// swapped out: in the memory that the system and the process's control group (the limit of
// a container) have available. The error names these amounts.
func (p *Pinned) Alloc(n int) ([]byte, error) {
	if n < 0 {
		return nil, fmt.Errorf("gpu: page-locked memory: %d bytes: want 0 or more", n)
	}
	if n == 0 {
		return nil, nil
	}
	if err := p.reserve(int64(n)); err != nil {
		return nil, err
	}
	var base *byte
	err := p.device.waits.do(func() error {
		err := p.device.lib.call(cuMemHostAlloc, uintptr(unsafe.Pointer(&base)), uintptr(n), hostAllocPortable)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.taking--
		if err != nil {
			p.bytes -= int64(n)
			return err
		}
		p.slabs[base] = &block{bytes: n}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("gpu: %d bytes of page-locked memory: %w", n, err)
	}
	return unsafe.Slice(base, n), nil
}

// reserve counts n more bytes if there is room for them.
func (p *Pinned) reserve(n int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return fmt.Errorf("gpu: page-locked memory: %w", ErrClosed)
	}
	if err := p.check(n); err != nil {
		return err
	}
	p.bytes += n
	p.taking++
	return nil
}

// check returns an error if there is no room for n more bytes.
func (p *Pinned) check(n int64) error {
	if room, known := machine.Available(p.root); known && n > room.Bytes {
		return fmt.Errorf("gpu: %d bytes of page-locked memory: %d are taken, %d are available: %s", n, p.bytes, room.Bytes, room.By)
	}
	return nil
}

// Free frees memory that Alloc returned. For other memory, and for memory that is
// freed already, it returns an error and does nothing. If the driver refuses to free
// the memory, it still counts as taken, and Close tries again. After [ErrLost] it no
// longer counts.
func (p *Pinned) Free(slab []byte) error {
	if cap(slab) == 0 {
		return nil
	}
	base := unsafe.SliceData(slab)
	p.mu.Lock()
	b, ok := p.slabs[base]
	if ok = ok && !b.freeing; ok {
		b.given, b.freeing = true, true
	}
	p.mu.Unlock()
	if !ok {
		return fmt.Errorf("gpu: free %d bytes: this allocator did not return them, or they are freed already", len(slab))
	}
	if err := p.free(base, b); err != nil {
		return fmt.Errorf("gpu: free %d bytes of page-locked memory: %w", b.bytes, err)
	}
	return nil
}

// free frees a block. The caller has set its field freeing. The device's thread makes the
// call and forgets the address before it does anything else, because the driver may give
// the same address to the next call of Alloc.
func (p *Pinned) free(base *byte, b *block) error {
	return p.device.waits.do(func() error {
		err := p.device.lib.call(cuMemFreeHost, uintptr(unsafe.Pointer(base)))
		p.mu.Lock()
		defer p.mu.Unlock()
		b.freeing = false
		if gone(err) {
			delete(p.slabs, base)
			p.bytes -= int64(b.bytes)
		}
		return err
	})
}

// Bytes is the number of bytes of page-locked memory that are taken.
func (p *Pinned) Bytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes
}

// Close closes the allocator. It is an error while any of its memory is in use: close
// the loader first, and release the batches that were kept. Close may be called
// again: after an error it frees what the driver refused to free before.
func (p *Pinned) Close() error {
	if err := p.retry(); err != nil {
		return fmt.Errorf("gpu: close page-locked memory: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	if len(p.slabs) > 0 || p.taking > 0 {
		return fmt.Errorf("gpu: close page-locked memory: %s in use, %d bytes in all", figures.Count(len(p.slabs)+p.taking, "slab", "slabs"), p.bytes)
	}
	p.closed = true
	p.device.leave()
	return nil
}

// retry frees the blocks that the driver refused to free before.
func (p *Pinned) retry() error {
	p.mu.Lock()
	again := map[*byte]*block{}
	for base, b := range p.slabs {
		if b.given && !b.freeing {
			b.freeing = true
			again[base] = b
		}
	}
	p.mu.Unlock()
	var errs []error
	for base, b := range again {
		if err := p.free(base, b); !gone(err) {
			errs = append(errs, fmt.Errorf("free %d bytes: %w", b.bytes, err))
		}
	}
	return join(errs...)
}

// String returns a text such as "page-locked memory of NVIDIA H200 (device 0, CUDA 12.4)".
func (p *Pinned) String() string { return "page-locked memory of " + p.device.String() }

// Auto returns page-locked memory if there is a CUDA device, and Go's heap memory if
// there is none ([ErrNoDevice]). Printed, the memory says which of the two it is, and
// why. Call free after the loaders that use it: it closes the memory and the device that
// Auto opened. Auto returns every other error of [Open]: it does not treat a broken
// driver as a missing device.
//
// The memory keeps the device's primary context, which takes some hundred MB on the
// device. Package cuda's VM has a context of its own: with it, use page-locked memory
// of the device that its method Device returns.
func Auto(options ...Option) (memory loader.Allocator, free func() error, err error) {
	d, err := Open(options...)
	if errors.Is(err, ErrNoDevice) {
		return heap{why: err}, func() error { return nil }, nil
	}
	if err != nil {
		return nil, nil, err
	}
	p, err := d.Pinned()
	if err != nil {
		return nil, nil, errors.Join(err, d.Close())
	}
	free = func() error {
		if err := p.Close(); err != nil {
			return err
		}
		return d.Close()
	}
	return p, free, nil
}

// heap is the memory if there is no device.
type heap struct {
	loader.Heap
	why error
}

func (h heap) String() string { return fmt.Sprintf("Go's memory: %v", h.why) }
