//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"gorgonia.org/cu"
	cublas "gorgonia.org/cu/blas"
	"gorgonia.org/gorgonia"
)

func available() error {
	n, err := cu.NumDevices()
	if err != nil {
		return err
	}
	if n == 0 {
		return errors.New("the driver knows none")
	}
	return nil
}

// lock ties the calling goroutine to its thread for good.
func lock() { runtime.LockOSThread() }

// A machine is gorgonia's VM. Its methods run on one thread, which the VM's context
// is bound to since open.
type machine struct {
	vm   gorgonia.VM
	cuda gorgonia.CUDAMachine // the same
	dead bool                 // see errDead
}

// open makes the VM. gorgonia panics where it cannot.
func (m *machine) open(g *gorgonia.ExprGraph, options []gorgonia.VMOpt) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("make the VM: %v", p)
		}
	}()
	program, registers, err := gorgonia.Compile(g)
	if err != nil {
		return fmt.Errorf("compile the graph: %w", err)
	}
	if err := checkMemory(program.GPUMemReq()); err != nil {
		return err
	}
	options = slices.Concat(options, []gorgonia.VMOpt{gorgonia.WithPrecompiled(program, registers)})
	vm := gorgonia.NewTapeMachine(g, options...)
	m.vm, m.cuda = vm, vm
	if err := m.repairBLAS(); err != nil {
		return errors.Join(fmt.Errorf("make cuBLAS's handle: %w", err), vm.Close())
	}
	if err := errors.Join(checkFlags(vm), checkKernels(g, m.cuda.Engines()[0].HasFunc)); err != nil {
		return errors.Join(err, vm.Close())
	}
	return nil
}

// checkFlags reports options of the VM that gorgonia v0.9.18 does not survive on a
// device. That they are given shows in a field alone.
func checkFlags(vm any) error {
	const nan, inf, trace = 1 << 2, 1 << 3, 1 << 6 // watchNaN, watchInf, spare2 of its vm.go
	flags := reflect.ValueOf(vm).Elem().FieldByName("runFlags").Uint()
	switch {
	case flags&trace != 0:
		return errors.New("TraceExec would wait for ever on a device")
	case flags&(nan|inf) != 0:
		return errors.New("WithNaNWatch and WithInfWatch would lose the context: their kernels write to no memory of the device")
	}
	return nil
}

// checkMemory reports that the device has too little memory left. gorgonia, which
// takes two and a half times what it needs, would hang.
func checkMemory(needs []int64) error {
	if len(needs) == 0 {
		return errors.New("no operation of the graph runs on a device")
	}
	if len(needs) > 1 {
		return fmt.Errorf("the graph is for %d devices, want 1", len(needs))
	}
	device, err := cu.GetDevice(0)
	if err != nil {
		return err
	}
	ctx, err := device.MakeContext(cu.SchedAuto) // takes some of the memory, as the VM's will
	if err != nil {
		return err
	}
	defer ctx.Destroy()
	free, _, err := cu.MemInfo()
	if err != nil {
		return err
	}
	if takes := 2*needs[0] + needs[0]/2 + 256; takes >= free {
		return fmt.Errorf("the graph takes %d bytes of the device's memory, %d are free", takes, free)
	}
	return nil
}

// repairBLAS makes cuBLAS's handle again, in the VM's context: gorgonia makes it on
// a thread that has another one or none. It is destroyed in the context in which it
// was made, which is still that thread's.
func (m *machine) repairBLAS() (err error) {
	ctx := m.cuda.Contexts()[0]
	blas := m.cuda.Engines()[0].BLASContext()
	ctx.Do(func() error { // an error that is returned would end gorgonia's goroutine
		runtime.LockOSThread() // once more than gorgonia unlocks it: the thread ends with its goroutine
		if err = blas.Close(); err != nil {
			return nil
		}
		if err = cu.SetCurrentContext(ctx.CUDAContext()); err == nil {
			err = blas.Init(cublas.WithContext(ctx))
		}
		return nil
	})
	return err
}

// run runs the graph. The last kernels may still run when gorgonia has done, also
// after an error: hence the wait, before the inputs' memory is used anew.
func (m *machine) run() error {
	if m.dead {
		return errDead
	}
	failed := m.vm.RunAll()
	if failed != nil && !m.alive() {
		m.dead = true
		runtime.SetFinalizer(m.vm, nil) // it would wait for that goroutine, and stop all others of the process
	}
	err := cu.SetCurrentContext(m.cuda.Contexts()[0].CUDAContext())
	if err == nil {
		err = cu.NoStream.Synchronize() // all that gorgonia does is on it; a Stage's copies are not
	}
	if failed != nil {
		return failed // which a failed wait only repeats
	}
	return err
}

var errDead = errors.New("an earlier run has failed in cuBLAS or the driver, which ended gorgonia's goroutine for the device: its memory is taken until the program ends")

// patience is how long a goroutine that waits for work may take to notice some.
const patience = 2 * time.Second

// alive says whether gorgonia's goroutine for the device still takes work. Some
// errors end it, and whoever gives it work afterwards waits for ever.
func (m *machine) alive() bool {
	taken := make(chan struct{})
	go func() {
		m.cuda.Contexts()[0].Do(func() error { return nil })
		close(taken)
	}()
	select {
	case <-taken:
		return true
	case <-time.After(patience):
		return false
	}
}

func (m *machine) reset() { m.vm.Reset() }

func (m *machine) close() error {
	if m.dead {
		return errDead
	}
	return m.vm.Close()
}

// context is the VM's CUcontext, the only thing that a CUContext holds.
func (m *machine) context() uintptr {
	ctx := m.cuda.Contexts()[0].CUDAContext()
	return *(*uintptr)(unsafe.Pointer(&ctx))
}

// bind makes the VM's context that of the goroutine that executes the tape, whose
// thread ends with it. Without it cuDNN, which gorgonia calls there, works in
// whatever context the thread has.
func bind(extern gorgonia.External, dev gorgonia.Device) error {
	runtime.LockOSThread()
	return cu.SetCurrentContext(extern.(gorgonia.CUDAMachine).Contexts()[int(dev)].CUDAContext())
}

// flush makes the device do what is queued. The result is x, in the memory that the
// tape has set apart for it.
func flush(extern gorgonia.External, dev gorgonia.Device, into, x gorgonia.Value) (gorgonia.Value, error) {
	engine := &extern.(gorgonia.CUDAMachine).Engines()[int(dev)]
	if into == nil || into.Uintptr() == x.Uintptr() {
		into = x
	} else {
		engine.Context().Memcpy(cu.DevicePtr(into.Uintptr()), cu.DevicePtr(x.Uintptr()), int64(x.MemSize()))
	}
	if err := engine.DoWork(); err != nil {
		return nil, err
	}
	return into, bind(extern, dev)
}

func register(name, ptx string, functions []string) { gorgonia.AddToStdLib(name, ptx, functions) }
