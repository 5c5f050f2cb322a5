package net

import (
	"errors"
	"fmt"
	"os"

	"gorgonia.org/gorgonia"

	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/gpu/cuda"
	"github.com/penstock-go/penstock/loader"
)

// A Backend is the device where nets run, and the memory of their batches. Everything
// that depends on the machine is here.
type Backend struct {
	Memory loader.Allocator // for the loaders

	free     func() error // the memory
	onDevice bool
}

// Open makes a backend on a device: "cpu" (or ""), "cuda" or "auto". "auto" is cuda in
// a program that was built for it, on a machine that has a device, and cpu elsewhere.
// kernels is a folder of gorgonia's kernels, which gpu/cuda/kernels makes. Only cuda
// needs it. Close the backend after the loaders that use its memory.
//
// The memory is page-locked if there is a CUDA device, also for nets on the CPU.
func Open(device, kernels string) (_ *Backend, err error) {
	b := &Backend{}
	switch device {
	case "cpu", "":
		if gorgonia.CUDA {
			return nil, errors.New("net: device cpu: built with the tag cuda, gorgonia has no VM for the processor")
		}
	case "cuda", "auto":
		missing := cuda.Available()
		if missing != nil && (device == "cuda" || gorgonia.CUDA) { // a program built for a device has no VM for the processor
			return nil, missing
		}
		b.onDevice = missing == nil
	default:
		return nil, fmt.Errorf("net: device %q: want auto, cpu or cuda", device)
	}
	if b.onDevice {
		if err := cuda.AddKernels(os.DirFS(kernels)); err != nil {
			return nil, fmt.Errorf("%w; gpu/cuda/kernels TOOLKIT %s makes them", err, kernels)
		}
	}
	if b.Memory, b.free, err = gpu.Auto(); err != nil {
		return nil, err
	}
	return b, nil
}

// machine makes the only VM of a graph: a new one per step would leak.
func (b *Backend) machine(g *gorgonia.ExprGraph, weights gorgonia.Nodes, train bool) (gorgonia.VM, error) {
	switch {
	case b.onDevice:
		vm, err := cuda.New(g)
		if err != nil {
			return nil, err // not a nil *VM in an interface
		}
		return vm, nil
	case train:
		return gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(weights...)), nil
	default:
		return gorgonia.NewTapeMachine(g), nil
	}
}

// String says where nets run.
func (b *Backend) String() string {
	if b.onDevice {
		return "gorgonia's VM for CUDA"
	}
	return "gorgonia's VM for the processor"
}

// Close frees the memory.
func (b *Backend) Close() error { return b.free() }
