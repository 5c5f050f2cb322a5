//go:build cuda

package cuda_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/gpu/cuda"
	"github.com/penstock-go/penstock/gpu/feed"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/tensors"
)

func TestBoundSlabsTrainAsByHandAndAreCopiedOnceFromWhereTheyLie(t *testing.T) {
	needDevice(t)
	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(rows, width), gorgonia.WithName("x"))
	y := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(rows, outputs), gorgonia.WithName("y"))
	p := newPerceptron(t, g, x, y)
	vm := newVM(t, g)
	device, err := gpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	closed(t, device)
	l := newLoader(t, rows*5, loader.Memory(pinned(t, device)))
	f, err := feed.New(vm, feed.Bind("x", x), feed.Bind("y", y))
	if err != nil {
		t.Fatal(err)
	}
	var losses []float64
	var batches [][]int
	seen := 0
	for b, err := range f.Run(l.Epochs(t.Context(), 0, steps/5)) {
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, p.step())
		batches = append(batches, slices.Clone(b.Indices()))
		if fake.missing != nil {
			continue
		}
		all := uploads()
		for _, field := range []string{"x", "y"} {
			slab := tensors.Of(b, field)
			n := 0
			for _, u := range all[seen:] {
				if uintptr(u[0]) == slab.Uintptr() && u[2] == uint64(slab.MemSize()) {
					n++
				}
			}
			if n != 1 {
				t.Fatalf("batch %d: field %s was copied %d times from its slab, want once", b.Number(), field, n)
			}
		}
		seen = len(all)
	}
	compare(t, losses, batches)
}

func TestStagedBatchesTrainAsByHandWithoutAnotherCopy(t *testing.T) {
	needDevice(t)
	g := gorgonia.NewGraph()
	x, err := cuda.NewInput(g, "x", tensor.Float32, rows, width)
	if err != nil {
		t.Fatal(err)
	}
	y, err := cuda.NewInput(g, "y", tensor.Float32, rows, outputs)
	if err != nil {
		t.Fatal(err)
	}
	p := newPerceptron(t, g, x.Node(), y.Node())
	vm := newVM(t, g)
	device, err := vm.Device()
	if err != nil {
		t.Fatal(err)
	}
	closed(t, device)
	memory := &recorder{Pinned: pinned(t, device)}
	l := newLoader(t, rows*5, loader.Memory(memory))
	stage, err := gpu.NewStage(device, l)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, stage)
	var losses []float64
	var batches [][]int
	for b, err := range vm.Run(stage.Epochs(t.Context(), 0, steps/5), x, y) {
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, p.step())
		batches = append(batches, slices.Clone(b.Indices()))
	}
	compare(t, losses, batches)
	if fake.missing != nil {
		return
	}
	if got := fake.Calls("cuMemcpyHtoDAsync_v2"); got != 2*steps {
		t.Errorf("the stage copied %d times, want %d", got, 2*steps)
	}
	if got := memory.copies(uploads()); got != 2*steps {
		t.Errorf("batches were copied %d times in all, want %d", got, 2*steps)
	}
}

// chain adds 1 to x so many times, with a flush after every so many.
func chain(t *testing.T, x *gorgonia.Node, additions, flush int) *gorgonia.Node {
	t.Helper()
	for i := range additions {
		x = gorgonia.Must(gorgonia.Add(x, gorgonia.NewConstant(float32(1))))
		if flush > 0 && i%flush == flush-1 {
			var err error
			if x, err = cuda.Flush(x); err != nil {
				t.Fatal(err)
			}
		}
	}
	return x
}

func TestLongChainsNeedFlushes(t *testing.T) {
	needDevice(t)
	for _, test := range []struct {
		additions, flush int
		refused          bool
	}{{20, 0, false}, {22, 0, true}, {60, 15, false}, {60, 30, true}} {
		g := gorgonia.NewGraph()
		x := gorgonia.NewVector(g, tensor.Float32, gorgonia.WithShape(3), gorgonia.WithName("x"),
			gorgonia.WithValue(tensor.New(tensor.WithBacking([]float32{1, 2, 3}))))
		var got gorgonia.Value
		gorgonia.Read(chain(t, x, test.additions, test.flush), &got)
		vm, err := cuda.New(g)
		if test.refused {
			if err == nil || !strings.Contains(err.Error(), "add a Flush before it") {
				t.Errorf("%+v: got %v", test, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := vm.RunAll(); err != nil {
			t.Errorf("%+v: %v", test, err)
		} else if v := got.Data().([]float32); v[2] != float32(3+test.additions) {
			t.Errorf("%+v: got %v, want %d", test, v[2], 3+test.additions)
		}
		if err := vm.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestGradientsPassFlushes: d/dx of sum((x+1)²) is 2(x+1), flushed or not.
func TestGradientsPassFlushes(t *testing.T) {
	needDevice(t)
	g := gorgonia.NewGraph()
	x := gorgonia.NewVector(g, tensor.Float32, gorgonia.WithShape(3), gorgonia.WithName("x"),
		gorgonia.WithValue(tensor.New(tensor.WithBacking([]float32{1, 2, 3}))))
	sum := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(chain(t, x, 1, 1)))))
	gradients, err := gorgonia.Grad(sum, x)
	if err != nil {
		t.Fatal(err)
	}
	var got gorgonia.Value
	gorgonia.Read(gradients[0], &got)
	vm := newVM(t, g)
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	if v := got.Data().([]float32); !slices.Equal(v, []float32{4, 6, 8}) {
		t.Errorf("got %v, want 4, 6, 8", v)
	}
}

func TestVMsThatCannotBeMadeSayWhy(t *testing.T) {
	graph := func(n int) *gorgonia.ExprGraph {
		g := gorgonia.NewGraph()
		x := gorgonia.NewVector(g, tensor.Float32, gorgonia.WithShape(n), gorgonia.WithName("x"))
		gorgonia.Must(gorgonia.Square(x))
		return g
	}
	for _, test := range []struct {
		call string
		nth  int64
	}{{"cuDeviceGetCount", 1}, {"cuDeviceGet", 1}, {"cuMemGetInfo_v2", 1}, {"cuCtxCreate_v2", 1}, {"cuCtxCreate_v2", 2}} {
		t.Run(fmt.Sprint(test.call, test.nth), func(t *testing.T) {
			needFake(t)
			fake.Fail(test.call, test.nth, 2)
			if vm, err := cuda.New(graph(3)); vm != nil || err == nil || !strings.HasPrefix(err.Error(), "cuda: ") {
				t.Errorf("got %v, %v", vm, err)
			}
		})
	}
	needFake(t)
	const most = 1 << 28 // of the fake's 4 GiB, 2.5 times 4 bytes for the input and for its square
	if _, err := cuda.New(graph(most)); err == nil || !strings.Contains(err.Error(), " are free") {
		t.Errorf("too little memory: got %v", err)
	}
	processor := gorgonia.NewGraph()
	gorgonia.Must(gorgonia.Sum(gorgonia.NewVector(processor, tensor.Float32, gorgonia.WithShape(3), gorgonia.WithName("x"))))
	if _, err := cuda.New(processor); err == nil || !strings.Contains(err.Error(), "no operation of the graph runs on a device") {
		t.Errorf("nothing to do: got %v", err)
	}
}

func TestClosedVMsAndShortBatchesAreErrors(t *testing.T) {
	needDevice(t)
	g := gorgonia.NewGraph()
	x, err := cuda.NewInput(g, "x", tensor.Float32, rows, width)
	if err != nil {
		t.Fatal(err)
	}
	one := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(width, 1), gorgonia.WithName("one"), gorgonia.WithInit(gorgonia.Ones()))
	gorgonia.Must(gorgonia.Mul(x.Node(), one))
	vm, err := cuda.New(g)
	if err != nil {
		t.Fatal(err)
	}
	if err := vm.RunAll(); err == nil || !strings.Contains(err.Error(), `input "x" has no value`) {
		t.Errorf("without values: got %v", err)
	}
	vm.Reset()
	options := make([]gpu.Option, 0, 2) // room that is the caller's
	device, err := vm.Device(options...)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.ValueOf(options[:2][0]).IsZero() {
		t.Error("Device wrote into its caller's options")
	}
	memory, err := device.Pinned()
	if err != nil {
		t.Fatal(err)
	}
	l, err := loader.New(samples(rows+3), loader.BatchSize(rows), loader.Memory(memory))
	if err != nil {
		t.Fatal(err)
	}
	stage, err := gpu.NewStage(device, l)
	if err != nil {
		t.Fatal(err)
	}
	ran, failed := 0, error(nil)
	for _, err := range vm.Run(stage.Epoch(t.Context(), 0), x) {
		if err != nil {
			failed = err
			continue
		}
		ran++
		for _, again := range vm.Run(stage.Epoch(t.Context(), 0), x) {
			if again == nil || !strings.Contains(again.Error(), "another loop runs over the VM") {
				t.Errorf("a second loop: got %v", again)
			}
		}
	}
	if ran != 1 || failed == nil || !strings.Contains(failed.Error(), "cuda: batch 1 of epoch 0: ") {
		t.Errorf("got %d batches and %v; want 1 and the short one's error", ran, failed)
	}
	for _, err := range []error{stage.Close(), l.Close(), memory.Close(), device.Close(), vm.Close(), vm.Close()} {
		if err != nil {
			t.Error(err)
		}
	}
	if err := vm.RunAll(); !errors.Is(err, gpu.ErrClosed) || err.Error() != "cuda: run: closed" {
		t.Errorf("closed: got %v, want cuda: run: closed", err)
	}
	if _, err := vm.Device(); !errors.Is(err, gpu.ErrClosed) {
		t.Errorf("closed: Device: got %v", err)
	}
}
