package gpu

import (
	"context"
	"errors"
	"unsafe"

	"gorgonia.org/tensor"
)

// A buffer is the device memory of one batch, column by column. But for vacate,
// its methods run on the device's thread, and only while no stream uses it.
type buffer struct {
	device  *Device
	columns []memory
	copied  uintptr // event: the upload has ended
	used    uintptr // event: the batch is not needed any more
	pending bool    // used was recorded since the last upload
}

// A memory is a piece of device memory.
type memory struct {
	base uintptr
	size int
}

func (b *buffer) open() error {
	if err := b.device.lib.call(cuEventCreate, uintptr(unsafe.Pointer(&b.copied)), eventFlags); err != nil {
		return err
	}
	return b.device.lib.call(cuEventCreate, uintptr(unsafe.Pointer(&b.used)), eventFlags)
}

// close frees everything, even when some of it fails. Called again, it tries what
// has failed once more.
func (b *buffer) close() error {
	var errs []error
	for i := range b.columns {
		errs = append(errs, b.free(&b.columns[i]))
	}
	for _, event := range []*uintptr{&b.copied, &b.used} {
		if *event == 0 {
			continue
		}
		err := b.device.lib.call(cuEventDestroy, *event)
		if err == nil {
			*event = 0
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// vacate waits until the last batch is not needed any more.
func (b *buffer) vacate(ctx context.Context) error {
	if !b.pending {
		return nil
	}
	if err := b.device.await(ctx, b.used); err != nil {
		return err
	}
	b.pending = false
	return nil
}

// reserve makes column i hold n bytes.
func (b *buffer) reserve(i, n int) error {
	m := &b.columns[i]
	if n <= m.size {
		return nil
	}
	size := n
	if m.size > 0 {
		size += n / 4 // a ragged column that grows will grow again
	}
	if err := b.free(m); err != nil {
		return err
	}
	if err := b.device.lib.call(cuMemAlloc, uintptr(unsafe.Pointer(&m.base)), uintptr(size)); err != nil {
		return err
	}
	m.size = size
	return nil
}

func (b *buffer) free(m *memory) error {
	if m.size == 0 {
		return nil
	}
	if err := b.device.lib.call(cuMemFree, m.base); err != nil {
		return err
	}
	*m = memory{}
	return nil
}

// upload starts the copy of column i. The source stays as it is until the stream
// has passed it.
func (b *buffer) upload(i int, t *tensor.Dense, stream uintptr) error {
	n := int(t.MemSize())
	if n == 0 {
		return nil
	}
	if err := b.reserve(i, n); err != nil {
		return err
	}
	return b.device.lib.call(cuMemcpyHtoDAsync, b.columns[i].base, t.Uintptr(), uintptr(n), stream)
}
