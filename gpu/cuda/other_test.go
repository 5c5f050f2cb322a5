//go:build !cuda

package cuda_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/gpu/cuda"
)

func TestWithoutTheTagEverythingSaysThatThereIsNoDevice(t *testing.T) {
	g := gorgonia.NewGraph()
	x := gorgonia.NewVector(g, tensor.Float32, gorgonia.WithShape(3), gorgonia.WithName("x"))
	vm, made := cuda.New(g)
	_, input := cuda.NewInput(g, "y", tensor.Float32, 3)
	_, device := vm.Device()
	var loop error
	for _, loop = range vm.Run(nil) {
	}
	for call, err := range map[string]error{
		"Available": cuda.Available(), "New": made, "NewInput": input, "AddKernels": cuda.AddKernels(fstest.MapFS{}),
		"Device": device, "RunAll": vm.RunAll(), "Run": loop,
	} {
		if !errors.Is(err, gpu.ErrNoDevice) || !strings.Contains(err.Error(), "without the tag cuda") {
			t.Errorf("%s: got %v", call, err)
		}
	}
	vm.Reset()
	if err := vm.Close(); err != nil {
		t.Errorf("Close: got %v", err)
	}
	if len(g.AllNodes()) != 1 {
		t.Errorf("the graph has %d nodes, want x alone", len(g.AllNodes()))
	}
	if n, err := cuda.Flush(x); n != x || err != nil {
		t.Errorf("Flush: got %v, %v; want x", n, err)
	}
}
