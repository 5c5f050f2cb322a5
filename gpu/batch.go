package gpu

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// A Batch is a batch of samples in device memory. It belongs to the loop body that
// received it. After the loop body, Column, UsedBy and Download panic.
type Batch struct {
	stage    *Stage
	buffer   *buffer
	columns  []Column
	rows     int
	epoch    int
	number   int
	position func() loader.Position
	indices  []int
	ended    bool
}

// A Column is one field of a batch on the device.
type Column struct {
	Name    string
	Pointer uintptr // the device address, aligned to 256 bytes; 0 if Bytes is 0
	Bytes   int     // the size in device memory
	Dtype   dataset.Dtype
	// Shape is (Len, the field's shape…), and for a ragged field (number of elements
	// of all samples, the field's shape…).
	Shape   dataset.Shape
	Offsets []int // the same as [loader.Batch.Offsets], in host memory; nil if the field is not ragged
}

func newBatch(s *Stage, b *loader.Batch, buf *buffer) *Batch {
	return &Batch{
		stage:    s,
		buffer:   buf,
		columns:  make([]Column, len(s.fields)),
		rows:     b.Len(),
		epoch:    b.Epoch(),
		number:   b.Number(),
		position: b.Position,
		indices:  slices.Clone(b.Indices()),
	}
}

func (b *Batch) describe(i int, t dataset.Tensor) {
	b.columns[i] = Column{
		Name:  b.stage.fields[i].Name,
		Bytes: len(t.Bytes()),
		Dtype: t.Dtype(),
		Shape: t.Shape(),
	}
}

func (b *Batch) end() { b.ended = true }

// Len is the number of samples in the batch.
func (b *Batch) Len() int { return b.rows }

// Epoch is the epoch that the batch belongs to.
func (b *Batch) Epoch() int { return b.epoch }

// Number is the batch's place in its epoch, from 0.
func (b *Batch) Number() int { return b.number }

// Position is the position after the batch, from which [Stage.From] continues.
// Batches that were uploaded but not delivered come after it.
func (b *Batch) Position() loader.Position { return b.position() }

// Indices returns the index in the dataset of every row. The slice stays valid after
// the loop body.
func (b *Batch) Indices() []int { return b.indices }

// Column returns a field in device memory. Its upload is complete. Column panics
// after the loop body, and if the stage does not upload a field of that name.
func (b *Batch) Column(field string) Column { return b.columns[b.field(field)] }

// UsedBy tells the stage that the work enqueued on a stream so far reads the batch.
// The stream is a CUstream of the device's context. The batch's memory is then not
// overwritten until that work is done, even after the loop body. Without UsedBy, or
// if UsedBy returns an error, the loop body itself must wait for its work. Each call
// replaces the one before: if several streams use the batch, let one of them wait for
// the others and pass that one.
//
// 0 is the legacy default stream. CU_STREAM_PER_THREAD, the default stream of the
// calling thread, is an error, because the package's own thread makes the call. For
// such work, use a stream that was created, or wait for the work in the loop body.
func (b *Batch) UsedBy(stream uintptr) error {
	b.check()
	if stream == streamPerThread {
		return fmt.Errorf("gpu: batch %d of epoch %d: UsedBy(%d): this is the default stream of the calling thread (CU_STREAM_PER_THREAD): "+
			"want a stream that was created, or 0 for the legacy default stream", b.number, b.epoch, stream)
	}
	d := b.stage.device
	err := d.calls.do(func() error { return d.lib.call(cuEventRecord, b.buffer.used, stream) })
	var failed *DriverError
	if errors.As(err, &failed) && failed.Code == invalidHandle {
		err = fmt.Errorf("is the stream of the device's context? %w", err)
	}
	if err != nil {
		return fmt.Errorf("gpu: batch %d of epoch %d: UsedBy(%#x): %w", b.number, b.epoch, stream, err)
	}
	b.buffer.pending = true
	return nil
}

// Download copies a field from the device to dst, for inspection. It copies the first
// len(dst) bytes of the column, or all of them if the column is shorter, and returns
// how many it has copied. It waits only for its own stream: if the caller's kernels
// change the batch, wait for them first.
func (b *Batch) Download(dst []byte, field string) (int, error) {
	c := b.Column(field)
	n := min(len(dst), c.Bytes)
	if n == 0 {
		return 0, nil
	}
	s, lib := b.stage, b.stage.device.lib
	err := s.device.waits.do(func() error {
		if err := lib.call(cuMemcpyDtoHAsync, uintptr(unsafe.Pointer(&dst[0])), c.Pointer, uintptr(n), s.back); err != nil {
			return err
		}
		return lib.call(cuStreamSynchronize, s.back)
	})
	runtime.KeepAlive(dst)
	if err != nil {
		return 0, fmt.Errorf("gpu: download field %s: %w", field, err)
	}
	return n, nil
}

func (b *Batch) check() {
	if b.ended {
		panic(fmt.Sprintf("gpu: batch %d of epoch %d is used after its loop body", b.number, b.epoch))
	}
}

func (b *Batch) field(name string) int {
	b.check()
	i := b.stage.fields.Index(name)
	if i < 0 {
		panic(fmt.Sprintf("gpu: batch has no field %q, only %v", name, b.stage.fields))
	}
	return i
}
