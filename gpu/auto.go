package gpu

import (
	"errors"
	"fmt"
	"io"

	"github.com/penstock-go/penstock/loader"
)

// A Memory is what [Auto] returns: a [loader.Allocator] of page-locked memory or of Go's
// heap memory. Close it after the loaders that use it. Its String says which of the two
// it is.
type Memory interface {
	loader.Allocator
	io.Closer
	fmt.Stringer
}

// Auto returns page-locked memory if there is a CUDA device, and Go's heap memory if
// there is none ([ErrNoDevice]). The memory's String says which of the two it is, and
// why. Its Close also closes the device that Auto opened. Auto returns every other
// error of [Open]: it does not treat a broken driver as a missing device.
//
// The memory keeps the device's primary context, which takes some hundred MB on the
// device. Package cuda's VM has a context of its own: with it, use page-locked memory
// of the device that its method Device returns.
func Auto(options ...Option) (Memory, error) {
	d, err := Open(options...)
	if errors.Is(err, ErrNoDevice) {
		return heap{why: err}, nil
	}
	if err != nil {
		return nil, err
	}
	p, err := d.Pinned()
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return owner{p}, nil
}

// heap is the memory if there is no device.
type heap struct {
	loader.Heap
	why error
}

func (heap) Close() error { return nil }

func (h heap) String() string { return fmt.Sprintf("Go's memory: %v", h.why) }

// owner is page-locked memory that owns its device.
type owner struct{ *Pinned }

func (o owner) Close() error {
	if err := o.Pinned.Close(); err != nil {
		return err
	}
	return o.device.Close()
}
