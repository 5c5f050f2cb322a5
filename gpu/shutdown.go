package gpu

import (
	"context"
	"fmt"
)

// Close waits until no stream uses the device memory any more and gives it back.
// It refuses while a loop runs. Where a stream that [Batch.UsedBy] named never
// finishes, Close never returns; [Stage.Shutdown] does. Close may be called again:
// after an error it tries what has failed once more. After [ErrLost] the stage is
// closed.
func (s *Stage) Close() error { return s.Shutdown(context.Background()) }

// Shutdown is Close with an end: when ctx is done before the streams are, it
// returns the context's error and leaves all device memory as it is, because the
// streams may read it. It may be called again, and so may Close; loops get
// [ErrClosed] from the first call on.
//
// Giving memory back may itself wait for all streams of the context, on a device
// without memory pools; when ctx is done before that has ended, it goes on without
// its caller.
func (s *Stage) Shutdown(ctx context.Context) error {
	if done, err := s.retire(); done || err != nil {
		return err
	}
	err := s.vacate(ctx)
	if err == nil {
		err = s.device.waits.try(ctx, s.free)
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

// retire lets no loop begin any more, and says whether there is nothing left to do.
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

// vacate waits until neither copies nor other streams use the device memory. None
// does in a context that is lost.
func (s *Stage) vacate(ctx context.Context) error {
	if err := s.settle(ctx); !gone(err) {
		return err
	}
	for _, b := range s.ring {
		if err := b.vacate(ctx); !gone(err) {
			return err
		}
	}
	return nil
}

// free gives everything back, even when some of it fails. It runs on the thread for
// calls that wait, which may do so after Shutdown has returned.
func (s *Stage) free() error {
	held := s.freeMemory()
	errs := []error{held}
	for _, b := range s.ring {
		errs = append(errs, b.close())
	}
	errs = append(errs, s.device.destroy(cuStreamDestroy, &s.back))
	if gone(held) { // else the next call needs them
		errs = append(errs, s.device.destroy(cuMemPoolDestroy, &s.pool), s.device.destroy(cuStreamDestroy, &s.stream))
	}
	return join(errs...)
}

// freeMemory frees all device memory, and waits until that has happened.
func (s *Stage) freeMemory() error {
	var errs []error
	for _, b := range s.ring {
		for i := range b.columns {
			errs = append(errs, s.give(&b.columns[i]))
		}
	}
	for i := range s.outgrown {
		errs = append(errs, s.give(&s.outgrown[i]))
	}
	if s.pool != 0 {
		errs = append(errs, s.device.lib.call(cuStreamSynchronize, s.stream))
	}
	return join(errs...)
}
