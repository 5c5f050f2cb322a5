//go:build cuda

package cuda_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/gpu/cuda"
	driver "github.com/penstock-go/penstock/gpu/internal/fake"
	"github.com/penstock-go/penstock/loader"
)

// TestInputsFeedOperationsOfAllTypes: gorgonia overwrites the operands of elementwise
// operations with the results, and copies the operands of operations that run on the
// processor.
func TestInputsFeedOperationsOfAllTypes(t *testing.T) {
	must := gorgonia.Must
	sum := func(n *gorgonia.Node) *gorgonia.Node { return must(gorgonia.Sum(n)) }
	flush := func(n *gorgonia.Node) *gorgonia.Node { return must(cuda.Flush(n)) }
	one := gorgonia.NewConstant(float32(1))
	for name, test := range map[string]struct {
		build func(x *gorgonia.Node) *gorgonia.Node
		want  func(x float64) float64 // of an element, to be summed up
	}{
		"unary":           {func(x *gorgonia.Node) *gorgonia.Node { return sum(must(gorgonia.Square(x))) }, func(x float64) float64 { return x * x }},
		"processor alone": {func(x *gorgonia.Node) *gorgonia.Node { return sum(must(gorgonia.Add(sum(x), one))) }, nil},
		"scalar":          {func(x *gorgonia.Node) *gorgonia.Node { return sum(must(gorgonia.Sub(one, x))) }, func(x float64) float64 { return 1 - x }},
		"used twice": {func(x *gorgonia.Node) *gorgonia.Node {
			return sum(must(gorgonia.Add(must(gorgonia.Square(x)), x)))
		}, func(x float64) float64 { return x*x + x }},
		"used after": {func(x *gorgonia.Node) *gorgonia.Node {
			y := must(gorgonia.Square(must(gorgonia.Square(x))))
			return sum(must(gorgonia.Add(y, x)))
		}, func(x float64) float64 { return x*x*x*x + x }},
		"flushed": {func(x *gorgonia.Node) *gorgonia.Node {
			y := flush(x)
			return sum(must(gorgonia.Sub(must(gorgonia.Square(y)), flush(y))))
		}, func(x float64) float64 { return x*x - x }},
		"inverses": {func(x *gorgonia.Node) *gorgonia.Node {
			y := must(gorgonia.Add(must(gorgonia.Square(x)), one))
			return sum(must(gorgonia.Add(must(gorgonia.Inverse(y)), must(gorgonia.InverseSqrt(y)))))
		}, func(x float64) float64 { return 1/(x*x+1) + 1/math.Sqrt(x*x+1) }},
		"reshaped": {func(x *gorgonia.Node) *gorgonia.Node {
			return sum(must(gorgonia.Square(must(gorgonia.Reshape(x, tensor.Shape{width, rows})))))
		}, func(x float64) float64 { return x * x }},
	} {
		t.Run(name, func(t *testing.T) {
			needDevice(t)
			g := gorgonia.NewGraph()
			x, err := cuda.NewInput(g, "x", tensor.Float32, rows, width)
			if err != nil {
				t.Fatal(err)
			}
			// a graph needs an input of gorgonia's
			bias := gorgonia.NewScalar(g, tensor.Float32, gorgonia.WithName("bias"), gorgonia.WithValue(float32(0.5)))
			var got gorgonia.Value
			gorgonia.Read(must(gorgonia.Add(test.build(x.Node()), bias)), &got)
			vm := newVM(t, g)
			device, err := vm.Device()
			if err != nil {
				t.Fatal(err)
			}
			closed(t, device)
			l := newLoader(t, rows*3, loader.Memory(pinned(t, device)))
			stage, err := gpu.NewStage(device, l)
			if err != nil {
				t.Fatal(err)
			}
			closed(t, stage)
			n := 0
			for b, err := range vm.Run(stage.Epochs(t.Context(), 0, 2), x) {
				if err != nil {
					t.Fatal(err)
				}
				n++
				want := 0.5
				for _, i := range b.Indices() {
					values, _ := sample(i)
					for _, v := range values {
						if test.want != nil {
							want += test.want(float64(v))
						} else {
							want += float64(v)
						}
					}
				}
				if test.want == nil {
					want++
				}
				if v := float64(got.Data().(float32)); v < want-1e-3 || v > want+1e-3 {
					t.Errorf("batch %d: got %v, want %v", b.Number(), v, want)
				}
			}
			if n != 6 {
				t.Errorf("got %d batches, want 6", n)
			}
		})
	}
}

// linear is a graph of a matrix times a vector of ones.
func linear(t *testing.T) (*gorgonia.ExprGraph, *gorgonia.Value) {
	t.Helper()
	g := gorgonia.NewGraph()
	ones := func(n int) gorgonia.NodeConsOpt {
		v := tensor.New(tensor.Of(tensor.Float32), tensor.WithShape(n))
		v.Memset(float32(1))
		return gorgonia.WithValue(v)
	}
	m := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(2, 3), gorgonia.WithName("m"),
		gorgonia.WithValue(tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]float32{1, 2, 3, 4, 5, 6}))))
	v := gorgonia.NewVector(g, tensor.Float32, gorgonia.WithShape(3), gorgonia.WithName("v"), ones(3))
	var got gorgonia.Value
	gorgonia.Read(gorgonia.Must(gorgonia.Neg(gorgonia.Must(gorgonia.Mul(m, v)))), &got)
	return g, &got
}

// TestGradientsOfBindDualValuesAreWrong is the reason why New's comment says to read the
// nodes of the gradients. The test fails when gorgonia corrects this.
func TestGradientsOfBindDualValuesAreWrong(t *testing.T) {
	needDevice(t)
	g := gorgonia.NewGraph()
	x := gorgonia.NewVector(g, tensor.Float32, gorgonia.WithShape(3), gorgonia.WithName("x"),
		gorgonia.WithValue(tensor.New(tensor.WithBacking([]float32{1, 2, 3}))))
	gradients, err := gorgonia.Grad(gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(x)))), x)
	if err != nil {
		t.Fatal(err)
	}
	var read gorgonia.Value
	gorgonia.Read(gradients[0], &read)
	vm, err := cuda.New(g, gorgonia.BindDualValues(x))
	if err != nil {
		t.Fatal(err)
	}
	closed(t, vm)
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	if v := read.Data().([]float32); !slices.Equal(v, []float32{2, 4, 6}) {
		t.Errorf("read: got %v, want 2, 4, 6", v)
	}
	bound, err := x.Grad()
	if err != nil {
		t.Fatal(err)
	}
	if v := bound.Data().([]float32); !slices.Equal(v, []float32{0, 0, 0}) {
		t.Errorf("bound: got %v, which used to be 0, 0, 0", v)
	}
}

func TestARunAfterAFailedLaunchIsRight(t *testing.T) {
	needFake(t)
	g, got := linear(t)
	vm := newVM(t, g)
	fake.Fail("cuLaunchKernel", 1, driver.OSError)
	if err := vm.RunAll(); err == nil || !strings.HasPrefix(err.Error(), "cuda: run: ") {
		t.Errorf("got %v", err)
	}
	vm.Reset()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	if v := (*got).Data().([]float32); !slices.Equal(v, []float32{-6, -15}) {
		t.Errorf("got %v, want -6, -15", v)
	}
}

// TestARunAfterAFailedProductIsRight: gorgonia's own goroutine for the device would end, and
// the next run and Close would wait for ever.
func TestARunAfterAFailedProductIsRight(t *testing.T) {
	needFake(t)
	g, got := linear(t)
	vm := newVM(t, g)
	fake.Fail("cublasSgemv_v2", 1, 1)
	if err := vm.RunAll(); err == nil || !strings.HasPrefix(err.Error(), "cuda: run: ") {
		t.Errorf("got %v", err)
	}
	vm.Reset()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	if v := (*got).Data().([]float32); !slices.Equal(v, []float32{-6, -15}) {
		t.Errorf("got %v, want -6, -15", v)
	}
}
