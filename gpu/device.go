package gpu

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
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

	calls chan func()   // run on the one thread that the context is bound to
	ended chan struct{} // closed behind the last call

	mu     sync.Mutex
	users  int  // open memories and stages
	closed bool // for new users
	given  bool // back to the driver, and the thread has ended

	discarded []*Stage // which nobody has, and the driver would not free
}

// Open loads the driver and takes a device. Where that is not possible the error
// wraps [ErrNoDevice]. Close gives the device back.
func Open(options ...Option) (*Device, error) {
	cfg, err := newConfig(options)
	if err != nil {
		return nil, err
	}
	lib, err := load(cfg.library)
	if err != nil {
		return nil, err
	}
	d := &Device{lib: lib, cfg: cfg, calls: make(chan func()), ended: make(chan struct{})}
	opened := make(chan error)
	go d.serve(opened)
	if err := <-opened; err != nil {
		<-d.ended
		return nil, fmt.Errorf("%w: %s: %w", ErrNoDevice, cfg.library, err)
	}
	return d, nil
}

// serve runs calls on a thread of its own, which ends with it: it stays locked,
// because a thread with a context bound to it is of no use to other goroutines.
func (d *Device) serve(opened chan<- error) {
	runtime.LockOSThread()
	defer close(d.ended)
	err := d.take()
	opened <- err
	if err != nil {
		return
	}
	for call := range d.calls {
		call()
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
	if err := d.retain(); err != nil {
		return err
	}
	if err := d.bind(); err != nil {
		return errors.Join(err, d.release())
	}
	return nil
}

// bind makes the context current on the calling thread, which the caller has
// locked and does not unlock.
func (d *Device) bind() error { return d.lib.call(cuCtxSetCurrent, d.context) }

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

// do runs f on the device's thread. The device must be in use; see enter.
func (d *Device) do(f func() error) (err error) {
	done := make(chan struct{})
	d.calls <- func() {
		err = f()
		close(done)
	}
	<-done
	return err
}

// How often await looks: a wait of microseconds is noticed within microseconds,
// and a long one costs a few thousand calls per second.
const (
	shortestPause = 10 * time.Microsecond
	longestPause  = 200 * time.Microsecond
)

// await waits until an event has passed or ctx is done. Meanwhile the device's
// thread serves others.
func (d *Device) await(ctx context.Context, event uintptr) error {
	var timer *time.Timer
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		var passed bool
		err := d.do(func() (err error) {
			passed, err = d.lib.passed(event)
			return err
		})
		if passed || err != nil {
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
	if err != nil {
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
	return errors.Join(errs...)
}

// Close gives the device back. It refuses while a [Pinned] or a [Stage] of it is
// open: close the stage first, then the loader, its memory and the device. Close
// may be called again: after an error it tries what has failed once more, on a
// closed device it does nothing.
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
	if err := d.do(d.release); err != nil {
		return fmt.Errorf("gpu: close %v: %w", d, err)
	}
	d.given = true
	close(d.calls)
	<-d.ended
	return nil
}

// String is like "NVIDIA H200 (device 0, CUDA 12.4)".
func (d *Device) String() string {
	return fmt.Sprintf("%s (device %d, CUDA %d.%d)", d.name, d.cfg.ordinal, d.version/1000, d.version%1000/10)
}
