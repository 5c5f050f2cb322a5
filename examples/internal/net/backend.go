package net

import (
	"errors"
	"fmt"
	"os"

	"gorgonia.org/gorgonia"

	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/gpu/cuda"
)

// A Backend is where nets run and where the batches for them lie. Everything
// that depends on the machine is here.
type Backend struct {
	Memory gpu.Memory // for the loaders

	onDevice bool
}

// Open makes a backend on a device: "cpu", which is the default, "cuda" or "auto",
// which is cuda in a program that was built for it, on a machine that has a device,
// and cpu elsewhere.
// Kernels is a folder of gorgonia's kernels, which gpu/cuda/kernels makes, and which
// cuda needs. Close comes after the loaders are closed.
//
// The memory is page-locked where there is a CUDA device, whatever runs the nets.
func Open(device, kernels string) (_ *Backend, err error) {
	b := &Backend{}
	switch device {
	case "cpu", "":
		if gorgonia.CUDA {
			return nil, errors.New("net: device cpu: built with the tag cuda, gorgonia has no VM for the processor")
		}
	case "cuda", "auto":
		missing := cuda.Available()
		if missing != nil && (device == "cuda" || gorgonia.CUDA) { // built for a device, there is no VM for the processor
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
	if b.Memory, err = gpu.Auto(); err != nil {
		return nil, err
	}
	return b, nil
}

// machine makes the one VM that a graph has: a new one per step would leak.
func (b *Backend) machine(g *gorgonia.ExprGraph, weights gorgonia.Nodes, learn bool) (gorgonia.VM, error) {
	switch {
	case b.onDevice:
		vm, err := cuda.New(g)
		if err != nil {
			return nil, err // not a nil *VM in an interface
		}
		return vm, nil
	case learn:
		return gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(weights...)), nil
	default:
		return gorgonia.NewTapeMachine(g), nil
	}
}

// String is where nets run.
func (b *Backend) String() string {
	if b.onDevice {
		return "gorgonia's VM for CUDA"
	}
	return "gorgonia's VM for the processor"
}

// Close gives the memory back.
func (b *Backend) Close() error { return b.Memory.Close() }
