package gpu

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"
	"unsafe"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// A Stage uploads a loader's batches to one device, on a stream of its own, into
// a ring of device buffers. While the loop body uses a batch, the next ones are
// copied. With several devices each has a loader and a Stage.
//
// One loop at a time may run over a Stage. The loader's memory should be a
// [Pinned]; from other memory the driver uploads too, but by way of a buffer of
// its own and without overlap.
type Stage struct {
	device *Device
	loader *loader.Loader
	fields dataset.Spec // those that are uploaded
	stream uintptr      // for uploads
	back   uintptr      // for downloads
	pool   uintptr      // of device memory, 0 where the device has none
	ring   []*buffer
	counts counts
	meter  meter

	reserved bool     // the ring has room for the first batch
	outgrown []memory // to be freed at the end

	mu       sync.Mutex
	busy     string // what goes on that lets nothing else begin
	retired  bool   // Close was called
	closed   bool
	stranded []func() // release slabs that a copy may still read
}

// NewStage makes a stage. Device memory, for all its buffers, is taken when the first
// batch shows how much is needed, and more only when a batch of ragged fields is larger
// than those before. Close gives it back.
//
// Drivers of CUDA 11.2 and later, for devices with memory pools, do that in the order
// of the stage's stream. Others may wait for everything that streams of the context
// have been given: a first batch, or a larger one, comes only then.
func NewStage(d *Device, l *loader.Loader, options ...StageOption) (*Stage, error) {
	cfg, err := newStageConfig(options, l.Spec())
	if err != nil {
		return nil, err
	}
	s := &Stage{device: d, loader: l, fields: cfg.spec, ring: make([]*buffer, cfg.buffers), meter: meter{now: time.Now}}
	if err := d.enter(); err != nil {
		return nil, fmt.Errorf("gpu: stage on %v: %w", d, err)
	}
	for i := range s.ring {
		s.ring[i] = &buffer{stage: s, columns: make([]memory, len(s.fields))}
	}
	if err := d.calls.do(s.open); err != nil {
		return nil, errors.Join(fmt.Errorf("gpu: stage on %v: %w", d, err), d.discard(s))
	}
	return s, nil
}

// open makes the streams and the events. It runs on the device's thread.
func (s *Stage) open() error {
	for _, stream := range []*uintptr{&s.stream, &s.back} {
		if err := s.device.lib.call(cuStreamCreate, uintptr(unsafe.Pointer(stream)), streamNonBlocking); err != nil {
			return err
		}
	}
	if err := s.openPool(); err != nil {
		return err
	}
	for _, b := range s.ring {
		if err := b.open(); err != nil {
			return err
		}
	}
	return nil
}

// Epoch loops over the uploaded batches of one epoch; see [loader.Loader.Epoch].
//
// A batch belongs to the loop body: afterwards its device memory is overwritten,
// at once, or where [Batch.UsedBy] was called as soon as that stream has passed
// the call. Errors come in the place of their batch: the upload's end the loop,
// the loader's do as the loader says. A context that is done ends it with an error
// in the place of the next batch. However it ends, every goroutine of it has ended
// then, every copy is done and every slab is back with the loader. That takes no
// longer than the copies, and the calls of the driver, under way: no end of a loop
// waits for a stream that [Batch.UsedBy] named.
func (s *Stage) Epoch(ctx context.Context, epoch int) iter.Seq2[*Batch, error] {
	return s.Epochs(ctx, epoch, epoch+1)
}

// Epochs loops over the epochs from up to, but not including, to, without a gap.
func (s *Stage) Epochs(ctx context.Context, from, to int) iter.Seq2[*Batch, error] {
	return s.From(ctx, s.loader.Position(from), to)
}

// From loops over what comes after a position, up to, but not including, epoch
// until; see [loader.Loader.From].
func (s *Stage) From(ctx context.Context, p loader.Position, until int) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		if err := s.enter(); err != nil {
			yield(nil, err)
			return
		}
		defer s.leave()
		if err := s.settle(ctx); err != nil {
			yield(nil, fmt.Errorf("gpu: stage: %w", err))
			return
		}
		s.run(ctx, p, until, yield)
	}
}

// reserve makes room for a batch in a buffer, and with the first batch in all of them,
// so that loops over fields that are not ragged take no memory later. It runs on the
// thread for calls that wait.
func (s *Stage) reserve(buf *buffer, tensors []*tensor.Dense) error {
	buffers := []*buffer{buf}
	if !s.reserved {
		buffers = s.ring
	}
	for _, b := range buffers {
		for i, t := range tensors {
			if err := b.reserve(i, int(t.MemSize())); err != nil {
				return fmt.Errorf("field %s: %w", s.fields[i].Name, err)
			}
		}
	}
	s.reserved = true
	return nil
}

func (s *Stage) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.retired:
		return fmt.Errorf("gpu: stage: %w", ErrClosed)
	case s.busy != "":
		return fmt.Errorf("gpu: stage: %s", s.busy)
	}
	s.busy = "a loop runs over it already"
	return nil
}

func (s *Stage) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = ""
}

// strand keeps a slab from the loader until settle knows that no copy reads it.
func (s *Stage) strand(release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stranded = append(s.stranded, release)
}

// settle waits for all copies, where one has failed since it last did, and then
// gives stranded slabs back. A context that is lost copies no more.
func (s *Stage) settle(ctx context.Context) error {
	s.mu.Lock()
	stranded := s.stranded
	s.stranded = nil
	s.mu.Unlock()
	if len(stranded) == 0 {
		return nil
	}
	err := s.device.waits.try(ctx, func() error { return s.device.lib.call(cuStreamSynchronize, s.stream) })
	for _, release := range stranded {
		if gone(err) {
			release()
		} else {
			s.strand(release)
		}
	}
	return err
}
