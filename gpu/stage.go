package gpu

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"unsafe"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// A Stage uploads a loader's batches to one device, on a stream of its own, into
// a ring of device buffers. While the loop body uses a batch, the next ones are
// copied. With several devices each has a loader and a Stage.
//
// One loop at a time may run over a Stage. The loader's memory should be the
// device's [Pinned]; from other memory the driver uploads too, but by way of a
// buffer of its own and without overlap.
type Stage struct {
	device *Device
	loader *loader.Loader
	spec   dataset.Spec
	stream uintptr
	ring   []*buffer
	counts counts

	mu      sync.Mutex
	running bool
	closed  bool
}

// A StageOption changes what [NewStage] makes.
type StageOption func(*Stage) error

// Buffers sets how many batches have room on the device. The default is 2: one
// in use, one being copied. More of them even out batches that take longer.
func Buffers(n int) StageOption {
	return func(s *Stage) error {
		if n < 2 || n > 1<<16 {
			return fmt.Errorf("gpu: Buffers(%d): want 2 to 65536", n)
		}
		s.ring = make([]*buffer, n)
		return nil
	}
}

// NewStage makes a stage that uploads the fields of spec: the dataset's, or some
// of them. Device memory is taken when the first batches show how much is needed.
// Close gives it back.
func NewStage(d *Device, l *loader.Loader, spec dataset.Spec, options ...StageOption) (*Stage, error) {
	s := &Stage{device: d, loader: l, spec: spec, ring: make([]*buffer, 2)}
	err := spec.Validate()
	for _, o := range options {
		err = errors.Join(err, o(s))
	}
	if err != nil {
		return nil, fmt.Errorf("gpu: stage: %w", err)
	}
	if err := d.enter(); err != nil {
		return nil, fmt.Errorf("gpu: stage on %v: %w", d, err)
	}
	for i := range s.ring {
		s.ring[i] = &buffer{device: d, columns: make([]memory, len(spec))}
	}
	if err := d.do(s.open); err != nil {
		return nil, errors.Join(fmt.Errorf("gpu: stage on %v: %w", d, err), s.Close())
	}
	return s, nil
}

// open makes the stream and the events. It runs on the device's thread.
func (s *Stage) open() error {
	if err := s.device.lib.call(cuStreamCreate, uintptr(unsafe.Pointer(&s.stream)), streamNonBlocking); err != nil {
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
// the call. Errors of the loader and of the upload come in the place of their
// batch and end the loop. However it ends, every goroutine of it has ended
// then, every copy is done and every slab is back with the loader.
func (s *Stage) Epoch(ctx context.Context, epoch int) iter.Seq2[*Batch, error] {
	return s.Epochs(ctx, epoch, epoch+1)
}

// Epochs loops over the epochs from up to, but not including, to, without a gap.
func (s *Stage) Epochs(ctx context.Context, from, to int) iter.Seq2[*Batch, error] {
	return s.From(ctx, s.loader.Position(from, to))
}

// From loops over what lies behind a position; see [loader.Loader.From].
func (s *Stage) From(ctx context.Context, p loader.Position) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		if err := s.enter(); err != nil {
			yield(nil, err)
			return
		}
		defer s.leave()
		s.run(ctx, p, yield)
	}
}

func (s *Stage) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return fmt.Errorf("gpu: stage: %w", ErrClosed)
	case s.running:
		return errors.New("gpu: stage: a loop runs over it already")
	}
	s.running = true
	return nil
}

func (s *Stage) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = false
}

// Close waits until no stream uses the device memory any more and gives it back.
// It refuses while a loop runs. Close may be called again.
func (s *Stage) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil
	case s.running:
		return errors.New("gpu: close stage: a loop runs over it")
	}
	s.closed = true
	defer s.device.leave()
	err := s.device.do(func() error {
		var errs []error
		for _, b := range s.ring {
			errs = append(errs, b.close())
		}
		if s.stream != 0 {
			errs = append(errs, s.device.lib.call(cuStreamDestroy, s.stream))
		}
		return errors.Join(errs...)
	})
	if err != nil {
		return fmt.Errorf("gpu: close stage on %v: %w", s.device, err)
	}
	return nil
}
