package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"unsafe"

	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/loader"
)

// What the accounts of memory vary by without a leak.
const (
	deviceSlack = 4 << 20
	hostSlack   = 1 << 20
)

// checkLeaks measures the memory of the device and of the process before and after many calls.
func checkLeaks(s *subject) error {
	if err := s.open(); err != nil {
		return err
	}
	target, err := s.take(4096)
	if err != nil {
		return err
	}
	slab, err := s.pinned(4096)
	if err != nil {
		return err
	}
	var errs []error
	for _, w := range []struct {
		name  string
		times int
		each  int64 // bytes of the process's memory that a call may leave
		call  func() error
	}{
		{"launches", s.launches, 16, func() error { return s.launch("poke", s.stream, uint64(target)) }},
		{"copies to the device", s.launches, 16, func() error { return s.up(target, slab, s.stream) }},
		{"copies back", s.launches, 16, func() error { return s.down(slab, target, s.stream) }},
		{"streams, made and destroyed", max(10, s.launches/100), 1 << 10, s.makeStream},
		{"stages, opened and closed", max(10, s.launches/1000), 64 << 10, s.openStage},
	} {
		s.step("%d %s", w.times, w.name)
		errs = append(errs, s.leak(w.name, w.times, w.each, w.call))
	}
	return errors.Join(errs...)
}

// leak makes calls and fails if memory is gone after them, twice.
func (s *subject) leak(name string, times int, each int64, call func() error) error {
	if err := s.repeat(max(5, times/10), call); err != nil { // the first ones fill caches
		return err
	}
	var device, host int64
	for range 2 {
		deviceBefore, hostBefore, err := s.memory()
		if err != nil {
			return err
		}
		if err := s.repeat(times, call); err != nil {
			return err
		}
		deviceAfter, hostAfter, err := s.memory()
		if err != nil {
			return err
		}
		device, host = deviceBefore-deviceAfter, hostAfter-hostBefore
		if device <= deviceSlack && host <= hostSlack+each*int64(times) {
			s.note("%d %s: %+d KiB of the device's memory, %+d KiB of the process's", times, name, device>>10, host>>10)
			return nil
		}
	}
	return fmt.Errorf("%d %s took %d KiB of the device's memory and %d KiB of the process's, again and again", times, name, device>>10, host>>10)
}

// repeat makes calls and waits for the stream now and then.
func (s *subject) repeat(times int, call func() error) error {
	for i := range times {
		if err := call(); err != nil {
			return err
		}
		if i%128 == 127 || i == times-1 {
			if err := s.wait(s.stream); err != nil {
				return err
			}
		}
	}
	return nil
}

// memory returns the device's free memory, and the process's memory outside files.
func (s *subject) memory() (free, used int64, err error) {
	debug.FreeOSMemory()
	var available, total uintptr
	if err := s.call("cuMemGetInfo_v2", uintptr(unsafe.Pointer(&available)), uintptr(unsafe.Pointer(&total))); err != nil {
		return 0, 0, err
	}
	for _, a := range accounts(os.DirFS("/")) {
		if a.name == "RssAnon" {
			used = a.bytes
		}
	}
	return int64(available), used, nil
}

func (s *subject) makeStream() error {
	var stream uintptr
	if err := s.call("cuStreamCreate", uintptr(unsafe.Pointer(&stream)), streamNonBlocking); err != nil {
		return err
	}
	return s.call("cuStreamDestroy_v2", stream)
}

// openStage opens everything that package gpu has, runs a loop, and closes it.
func (s *subject) openStage() (err error) {
	d, err := gpu.Open(s.opening()...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	p, err := d.Pinned()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	l, err := loader.New(numbered(32), loader.Memory(p), loader.BatchSize(4))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	stage, err := gpu.NewStage(d, l)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stage.Close()) }()
	for _, err := range stage.Epoch(context.Background(), 0) {
		if err != nil {
			return err
		}
	}
	return nil
}
