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

// reserve makes column i hold at least n bytes. If freeing its old memory could wait
// for other streams, the old memory stays until the stage is closed.
func (b *buffer) reserve(i, n int) error {
	m := &b.columns[i]
	if n <= m.size {
		return nil
	}
	s, size := b.stage, n
	if m.size > 0 && s.fields[i].Ragged {
		size += n / 4 // a ragged column that grows will grow again
	}
	switch {
	case m.size == 0:
	case s.pool == 0:
		s.outgrown = append(s.outgrown, *m)
		*m = memory{}
	default:
		if err := s.give(m); err != nil {
			return err
		}
	}
	base, err := s.take(size)
	if err == nil {
		*m = memory{base, size}
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
