package gpu

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/loader"
)

// A Batch is some samples on a device. It belongs to the loop body that got it;
// afterwards its methods that reach for device memory panic.
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
	Pointer uintptr // on the device, aligned to 256 bytes; 0 where there are no bytes
	Bytes   int
	Dtype   tensor.Dtype
	Shape   tensor.Shape // (Len, the field's…), of a ragged field (all samples' elements, the field's…)
	Offsets []int        // of a ragged field, as [loader.Batch.Offsets]; in host memory
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

func (b *Batch) describe(i int, t *tensor.Dense) {
	b.columns[i] = Column{
		Name:  b.stage.fields[i].Name,
		Bytes: int(t.MemSize()),
		Dtype: t.Dtype(),
		Shape: t.Shape().Clone(),
	}
}

func (b *Batch) end() { b.ended = true }

// Len is the number of samples.
func (b *Batch) Len() int { return b.rows }

// Epoch is the epoch that the batch belongs to.
func (b *Batch) Epoch() int { return b.epoch }

// Number is the batch's place in its epoch, from 0.
func (b *Batch) Number() int { return b.number }

// Position is the place after the batch, from which [Stage.From] goes on.
// Batches that are uploaded but not delivered come after it.
func (b *Batch) Position() loader.Position { return b.position() }

// Indices are the samples in the dataset, row by row. They stay valid.
func (b *Batch) Indices() []int { return b.indices }

// Column is a field on the device. Its upload has ended. It panics if the stage
// uploads no field of the name, or after the loop body.
func (b *Batch) Column(field string) Column { return b.columns[b.field(field)] }

// UsedBy says that the work which a stream (a CUstream of the device's
// context) has been given up to now reads the batch: until that work is done the
// memory is not overwritten, although the loop body has ended. Without it the
// body itself waits for its work, and so it does after an error. The last call
// counts, so a batch that several streams use is told of the one that joins them.
//
// 0 is the legacy default stream. CU_STREAM_PER_THREAD, the default stream of the
// calling thread, is refused: here it would be that of another thread. Give such work
// to a stream that was created, or wait for it.
func (b *Batch) UsedBy(stream uintptr) error {
	b.check()
	if stream == streamPerThread {
		return fmt.Errorf("gpu: batch %d of epoch %d: UsedBy(%d): that is each thread's own default stream (CU_STREAM_PER_THREAD): "+
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

// Download copies a field back from the device, to look at it: as many bytes as
// dst holds, or the column if that has fewer. It returns their number. It waits for no
// stream but its own: whoever has changed the batch on the device waits for that first.
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
