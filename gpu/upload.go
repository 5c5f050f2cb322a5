package gpu

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/loader"
)

// An upload is one loop over a Stage. A batch goes from goroutine to goroutine:
//
//	free ─▶ submit ─copying─▶ wait ─ready─▶ loop body ─▶ free
//
// Each channel has room for every buffer, and where errors pass for the one that
// ends the loop, so that no send blocks. Only submit waits for a buffer to be free:
// this is what keeps the upload from running away.
type upload struct {
	stage   *Stage
	free    chan *buffer
	copying chan item
	ready   chan item
}

// An item is a batch on its way, or the error that ends the loop.
type item struct {
	batch   *Batch
	release func() // of the slab
	err     error
}

func (s *Stage) run(ctx context.Context, p loader.Position, yield func(*Batch, error) bool) {
	ctx, cancel := context.WithCancel(ctx)
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
	group.Go(func() { u.submit(ctx, s.loader.From(ctx, p)) })
	group.Go(u.wait)
	for {
		it, ok := s.counts.receive(u.ready)
		if !ok || !u.deliver(it, yield) {
			return
		}
	}
}

// deliver runs the loop body and reports whether the loop goes on.
func (u *upload) deliver(it item, yield func(*Batch, error) bool) bool {
	if it.err != nil {
		yield(nil, it.err)
		return false
	}
	defer it.batch.end()
	if !yield(it.batch, nil) {
		return false
	}
	u.free <- it.batch.buffer
	return true
}

// submit starts the upload of every batch for which there is a buffer.
func (u *upload) submit(ctx context.Context, batches iter.Seq2[*loader.Batch, error]) {
	defer close(u.copying)
	for b, err := range batches {
		if err != nil {
			u.copying <- item{err: err}
			return
		}
		select {
		case buf := <-u.free:
			it := u.start(b, buf)
			u.copying <- it
			if it.err != nil {
				return
			}
		case <-ctx.Done():
			u.copying <- item{err: fmt.Errorf("gpu: upload %v: %w", b, context.Cause(ctx))}
			return
		}
	}
}

// start starts the upload of one batch.
func (u *upload) start(b *loader.Batch, buf *buffer) item {
	s := u.stage
	staged := newBatch(s, b, buf)
	tensors := make([]*tensor.Dense, len(s.spec))
	for i, f := range s.spec {
		t, err := hostTensor(b, f.Name)
		if err != nil {
			return item{err: err}
		}
		tensors[i] = t
		staged.describe(i, t)
		if f.Ragged {
			staged.columns[i].Offsets = slices.Clone(b.Offsets(f.Name))
		}
	}
	release := b.Keep()
	if err := s.device.do(func() error { return u.enqueue(b, buf, tensors) }); err != nil {
		release()
		return item{err: err}
	}
	for i := range tensors {
		if staged.columns[i].Bytes > 0 {
			staged.columns[i].Pointer = buf.columns[i].base
		}
	}
	return item{batch: staged, release: release}
}

// enqueue puts the copies of a batch on the stream. When it fails, no copy runs
// any more.
func (u *upload) enqueue(b *loader.Batch, buf *buffer, tensors []*tensor.Dense) (err error) {
	lib, stream, field := u.stage.device.lib, u.stage.stream, ""
	defer func() {
		if err != nil {
			u.settle()
			err = fmt.Errorf("gpu: upload batch %d of epoch %d%s: %w", b.Number(), b.Epoch(), field, err)
		}
	}()
	if buf.pending {
		if err := lib.call(cuStreamWaitEvent, stream, buf.used, 0); err != nil {
			return err
		}
	}
	for i, t := range tensors {
		field = ", field " + u.stage.spec[i].Name
		if err := buf.upload(i, t, stream); err != nil {
			return err
		}
		u.stage.counts.add(int64(t.MemSize()))
	}
	buf.pending, field = false, ""
	return lib.call(cuEventRecord, buf.copied, stream)
}

// settle waits for all copies. Where even that fails the context is lost, and
// with it the copies.
func (u *upload) settle() {
	u.stage.device.lib.call(cuStreamSynchronize, u.stage.stream)
}

// wait hands batches on whose upload has ended, in order, and gives their slabs
// back to the loader.
func (u *upload) wait() {
	defer close(u.ready)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	d := u.stage.device
	bound := d.bind()
	defer d.unbind() // the thread goes back to Go; who needs a context there binds it
	for it := range u.copying {
		if it.err == nil {
			it = u.finish(it, bound)
		}
		u.ready <- it
	}
}

func (u *upload) finish(it item, bound error) item {
	err := bound
	if err == nil {
		err = u.stage.device.lib.call(cuEventSynchronize, it.batch.buffer.copied)
	}
	if err != nil {
		u.stage.device.do(func() error { u.settle(); return nil })
		err = fmt.Errorf("gpu: upload batch %d of epoch %d: %w", it.batch.number, it.batch.epoch, err)
	}
	it.release()
	return item{batch: it.batch, err: err}
}

// hostTensor is a field of a batch. The batch panics where it has none of the
// name, which only its loader's dataset decides.
func hostTensor(b *loader.Batch, field string) (t *tensor.Dense, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("gpu: upload field %q: %v", field, p)
		}
	}()
	return b.Tensor(field), nil
}
