// Package cuda runs gorgonia graphs on a CUDA device over a loader's batches. The program
// must be built with the tag cuda. Without the tag the package has the same functions and
// types. [New], [NewInput], [AddKernels] and [Available] then return an error that wraps
// [gpu.ErrNoDevice], and [Flush] returns its operand.
//
// There are two ways to give the VM a batch. The first is package [feed]: it binds batches
// in page-locked memory to the graph's inputs, and gorgonia copies them to the device when
// the VM runs. From page-locked memory that is one transfer, without a copy by the
// processor.
//
//	vm, err := cuda.New(g)
//	…
//	f, err := feed.New(vm, feed.Bind("image", x), feed.Drop())
//
// The second is a [gpu.Stage], which uploads the next batches while the VM runs over one.
// The graph has an [Input] in place of gorgonia's input node. The VM then reads the batch
// directly from the Stage's device memory.
//
//	image, err := cuda.NewInput(g, "image", tensor.Float32, 128, 784)
//	… // the graph, over image.Node()
//	vm, err := cuda.New(g)
//	device, err := vm.Device()
//	… // its page-locked memory, a loader with it
//	stage, err := gpu.NewStage(device, l)
//	…
//	for batch, err := range vm.Run(stage.Epoch(ctx, 0), image) {
//		if err != nil {
//			return err
//		}
//		… // the graph's values are those of the batch
//	}
//
// gpu/README.md describes how to build with the tag, which defects of gorgonia v0.9.18 this
// package works around, and which it cannot. The package has not run on a real device yet:
// its tests use a fake driver.
//
// [feed]: https://pkg.go.dev/github.com/penstock-go/penstock/gpu/feed
package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"gorgonia.org/gorgonia"

	"github.com/penstock-go/penstock/gpu"
)

// Available returns nil if graphs can run on a device. Otherwise it returns an error that
// wraps [gpu.ErrNoDevice] and gives the reason: the program was built without the tag cuda,
// or there is no device. A program that was built with the tag does not start on a machine
// without the driver's library.
func Available() error {
	if err := available(); err != nil {
		return fmt.Errorf("cuda: %w: %w", gpu.ErrNoDevice, err)
	}
	return nil
}

// A VM is gorgonia's tape machine on device 0, in a CUDA context of its own. Any goroutine
// may call its methods, but only one at a time.
type VM struct {
	machine
	calls chan func() // run on the thread that made the context
	ended chan struct{}

	mu      sync.Mutex
	closed  bool
	busy    bool          // a loop runs
	devices []*gpu.Device // that Device has returned
	graph   *gorgonia.ExprGraph
}

var _ gorgonia.VM = (*VM)(nil)

// New compiles a graph and makes a VM for it, as [gorgonia.NewTapeMachine] does. Call
// [AddKernels] before. The caller must close the VM.
//
// New returns an error if gorgonia would compute the graph wrongly: because a [Flush] is
// missing, because an operation is wrong on a device, or because an operation's kernel is
// missing. It also refuses the options TraceExec, WithNaNWatch and WithInfWatch, and a
// graph for which the device has too little memory.
//
// New cannot detect two more defects. Do not use BindDualValues, whose gradients are wrong
// on a device: call [gorgonia.Read] on the nodes that [gorgonia.Grad] returns. Do not clone
// a value that is in device memory: Clone never returns.
func New(g *gorgonia.ExprGraph, options ...gorgonia.VMOpt) (*VM, error) {
	if err := Available(); err != nil {
		return nil, err
	}
	if err := checkGraph(g); err != nil {
		return nil, fmt.Errorf("cuda: %w", err)
	}
	v := &VM{calls: make(chan func()), ended: make(chan struct{}), graph: g}
	opened := make(chan error)
	go v.serve(opened, g, options)
	if err := <-opened; err != nil {
		<-v.ended
		return nil, fmt.Errorf("cuda: %w", err)
	}
	return v, nil
}

// serve runs calls on an operating system thread of its own. The goroutine stays locked to
// that thread, so the thread ends with it: no other goroutine may run on a thread that has
// a context.
func (v *VM) serve(opened chan<- error, g *gorgonia.ExprGraph, options []gorgonia.VMOpt) {
	defer close(v.ended)
	lock()
	err := v.open(g, options)
	opened <- err
	if err != nil {
		return
	}
	for call := range v.calls {
		call()
	}
}

// do runs f on the VM's thread.
func (v *VM) do(f func() error) (err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return gpu.ErrClosed
	}
	done := make(chan struct{})
	v.calls <- func() {
		err = f()
		close(done)
	}
	<-done
	return err
}

// made returns an error if New has not made the VM.
func (v *VM) made() error {
	if v != nil && v.calls != nil {
		return nil
	}
	return cmp.Or(Available(), errors.New("cuda: the VM was not made by New"))
}

// RunAll runs the graph and waits until the device has done all its work. Then the graph's
// values can be read, and the memory of the inputs may change.
func (v *VM) RunAll() error {
	if err := v.made(); err != nil {
		return err
	}
	if err := v.execute(); err != nil {
		return fmt.Errorf("cuda: run: %w", err)
	}
	return nil
}

func (v *VM) execute() error {
	err := v.do(v.run)
	hide(v.graph)
	return err
}

// Reset prepares the VM for the next RunAll, which otherwise does nothing. It makes the
// values in device memory invalid, unless [gorgonia.Read] has copied them.
func (v *VM) Reset() {
	if v.made() != nil {
		return
	}
	v.do(func() error { // a closed VM has nothing to reset
		v.reset()
		return nil
	})
}

// Close frees the VM's resources on the device. It first closes the devices that
// [VM.Device] has returned. It is an error while a stage or page-locked memory of such a
// device is open, because their memory belongs to the VM's context. A VM that is not closed
// keeps its resources until the process ends.
func (v *VM) Close() error {
	if v.made() != nil {
		return nil
	}
	v.mu.Lock()
	devices := v.devices
	v.mu.Unlock()
	for _, d := range devices {
		if err := d.Close(); err != nil && !errors.Is(err, gpu.ErrLost) {
			return fmt.Errorf("cuda: close: %w", err)
		}
	}
	err := v.do(v.machine.close)
	if errors.Is(err, gpu.ErrClosed) {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	close(v.calls)
	<-v.ended
	if err != nil {
		return fmt.Errorf("cuda: close: %w", err)
	}
	return nil
}

// Device opens device 0 in the VM's own context. A [gpu.Stage] for the VM's inputs must use
// this device, because the VM cannot access memory of another context. The VM's Close
// closes the device if the caller has not.
func (v *VM) Device(options ...gpu.Option) (*gpu.Device, error) {
	if err := v.made(); err != nil {
		return nil, err
	}
	var context uintptr
	err := v.do(func() error {
		context = v.context()
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cuda: device: %w", err)
	}
	d, err := gpu.Open(slices.Concat(options, []gpu.Option{gpu.Ordinal(0), gpu.Context(context)})...)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.devices = append(v.devices, d)
	return d, nil
}
