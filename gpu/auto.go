package gpu

import (
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/loader"
)

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
