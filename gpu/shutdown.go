package gpu

import (
	"context"
	"errors"
	"fmt"
)

// Close waits until no stream uses the device memory any more and gives it back.
// It refuses while a loop runs. Where a stream that [Batch.UsedBy] named never
// finishes, Close never returns; [Stage.Shutdown] does. Close may be called again:
// after an error it tries what has failed once more.
func (s *Stage) Close() error { return s.Shutdown(context.Background()) }

// Shutdown is Close with an end: when ctx is done before the streams are, it
// returns the context's error and leaves all device memory as it is, because the
// streams may read it. It may be called again, and so may Close; loops get
// [ErrClosed] from the first call on.
func (s *Stage) Shutdown(ctx context.Context) error {
	if done, err := s.retire(); done || err != nil {
		return err
	}
	err := s.vacate(ctx)
	if err == nil {
		err = s.device.do(s.free)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = ""
	if err != nil {
		return fmt.Errorf("gpu: close stage on %v: %w", s.device, err)
	}
	s.closed = true
	s.device.leave()
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

// vacate waits until neither copies nor other streams use the device memory.
func (s *Stage) vacate(ctx context.Context) error {
	if err := s.settle(); err != nil {
		return err
	}
	for _, b := range s.ring {
		if err := b.vacate(ctx); err != nil {
			return err
		}
	}
	return nil
}

// free gives everything back, even when some of it fails. It runs on the device's
// thread.
func (s *Stage) free() error {
	var errs []error
	for _, b := range s.ring {
		errs = append(errs, b.close())
	}
	if s.stream != 0 {
		err := s.device.lib.call(cuStreamDestroy, s.stream)
		if err == nil {
			s.stream = 0
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
