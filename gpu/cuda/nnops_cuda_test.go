//go:build cuda

package cuda_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	nnops "gorgonia.org/gorgonia/ops/nn"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/gpu/cuda"
	"github.com/penstock-go/penstock/loader"
)

// plane is an input of shape (1, 1, 2, 2).
func plane(g *gorgonia.ExprGraph) *gorgonia.Node {
	v := tensor.New(tensor.WithShape(1, 1, 2, 2), tensor.WithBacking([]float32{-1, 2, -3, 4}))
	return gorgonia.NewTensor(g, tensor.Float32, 4, gorgonia.WithShape(1, 1, 2, 2), gorgonia.WithName("x"), gorgonia.WithValue(v))
}

// TestTheRectifierOfCuDNNIsRightAfterAFlush: cuDNN's calls do not wait in the queue, and
// gorgonia makes them on a thread that may have any context.
func TestTheRectifierOfCuDNNIsRightAfterAFlush(t *testing.T) {
	needDevice(t)
	g := gorgonia.NewGraph()
	x := plane(g)
	y := gorgonia.Must(nnops.Rectify(gorgonia.Must(cuda.Flush(gorgonia.Must(gorgonia.Neg(x))))))
	gradients, err := gorgonia.Grad(gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(y)))), x)
	if err != nil {
		t.Fatal(err)
	}
	var value, gradient gorgonia.Value
	gorgonia.Read(y, &value)
	gorgonia.Read(gradients[0], &gradient)
	vm := newVM(t, g)
	for range 3 {
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		if v := value.Data().([]float32); !slices.Equal(v, []float32{1, 0, 3, 0}) {
			t.Errorf("got %v, want 1, 0, 3, 0", v)
		}
		if v := gradient.Data().([]float32); v[0] != -2 || v[1] != 0 || v[2] != -6 || v[3] != 0 {
			t.Errorf("gradient: got %v, want -2, 0, -6, 0", v)
		}
		vm.Reset()
	}
}

func TestGraphsThatGorgoniaComputesWronglyAreRefused(t *testing.T) {
	needDevice(t)
	for says, build := range map[string]func(x *gorgonia.Node) (*gorgonia.Node, error){
		"before its operands are complete: add a Flush": func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return nnops.Rectify(gorgonia.Must(gorgonia.Neg(x)))
		},
		"use gorgonia.BatchNorm": func(x *gorgonia.Node) (*gorgonia.Node, error) {
			y, _, _, _, err := nnops.BatchNorm(x, nil, nil, 0.9, 1e-5)
			return y, err
		},
	} {
		g := gorgonia.NewGraph()
		if _, err := build(plane(g)); err != nil {
			t.Errorf("%s: %v", says, err)
			continue
		}
		if vm, err := cuda.New(g); vm != nil || err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %s", err, says)
		}
	}
}

// TestCuDNNWorksInTheVMsContextAfterAnInput: the queue is empty there, so only the Input
// has bound the context to the thread.
func TestCuDNNWorksInTheVMsContextAfterAnInput(t *testing.T) {
	needDevice(t)
	g := gorgonia.NewGraph()
	x, err := cuda.NewInput(g, "x", tensor.Float32, rows, 1, 1, width)
	if err != nil {
		t.Fatal(err)
	}
	y := gorgonia.Must(nnops.Rectify(x.Node()))
	gorgonia.NewScalar(g, tensor.Float32, gorgonia.WithName("unused"), gorgonia.WithValue(float32(0)))
	var value gorgonia.Value
	gorgonia.Read(y, &value)
	vm := newVM(t, g)
	device, err := vm.Device()
	if err != nil {
		t.Fatal(err)
	}
	closed(t, device)
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Float32, Shape: dataset.Shape{1, 1, width}}}
	ds := dataset.Func(rows, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		v, _ := sample(i)
		copy(dataset.Row[float32](dst, 0), v[:])
		return nil
	})
	l, err := loader.New(ds, loader.BatchSize(rows), loader.Memory(pinned(t, device)))
	if err != nil {
		t.Fatal(err)
	}
	closed(t, l)
	stage, err := gpu.NewStage(device, l)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, stage)
	for b, err := range vm.Run(stage.Epochs(t.Context(), 0, 3), x) {
		if err != nil {
			t.Fatal(err)
		}
		for row, i := range b.Indices() {
			v, _ := sample(i)
			for k, got := range value.Data().([]float32)[row*width:][:width] {
				if got != max(v[k], 0) {
					t.Fatalf("sample %d: got %v of %v", i, got, v[k])
				}
			}
		}
	}
}
