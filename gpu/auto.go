package gpu

import (
	"errors"
	"fmt"
	"io"

	"github.com/penstock-go/penstock/loader"
)

// Memory is a [loader.Allocator] that says what it is and is closed after the
// loaders that use it.
type Memory interface {
	loader.Allocator
	io.Closer
	fmt.Stringer
}

// Auto is page-locked memory where there is a CUDA device, which Close then
// closes too, and Go's own memory where there is none ([ErrNoDevice]). Its String says
// which, and why. What else may go wrong in [Open] is an error here too: a driver that
// does not work is not taken for none.
//
// The device's primary context, which it keeps, takes some hundred MB of the device's
// memory. Where package cuda's VM runs, which has a context of its own, take the
// memory of its Device instead.
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

// heap is the memory where there is no device.
type heap struct {
	loader.Heap
	why error
}

func (heap) Close() error { return nil }

func (h heap) String() string { return fmt.Sprintf("Go's memory: %v", h.why) }

// owner is page-locked memory of a device of its own.
type owner struct{ *Pinned }

func (o owner) Close() error {
	if err := o.Pinned.Close(); err != nil {
		return err
	}
	return o.device.Close()
}
