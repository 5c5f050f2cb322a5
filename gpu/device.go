package gpu

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/penstock-go/penstock/internal/figures"
)

// A Device is a CUDA device and a context on it. The context is the device's primary
// one, which all users of the CUDA runtime API in the process share, or the one that
// [Context] gives. Any goroutine may call its methods.
type Device struct {
	lib     *library
	cfg     config
	handle  int32
	context uintptr
	name    string
	version int

	// Two threads, each with the context bound to it: one for calls that return at
	// once, and one for calls that may wait for other work of the device.
	calls, waits *thread

	mu     sync.Mutex
	users  int  // open memories and stages
	closed bool // for new users
	given  bool // the context is released, and the threads have ended

	discarded []*Stage // no caller has them, and the driver refused to free them
}

// Open loads the driver and opens a device. Close releases it.
//
// The error wraps [ErrNoDevice] if there is no driver, or if the driver reports no
// device. It does not if the driver does not work, the device cannot be used, there
// is no device of that [Ordinal], or the file of [Library] does not exist. It then
// holds the driver's own message and, where known, the usual cause.
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
		return nil, fmt.Errorf("%w: %s reports 0 devices", ErrNoDevice, cfg.library)
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
		return fmt.Errorf("Ordinal(%d): the driver has %s, counted from 0", d.cfg.ordinal, figures.Count(int(count), "device", "devices"))
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

// bind makes the context current on the calling thread. The caller has locked the
// goroutine to that thread and never unlocks it. bind also allows the thread's calls
// while another thread captures a graph, because none of them enqueues work on that
// thread's streams.
func (d *Device) bind() error {
	if err := d.lib.call(cuCtxSetCurrent, d.context); err != nil {
		return err
	}
	mode := int32(captureRelaxed)
	return d.lib.call(cuThreadExchangeStreamCaptureMode, uintptr(unsafe.Pointer(&mode)))
}

// retain takes the context that [Context] gives, or else the primary one.
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

// destroy calls f to destroy a handle's object, and then sets the handle to 0.
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

// await polls with these pauses: it notices the end of a short wait within
// microseconds, and a long wait costs a few thousand calls per second.
const (
	shortestPause = 10 * time.Microsecond
	longestPause  = 200 * time.Microsecond
)

// await waits until an event is complete or ctx is done.
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

// enter counts a user of the device. The device cannot be closed until leave.
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

// discard closes a stage whose constructor failed. If closing it fails too, the
// device's Close tries again, because no caller has the stage.
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

// Close releases the device. It is an error while a [Pinned] or a [Stage] of the
// device is open: close the stage first, then the loader, its memory and the device.
// If no other user of the primary context is left, Close waits until the device has
// done all its work. Close may be called again: after an error it tries the failed
// steps again, and on a closed device it does nothing. After [ErrLost] the device
// counts as closed.
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
		return fmt.Errorf("gpu: close %v: %d of its stages and memories are still open", d, d.users)
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

// String returns a text such as "NVIDIA H200 (device 0, CUDA 12.4)".
func (d *Device) String() string {
	return fmt.Sprintf("%s (device %d, CUDA %d.%d)", d.name, d.cfg.ordinal, d.version/1000, d.version%1000/10)
}

// A thread makes driver calls, one after the other, on an operating system thread
// that a context is bound to.
type thread struct {
	calls chan func()
	ended chan struct{} // closed after the last call
}

// start starts a thread with the call begin. It ends when begin fails or calls is
// closed. The operating system thread ends with it, because the goroutine stays
// locked to it: no other goroutine may run on a thread that has a context.
func start(begin func() error) (*thread, error) {
	t := &thread{calls: make(chan func()), ended: make(chan struct{})}
	begun := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer close(t.ended)
		err := begin()
		begun <- err
		if err != nil {
			return
		}
		for call := range t.calls {
			call()
		}
	}()
	if err := <-begun; err != nil {
		<-t.ended
		return nil, err
	}
	return t, nil
}

// do runs f on the thread and waits until it returns.
func (t *thread) do(f func() error) error { return t.try(context.Background(), f) }

// try is do with a context: if ctx is done before f has returned, try returns the
// context's error. f may then run later. So it must not write to anything that other
// goroutines access, unless that access is synchronized.
func (t *thread) try(ctx context.Context, f func() error) error {
	result := make(chan error, 1)
	select {
	case t.calls <- func() { result <- f() }:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// end ends the thread after the calls before it.
func (t *thread) end() {
	close(t.calls)
	<-t.ended
}

// hints are the usual causes of an error when the driver starts, by its code.
// Source: CUresult, and the deployment guides of NVIDIA's drivers.
var hints = map[int]string{
	2:   "has another process taken the device's memory?",
	34:  "the file is the stub library of a CUDA toolkit, which is only for linking: keep its folder out of LD_LIBRARY_PATH",
	46:  "another process has exclusive use of the device: see its compute mode in nvidia-smi",
	304: "does this user have permission to open /dev/nvidia0, /dev/nvidiactl and /dev/nvidia-uvm?",
	802: "on a machine with NVSwitch: is nvidia-fabricmanager running, in the same version as the driver?",
	803: "the NVIDIA kernel module and libcuda have different versions: after an update, reload the module or restart the machine",
	804: "the library path has a libcuda for forward compatibility, which this device does not support: remove cuda-compat",
	999: "is the kernel module nvidia_uvm loaded (nvidia-modprobe -u), and does this user have permission to open /dev/nvidia-uvm?",
}

// hinted adds the hint for the error's code, if there is one.
func hinted(err error) error {
	var d *DriverError
	if errors.As(err, &d) && hints[d.Code] != "" {
		return hintError{err, hints[d.Code]}
	}
	return err
}

type hintError struct {
	error
	hint string
}

func (e hintError) Error() string { return e.error.Error() + " (" + e.hint + ")" }
func (e hintError) Unwrap() error { return e.error }
