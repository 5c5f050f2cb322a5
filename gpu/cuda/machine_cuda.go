//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"unsafe"

	"gorgonia.org/cu"
	"gorgonia.org/gorgonia"
	engine "gorgonia.org/gorgonia/cuda"
)

func available() error {
	n, err := cu.NumDevices()
	if err != nil {
		return err
	}
	if n == 0 {
		return errors.New("the driver reports 0 devices")
	}
	return nil
}

// lock locks the calling goroutine to its thread until the goroutine ends.
func lock() { runtime.LockOSThread() }

// A machine is gorgonia's VM. Its methods run on one thread, to which open binds the VM's
// context.
type machine struct {
	vm   gorgonia.VM
	cuda gorgonia.CUDAMachine // the same VM
	stop chan struct{}        // ends serve
	left error                // of destroying the libraries' handles
}

// open makes the VM. It turns gorgonia's panics into errors.
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
	if err := m.takeOver(); err != nil {
		return errors.Join(fmt.Errorf("make cuBLAS's handle: %w", err), m.close())
	}
	if err := errors.Join(checkFlags(vm), checkKernels(g, m.engine().HasFunc)); err != nil {
		return errors.Join(err, m.close())
	}
	return nil
}

// engine returns the VM's engine. The method Contexts of gorgonia copies it, while the goroutine
// for the device writes to it.
func (m *machine) engine() *engine.Engine { return &m.cuda.Engines()[0] }

func (m *machine) batched() *cu.BatchedContext { return m.engine().Context() }

// checkFlags reports options of the VM that hang or break gorgonia v0.9.18 on a device. They
// can be seen only in an unexported field.
func checkFlags(vm any) error {
	const nan, inf, trace = 1 << 2, 1 << 3, 1 << 6 // watchNaN, watchInf, spare2 of its vm.go
	flags := reflect.ValueOf(vm).Elem().FieldByName("runFlags").Uint()
	switch {
	case flags&trace != 0:
		return errors.New("TraceExec: the VM would wait for ever on a device")
	case flags&(nan|inf) != 0:
		return errors.New("WithNaNWatch, WithInfWatch: the CUDA context would be lost, because their kernels write outside device memory")
	}
	return nil
}

// checkMemory returns an error if the device has too little free memory: gorgonia would then
// hang. gorgonia takes two and a half times the memory that the graph needs.
func checkMemory(needs []int64) error {
	if len(needs) == 0 {
		return errors.New("no operation of the graph runs on a device")
	}
	if len(needs) > 1 {
		return fmt.Errorf("the graph uses %d devices, want 1", len(needs))
	}
	device, err := cu.GetDevice(0)
	if err != nil {
		return err
	}
	ctx, err := device.MakeContext(cu.SchedAuto) // a context takes some memory itself, as the VM's will
	if err != nil {
		return err
	}
	defer ctx.Destroy()
	free, _, err := cu.MemInfo()
	if err != nil {
		return err
	}
	if takes := 2*needs[0] + needs[0]/2 + 256; takes >= free {
		return fmt.Errorf("the graph takes %d bytes of device memory, but only %d are free", takes, free)
	}
	return nil
}

// run runs the graph. When gorgonia returns, the last kernels may still run, even after an
// error. run waits for them, because the memory of the inputs is reused afterwards.
func (m *machine) run() error {
	failed := m.vm.RunAll()
	if m.engine().BLASContext().Err() != nil {
		m.batched().Do(m.repairBLAS) // without success the error stays, and the next run returns it
	}
	err := cu.SetCurrentContext(m.batched().CUDAContext())
	if err == nil {
		err = cu.NoStream.Synchronize() // all work of gorgonia is on it; a Stage's copies are not
	}
	if failed != nil {
		return failed // the error of the wait would only repeat it
	}
	return err
}

func (m *machine) reset() { m.vm.Reset() }

// context returns the VM's CUcontext. It is the only field of a cu.CUContext.
func (m *machine) context() uintptr {
	ctx := m.batched().CUDAContext()
	return *(*uintptr)(unsafe.Pointer(&ctx))
}

// bind binds the VM's context to the goroutine that runs the graph, and locks that goroutine
// to its thread, which ends with it. Otherwise cuDNN, which gorgonia calls on this goroutine,
// would use any other context of the thread.
func bind(extern gorgonia.External, dev gorgonia.Device) error {
	runtime.LockOSThread()
	return cu.SetCurrentContext(extern.(gorgonia.CUDAMachine).Engines()[int(dev)].Context().CUDAContext())
}

// flush submits the queued calls to the device. Its result is x, or a copy in the memory that
// the VM has allocated for the result.
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
