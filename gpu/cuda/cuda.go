// Package cuda runs gorgonia graphs on a CUDA device over a loader's batches, in
// a program that is built with the tag cuda. Without the tag it has the same names,
// and they say [gpu.ErrNoDevice].
//
// The first way is [feed]'s: bind page-locked batches to a graph's inputs. gorgonia
// copies them to the device when the VM runs; from page-locked memory that is one
// transfer without a copy by the processor.
//
//	vm, err := cuda.New(g)
//	…
//	f, err := feed.New(vm, feed.Bind("image", x), feed.Drop())
//
// The second lets a [gpu.Stage] copy the next batches while the VM runs over one:
// an [Input] takes the place of the input node, and the VM computes where the Stage
// has put the batch.
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
// What this package repairs of gorgonia v0.9.18, what it cannot, and how to build
// with the tag stand in gpu/README.md. Nothing of it has run on a device so far: its
// tests use a fake driver.
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

// Available says why no graph can run on a device: an error that wraps
// [gpu.ErrNoDevice] if the program was built without the tag cuda or if there is no
// device; nil if there is one. With the tag a program does not even start where
// there is no driver.
func Available() error {
	if err := available(); err != nil {
		return fmt.Errorf("cuda: %w: %w", gpu.ErrNoDevice, err)
	}
	return nil
}

// A VM is gorgonia's tape machine on the first device, with a context of its own.
// Its methods may be called by any goroutine, one at a time.
type VM struct {
	machine
	calls chan func() // run on the one thread that the context was made on
	ended chan struct{}

	mu      sync.Mutex
	closed  bool
	busy    bool // a loop runs
	devices []*gpu.Device
	graph   *gorgonia.ExprGraph
}

var _ gorgonia.VM = (*VM)(nil)

// New compiles a graph for the device. The tag does not change what a graph is,
// but [AddKernels] comes before. Before anything runs, New reports a graph that
// gorgonia would compute wrongly, for want of a [Flush] or because of an operation.
//
// The VM replaces the one of [gorgonia.NewTapeMachine]. Do not ask for
// BindDualValues, whose gradients are wrong on a device: [gorgonia.Read] the nodes
// that [gorgonia.Grad] returns. TraceExec and the watches for NaN and Inf are refused,
// and so is an operation whose kernel is not there. Do not Clone a value of the
// device's, which waits for ever.
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

// serve runs calls on a thread of its own. It stays locked and ends with it: a
// thread that a context is bound to is of no use to other goroutines.
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

// made says why there is no VM to work with: New has not made it.
func (v *VM) made() error {
	if v != nil && v.calls != nil {
		return nil
	}
	return cmp.Or(Available(), errors.New("cuda: New has not made the VM"))
}

// RunAll runs the graph, and waits until the device has done all of it: then the
// graph's values can be read, and the memory of the inputs may change.
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

// Reset makes the next RunAll begin anew. Values that were not copied are invalid
// after it.
func (v *VM) Reset() {
	if v.made() != nil {
		return
	}
	v.do(func() error { // a closed VM has nothing to reset
		v.reset()
		return nil
	})
}

// Close frees what the VM has on the device. It closes the devices that [VM.Device]
// gave first, and refuses while a memory or a stage of one is open: their memory ends
// with the VM's context. A VM that was not closed stays until the process ends.
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

// Device is the device in the VM's own context, which a [gpu.Stage] for its inputs
// must use: memory of another context is out of the VM's reach. The VM's Close closes
// it, where that has not happened before.
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
