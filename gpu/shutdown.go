package gpu

import (
	"context"
	"fmt"
)

// Close waits until no stream uses the stage's device memory, and frees it. It is an
// error while a loop runs. If a stream that was passed to [Batch.UsedBy] never
// finishes, Close never returns; use [Stage.Shutdown] then. Close may be called
// again: after an error it tries the failed steps again. After [ErrLost] the stage
// counts as closed.
func (s *Stage) Close() error { return s.Shutdown(context.Background()) }

// Shutdown is Close with a context. If ctx is done before the streams are, Shutdown
// returns the context's error and frees nothing, because the streams may still read
// the memory. Shutdown and Close may be called again. From the first call on, new
// loops fail with [ErrClosed].
//
// On a device without memory pools, freeing memory may itself wait for all streams of
// the context. If ctx is done during that wait, Shutdown returns and the freeing
// continues in the background.
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

// free frees everything, even if some calls fail. It runs on the thread for calls
// that wait, and may still run after Shutdown has returned.
func (s *Stage) free() error {
	held := s.freeMemory()
	errs := []error{held}
	for _, b := range s.ring {
		errs = append(errs, b.close())
	}
	errs = append(errs, s.device.destroy(cuStreamDestroy, &s.back))
	if gone(held) { // otherwise the next call of free needs them
		errs = append(errs, s.device.destroy(cuMemPoolDestroy, &s.pool), s.device.destroy(cuStreamDestroy, &s.stream))
	}
	return join(errs...)
}

// freeMemory frees all device memory, and waits until it is free.
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
