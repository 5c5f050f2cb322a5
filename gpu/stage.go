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

// A Stage uploads a loader's batches to one device, on its own stream, into a ring of
// device buffers. While the loop body uses a batch, the Stage uploads the next ones.
// With several devices, give each its own loader and Stage.
//
// Only one loop may run over a Stage at a time. The loader's memory should be a
// [Pinned]. From other memory the uploads work too, but the driver copies the data
// through a buffer of its own, and the copies do not overlap with the loop body.
type Stage struct {
	device *Device
	loader *loader.Loader
	fields dataset.Spec // the loader's
	stream uintptr      // for uploads
	back   uintptr      // for downloads
	ring   []*buffer

	reserved bool     // every buffer of the ring has room for the first batch
	outgrown []memory // freed when the stage is closed

	mu       sync.Mutex
	busy     string // the loop or the close under way, as an error names it; or empty
	retired  bool   // Close was called
	closed   bool
	stranded []func() // release slabs that a copy may still read
}

// A StageOption changes what [NewStage] makes. The zero StageOption changes nothing.
type StageOption struct{ set func(*Stage) }

const mostBuffers = 1 << 16

// Buffers sets how many batches fit into the stage's device memory, from 2 to 65536.
// The default is 2: one batch in use, one being uploaded. With more buffers, a batch
// that takes longer to load or upload delays the loop less.
func Buffers(n int) StageOption {
	return StageOption{func(s *Stage) { s.ring = make([]*buffer, max(0, min(n, mostBuffers+1))) }}
}

// NewStage makes a stage over a loader; its dataset has the fields that are uploaded, such
// as those of [dataset.Select]. The first batch shows how much device memory a buffer needs:
// the stage then allocates all its buffers. It allocates more only for a larger batch: one
// with larger ragged fields, or a full one after a first batch that was short. While it
// allocates, the driver may wait for all work of the context. Close frees the memory.
func NewStage(d *Device, l *loader.Loader, options ...StageOption) (*Stage, error) {
	s := &Stage{device: d, loader: l, fields: l.Spec(), ring: make([]*buffer, 2)}
	for _, o := range options {
		if o.set != nil {
			o.set(s)
		}
	}
	if n := len(s.ring); n < 2 || n > mostBuffers {
		return nil, fmt.Errorf("gpu: Buffers: want 2 to %d", mostBuffers)
	}
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
	for _, b := range s.ring {
		if err := b.open(); err != nil {
			return err
		}
	}
	return nil
}

// Epoch loops over the uploaded batches of one epoch; see [loader.Loader.Epoch].
//
// A batch belongs to the loop body. After the loop body its device memory is
// overwritten: at once, or, if [Batch.UsedBy] was called, when that stream has done
// the work enqueued before the call. An error, of the loader or of an upload, comes in
// the place of its batch and ends the loop. A context that is done ends the loop with
// an error in the place of the next batch.
//
// When the loop has ended, for any reason, all its goroutines have ended, all its
// copies are complete and the loader has all its slabs back. The end of a loop waits
// only for copies and driver calls under way, never for a stream that was passed to
// [Batch.UsedBy].
func (s *Stage) Epoch(ctx context.Context, epoch int) iter.Seq2[*Batch, error] {
	return s.Epochs(ctx, epoch, epoch+1)
}

// Epochs is [Stage.Epoch] for several epochs: from, from+1 and so on up to, but not
// including, to. There is no gap between them: the first batches of an epoch are uploaded
// while the last ones of the epoch before are used.
func (s *Stage) Epochs(ctx context.Context, from, to int) iter.Seq2[*Batch, error] {
	return s.From(ctx, s.loader.Position(from), to)
}

// From is [Stage.Epochs] from a position, such as that of [Batch.Position], up to,
// but not including, the epoch until; see [loader.Loader.From].
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

// reserve makes room for a batch in a buffer. With the first batch it makes room in
// all buffers, so that batches of its size need no more memory later. It runs on the
// thread for calls that wait.
func (s *Stage) reserve(buf *buffer, tensors []dataset.Tensor) error {
	buffers := []*buffer{buf}
	if !s.reserved {
		buffers = s.ring
	}
	for _, b := range buffers {
		for i, t := range tensors {
			if err := b.reserve(i, len(t.Bytes())); err != nil {
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
	s.busy = "another loop runs over it"
	return nil
}

func (s *Stage) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = ""
}

// strand keeps a slab from the loader until settle has made sure that no copy reads
// it.
func (s *Stage) strand(release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stranded = append(s.stranded, release)
}

// settle releases the stranded slabs, if there are any, after all copies are
// complete. In a lost context no copy runs any more.
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

// Close waits until no stream uses the stage's device memory, for ever if a stream that
// was passed to [Batch.UsedBy] never finishes, and frees the memory. It is an error while a
// loop runs. Close may be called again: after an error it tries the failed steps again.
// After [ErrLost] the stage counts as closed.
func (s *Stage) Close() error {
	if done, err := s.retire(); done || err != nil {
		return err
	}
	err := s.vacate()
	if err == nil {
		err = s.device.waits.do(s.free)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = ""
	if gone(err) {
		s.closed = true
		s.device.leave()
	}
	if err != nil {
		return fmt.Errorf("gpu: close stage on %v: %w", s.device, err)
	}
	return nil
}

// retire makes every new loop fail. It reports whether the stage is closed already.
func (s *Stage) retire() (done bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return true, nil
	case s.busy != "":
		return false, fmt.Errorf("gpu: close stage: %s", s.busy)
	}
	s.retired, s.busy = true, "it is being closed already"
	return false, nil
}

// vacate waits until no copy and no other stream uses the device memory. In a lost
// context none does.
func (s *Stage) vacate() error {
	if err := s.settle(context.Background()); !gone(err) {
		return err
	}
	for _, b := range s.ring {
		if err := b.vacate(context.Background()); !gone(err) {
			return err
		}
	}
	return nil
}

// free frees everything, even if some calls fail. It runs on the thread for calls
// that wait.
func (s *Stage) free() error {
	var errs []error
	for _, b := range s.ring {
		for i := range b.columns {
			errs = append(errs, s.device.free(&b.columns[i]))
		}
		errs = append(errs, b.close())
	}
	for i := range s.outgrown {
		errs = append(errs, s.device.free(&s.outgrown[i]))
	}
	return join(append(errs, s.device.destroy(cuStreamDestroy, &s.back), s.device.destroy(cuStreamDestroy, &s.stream))...)
}
