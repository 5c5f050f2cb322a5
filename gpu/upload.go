package gpu

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// An upload is one loop over a Stage. Each batch goes from goroutine to goroutine:
//
//	free ─▶ submit ─copying─▶ wait ─ready─▶ loop body ─▶ free
//
// A batch takes a buffer from free and keeps it until its loop body has ended. An
// error has no buffer and ends the loop. Each channel has room for every buffer, and
// copying and ready for one error more, so that no send blocks. Only submit waits for
// a free buffer: this bounds how far uploads run ahead of the loop.
type upload struct {
	stage   *Stage
	free    chan *buffer
	copying chan item
	ready   chan item
}

// An item is a batch in its buffer, or the error that ends the loop.
type item struct {
	batch   *Batch
	buffer  *buffer
	release func() // returns the slab to the loader
	err     error
}

func (s *Stage) run(ctx context.Context, p loader.Position, until int, yield func(*Batch, error) bool) {
	ahead, cancel := context.WithCancel(ctx)
	u := &upload{
		stage:   s,
		free:    make(chan *buffer, len(s.ring)),
		copying: make(chan item, len(s.ring)+1),
		ready:   make(chan item, len(s.ring)+1),
	}
	for _, b := range s.ring {
		u.free <- b
	}
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	group.Go(func() { u.submit(ahead, s.loader.From(ahead, p, until)) })
	group.Go(u.wait)
	for {
		it, ok := <-u.ready
		if err := context.Cause(ctx); err != nil && (!ok || it.err == nil) {
			it, ok = item{err: fmt.Errorf("gpu: stage: %w", err)}, true // in the place of the next batch
		}
		if !ok || !u.deliver(it, yield) {
			return
		}
	}
}

// deliver runs the loop body and reports whether the loop goes on.
func (u *upload) deliver(it item, yield func(*Batch, error) bool) bool {
	if it.err == nil {
		defer it.batch.end()
	}
	if !yield(it.batch, it.err) || it.err != nil {
		return false
	}
	u.free <- it.buffer
	return true
}

// submit starts the upload of one batch after the other, until the loader ends or
// something fails.
func (u *upload) submit(ctx context.Context, batches iter.Seq2[*loader.Batch, error]) {
	defer close(u.copying)
	for b, err := range batches {
		it := item{err: err}
		if err == nil {
			it = u.next(ctx, b)
		}
		u.copying <- it
		if it.err != nil {
			return
		}
	}
}

// next starts the upload of a batch as soon as a buffer is free and no stream uses it
// any more. It waits here and not on the upload stream: so a copy on that stream never
// waits for the user's work, and the end of a loop can wait for every copy.
func (u *upload) next(ctx context.Context, b *loader.Batch) item {
	var err error
	select {
	case buf := <-u.free:
		if err = buf.vacate(ctx); err == nil {
			return u.start(b, buf)
		}
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	return item{err: fmt.Errorf("gpu: upload batch %d of epoch %d: %w", b.Number(), b.Epoch(), err)}
}

// start starts the upload of one batch.
func (u *upload) start(b *loader.Batch, buf *buffer) item {
	s := u.stage
	staged := newBatch(s, b, buf)
	tensors := make([]dataset.Tensor, len(s.fields))
	for i, f := range s.fields {
		tensors[i] = b.Tensor(f.Name)
		staged.describe(i, tensors[i])
		if f.Ragged {
			staged.columns[i].Offsets = slices.Clone(b.Offsets(f.Name))
		}
	}
	it := item{batch: staged, buffer: buf, release: b.Keep()}
	if !buf.holds(tensors) {
		if err := s.device.waits.do(func() error { return s.reserve(buf, tensors) }); err != nil {
			return u.failed(it, err)
		}
	}
	if err := s.device.calls.do(func() error { return u.enqueue(buf, tensors) }); err != nil {
		return u.failed(it, err)
	}
	for i := range tensors {
		if staged.columns[i].Bytes > 0 {
			staged.columns[i].Pointer = buf.columns[i].base
		}
	}
	return it
}

// failed returns the error for an upload that could not be started or completed. The
// loader gets the slab back when no copy can read it; settle decides when that is.
func (u *upload) failed(it item, err error) item {
	u.stage.strand(it.release)
	err = join(err, u.stage.settle(context.Background()))
	return item{err: fmt.Errorf("gpu: upload batch %d of epoch %d: %w", it.batch.number, it.batch.epoch, err)}
}

// enqueue puts the copies of a batch on the stream.
func (u *upload) enqueue(buf *buffer, tensors []dataset.Tensor) error {
	for i, t := range tensors {
		if err := buf.upload(i, t); err != nil {
			return fmt.Errorf("field %s: %w", u.stage.fields[i].Name, err)
		}
	}
	return u.stage.device.lib.call(cuEventRecord, buf.copied, u.stage.stream)
}

// wait waits for the uploads in order. It returns each slab to the loader and passes
// the batch on. Its operating system thread ends with it, because a context is bound
// to it.
func (u *upload) wait() {
	defer close(u.ready)
	runtime.LockOSThread()
	bound := u.stage.device.bind()
	for it := range u.copying {
		if it.err == nil {
			it = u.finish(it, bound)
		}
		u.ready <- it
	}
}

// finish waits for the upload of an item. bound is the error of binding the context
// to the thread, if there was one.
func (u *upload) finish(it item, bound error) item {
	err := bound
	if err == nil {
		err = u.stage.device.lib.call(cuEventSynchronize, it.buffer.copied)
	}
	if err != nil {
		return u.failed(it, err)
	}
	it.release()
	return it
}

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
