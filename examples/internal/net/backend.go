package net

import (
	"gorgonia.org/gorgonia"

	"github.com/penstock-go/penstock/gpu"
)

// A Backend is where nets run and where the batches for them lie. Everything
// that depends on the machine is here.
type Backend struct {
	Memory gpu.Memory // for the loaders
}

// Open takes page-locked memory where there is a CUDA device, and Go's own where
// there is none. The VM is gorgonia's for the processor. Close comes after the
// loaders are closed.
func Open() (*Backend, error) {
	memory, err := gpu.Auto()
	if err != nil {
		return nil, err
	}
	return &Backend{Memory: memory}, nil
}

// machine makes the one VM that a graph has: a new one per step would leak.
func (b *Backend) machine(g *gorgonia.ExprGraph, weights gorgonia.Nodes, learn bool) gorgonia.VM {
	if !learn {
		return gorgonia.NewTapeMachine(g)
	}
	return gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(weights...))
}

// Close gives the memory back.
func (b *Backend) Close() error { return b.Memory.Close() }
