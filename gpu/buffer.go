package gpu

import (
	"context"
	"unsafe"

	"github.com/penstock-go/penstock/dataset"
)

// A buffer is the device memory of one batch, column by column. All its methods other
// than vacate run on one of the device's threads, and only while no stream uses the
// buffer.
type buffer struct {
	stage   *Stage
	columns []memory
	copied  uintptr // event: the upload is complete
	used    uintptr // event: the stream that [Batch.UsedBy] named no longer needs the batch
	pending bool    // used was recorded since the last upload
}

// A memory is a piece of device memory.
type memory struct {
	base uintptr
	size int
}

func (b *buffer) open() error {
	lib := b.stage.device.lib
	if err := lib.call(cuEventCreate, uintptr(unsafe.Pointer(&b.copied)), eventFlags); err != nil {
		return err
	}
	return lib.call(cuEventCreate, uintptr(unsafe.Pointer(&b.used)), eventFlags)
}

// close destroys both events, even if the first one fails. Another call tries the
// failed ones again.
func (b *buffer) close() error {
	return join(b.stage.device.destroy(cuEventDestroy, &b.copied), b.stage.device.destroy(cuEventDestroy, &b.used))
}

// vacate waits until no stream needs the last batch in the buffer.
func (b *buffer) vacate(ctx context.Context) error {
	if !b.pending {
		return nil
	}
	if err := b.stage.device.await(ctx, b.used); err != nil {
		return err
	}
	b.pending = false
	return nil
}

// holds reports whether the buffer has room for a batch.
func (b *buffer) holds(tensors []dataset.Tensor) bool {
	for i, t := range tensors {
		if len(t.Bytes()) > b.columns[i].size {
			return false
		}
	}
	return true
}

// reserve makes column i hold at least n bytes. Its old memory stays until the stage is
// closed, because to free it the driver may wait for other streams.
func (b *buffer) reserve(i, n int) error {
	m := &b.columns[i]
	if n <= m.size {
		return nil
	}
	s := b.stage
	if m.size > 0 {
		s.outgrown = append(s.outgrown, *m)
		if s.fields[i].Ragged {
			n = max(n, 2*m.size) // it will grow again
		}
		*m = memory{}
	}
	var base uintptr
	err := s.device.lib.call(cuMemAlloc, uintptr(unsafe.Pointer(&base)), uintptr(n))
	if err == nil {
		*m = memory{base, n}
	}
	return err
}

// free frees device memory. The driver may wait for all streams of the context.
func (d *Device) free(m *memory) error {
	if m.size == 0 {
		return nil
	}
	err := d.lib.call(cuMemFree, m.base)
	if gone(err) {
		*m = memory{}
	}
	return err
}

// upload enqueues the copy of column i. The source must not change until the stream
// has completed the copy.
func (b *buffer) upload(i int, t dataset.Tensor) error {
	from := t.Bytes()
	if len(from) == 0 {
		return nil
	}
	return b.stage.device.lib.call(cuMemcpyHtoDAsync, b.columns[i].base, uintptr(unsafe.Pointer(&from[0])), uintptr(len(from)), b.stage.stream)
}
