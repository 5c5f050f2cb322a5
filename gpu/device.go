package gpu

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// A Device is one CUDA device and a context on it: the primary one, which the
// process shares with every other user of the device's runtime API, or the one of
// [Context]. Its methods may be called by any goroutine.
type Device struct {
	lib     *library
	cfg     config
	handle  int32
	context uintptr
	name    string
	version int
	pooled  bool // it has stream-ordered memory

	// Two threads, each with the context bound to it: one for calls that return at
	// once, and one for those that may wait for the device to finish other work.
	calls, waits *thread

	mu     sync.Mutex
	users  int  // open memories and stages
	closed bool // for new users
	given  bool // back to the driver, and the threads have ended

	discarded []*Stage // which nobody has, and the driver would not free
}

// Open loads the driver and takes a device. Close gives the device back.
//
// The error wraps [ErrNoDevice] if there is no driver, or none that knows of a device.
// A driver that does not work, a device that cannot be used, an [Ordinal] beyond the
// devices and a [Library] that is not there are other errors, which say what the
// driver says and, where one is known, the usual cause.
func Open(options ...Option) (*Device, error) {
	cfg, err := newConfig(options)
	if err != nil {
		return nil, err
	}
	lib, err := load(cfg.library, cfg.asked)
	if err != nil {
		return nil, err
	}
	d := &Device{lib: lib, cfg: cfg}
	if d.calls, err = start(d.take); err == nil {
		if d.waits, err = start(d.bind); err != nil {
			err = errors.Join(err, d.calls.do(d.release))
			d.calls.end()
		}
	}
	var failed *DriverError
	switch {
	case err == nil:
		return d, nil
	case errors.Is(err, ErrNoDevice):
		return nil, fmt.Errorf("%w: %s knows of none", ErrNoDevice, cfg.library)
	case errors.As(err, &failed) && failed.Code == noDevice:
		return nil, fmt.Errorf("%w: %s: %w", ErrNoDevice, cfg.library, err)
	default:
		return nil, fmt.Errorf("gpu: open device %d of %s: %w", cfg.ordinal, cfg.library, hinted(err))
	}
}

// take finds the device and binds its context to the thread.
func (d *Device) take() error {
	var version, count int32
	if err := d.lib.call(cuInit, 0); err != nil {
		return err
	}
	if err := d.lib.call(cuDriverGetVersion, uintptr(unsafe.Pointer(&version))); err != nil {
		return err
	}
	if err := d.lib.call(cuDeviceGetCount, uintptr(unsafe.Pointer(&count))); err != nil {
		return err
	}
	if count == 0 {
		return ErrNoDevice
	}
	if d.cfg.ordinal >= int(count) {
		return fmt.Errorf("there are %d devices, Ordinal(%d) asks for another", count, d.cfg.ordinal)
	}
	if err := d.lib.call(cuDeviceGet, uintptr(unsafe.Pointer(&d.handle)), uintptr(d.cfg.ordinal)); err != nil {
		return err
	}
	name := make([]byte, deviceNameBytes)
	if err := d.lib.call(cuDeviceGetName, uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)-1), uintptr(d.handle)); err != nil {
		return err
	}
	text, _, _ := bytes.Cut(name, []byte{0})
	d.name, d.version = string(text), int(version)
	if d.lib.has(cuMemPoolCreate, cuMemPoolSetAttribute, cuMemPoolDestroy, cuMemAllocFromPoolAsync, cuMemFreeAsync) {
		var pools int32
		if err := d.lib.call(cuDeviceGetAttribute, uintptr(unsafe.Pointer(&pools)), memoryPools, uintptr(d.handle)); err != nil {
			return err
		}
		d.pooled = pools != 0
	}
	if err := d.retain(); err != nil {
		return err
	}
	if err := d.bind(); err != nil {
		return errors.Join(err, d.release())
	}
	return nil
}

// bind makes the context current on the calling thread, which the caller has
// locked and does not unlock, and lets its calls be while another thread captures a
// graph: none of them puts work into that thread's streams.
func (d *Device) bind() error {
	if err := d.lib.call(cuCtxSetCurrent, d.context); err != nil || !d.lib.has(cuThreadExchangeStreamCaptureMode) {
		return err
	}
	mode := int32(captureRelaxed)
	return d.lib.call(cuThreadExchangeStreamCaptureMode, uintptr(unsafe.Pointer(&mode)))
}

// retain takes the context that [Context] names, or else the primary one.
func (d *Device) retain() error {
	if d.context = d.cfg.context; d.context != 0 {
		return nil
	}
	return d.lib.call(cuDevicePrimaryCtxRetain, uintptr(unsafe.Pointer(&d.context)), uintptr(d.handle))
}

func (d *Device) release() error {
	if d.cfg.context != 0 {
		return nil
	}
	return d.lib.call(cuDevicePrimaryCtxRelease, uintptr(d.handle))
}

// destroy destroys what a handle stands for, which is 0 afterwards.
func (d *Device) destroy(f function, handle *uintptr) error {
	if *handle == 0 {
		return nil
	}
	err := d.lib.call(f, *handle)
	if gone(err) {
		*handle = 0
	}
	return err
}

// How often await looks: a wait of microseconds is noticed within microseconds,
// and a long one costs a few thousand calls per second.
const (
	shortestPause = 10 * time.Microsecond
	longestPause  = 200 * time.Microsecond
)

// await waits until an event has passed or ctx is done.
func (d *Device) await(ctx context.Context, event uintptr) error {
	var timer *time.Timer
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		var passed atomic.Bool // try may return before the call does
		err := d.calls.try(ctx, func() error {
			done, err := d.lib.passed(event)
			passed.Store(done)
			return err
		})
		if err != nil || passed.Load() {
			return err
		}
		if timer == nil {
			timer = time.NewTimer(pause)
			defer timer.Stop()
		} else {
			timer.Reset(pause)
		}
		select {
		case <-timer.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// enter counts a user of the device, which stays open until leave.
func (d *Device) enter() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return ErrClosed
	}
	d.users++
	return nil
}

func (d *Device) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.users--
}

// discard closes a stage that could not be made. Where that fails, the device's
// Close tries again, because nobody else can.
func (d *Device) discard(s *Stage) error {
	err := s.Close()
	if !gone(err) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.discarded = append(d.discarded, s)
	}
	return err
}

func (d *Device) closeDiscarded() error {
	d.mu.Lock()
	stages := d.discarded
	d.discarded = nil
	d.mu.Unlock()
	var errs []error
	for _, s := range stages {
		errs = append(errs, d.discard(s))
	}
	return join(errs...)
}

// Close gives the device back. It refuses while a [Pinned] or a [Stage] of it is
// open: close the stage first, then the loader, its memory and the device. It waits
// until the device has done what it was given, where nobody else uses its primary
// context. Close may be called again: after an error it tries what has failed once
// more, on a closed device it does nothing. After [ErrLost] the device is closed.
func (d *Device) Close() error {
	if err := d.closeDiscarded(); err != nil {
		return fmt.Errorf("gpu: close %v: %w", d, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.given {
		return nil
	}
	if d.users > 0 {
		return fmt.Errorf("gpu: close %v: %d memories or stages of it are open", d, d.users)
	}
	d.closed = true
	err := d.waits.do(d.release)
	if gone(err) {
		d.given = true
		d.calls.end()
		d.waits.end()
	}
	if err != nil {
		return fmt.Errorf("gpu: close %v: %w", d, err)
	}
	return nil
}

// String is like "NVIDIA H200 (device 0, CUDA 12.4)".
func (d *Device) String() string {
	return fmt.Sprintf("%s (device %d, CUDA %d.%d)", d.name, d.cfg.ordinal, d.version/1000, d.version%1000/10)
}
