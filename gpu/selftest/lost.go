package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/loader"
)

// checkLost lets a kernel write outside its memory while a Stage runs. That loses the context
// of the process: nothing of the subject can be closed by calls afterwards.
func checkLost(s *subject) (err error) {
	if err := s.open(); err != nil {
		return err
	}
	const batches, size = 300, 8
	p, err := s.device.Pinned()
	if err != nil {
		return err
	}
	l, err := loader.New(numbered(batches*size), loader.Memory(p), loader.BatchSize(size), loader.Workers(2))
	if err != nil {
		return err
	}
	stage, err := gpu.NewStage(s.device, l)
	if err != nil {
		return err
	}
	s.closing = nil
	var last error
	reached := 0
	for b, err := range stage.Epoch(context.Background(), 0) {
		if last = err; err != nil {
			break
		}
		if reached = b.Number(); reached == 5 {
			s.step("a kernel that writes to address 0")
			if err := s.launch("poke", s.stream, 0); err != nil {
				return err
			}
			if err := s.wait(s.stream); !errors.Is(err, gpu.ErrLost) {
				return fmt.Errorf("cuStreamSynchronize after a kernel that writes to address 0: got %v, want an error that loses the context", err)
			}
		}
	}
	if !errors.Is(last, gpu.ErrLost) {
		return fmt.Errorf("the loop ended with %v at batch %d, want gpu.ErrLost", last, reached)
	}
	s.note("the loop said: %v", last)
	if err := s.call("cuCtxSynchronize"); !errors.Is(err, gpu.ErrLost) {
		return fmt.Errorf("cuCtxSynchronize later: got %v, want the error again", err)
	}
	for _, c := range []struct {
		name string
		io.Closer
	}{{"Stage", stage}, {"Loader", l}, {"Pinned", p}, {"Device", s.device}} {
		s.step("closing the %s", c.name)
		if err := c.Close(); err != nil && !errors.Is(err, gpu.ErrLost) {
			return fmt.Errorf("%s: Close: %w", c.name, err)
		}
		if err := c.Close(); err != nil {
			return fmt.Errorf("%s: Close again: %w", c.name, err)
		}
	}
	s.step("opening the device again")
	d, err := gpu.Open(s.opening()...)
	if err != nil {
		s.note("opened again in the same process: %v", err)
		return nil
	}
	s.note("opened again in the same process: no error")
	if err := d.Close(); err != nil {
		s.note("and closed: %v", err)
	}
	return nil
}
