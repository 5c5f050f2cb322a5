//go:build cuda

package cuda_test

import (
	"fmt"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/gpu/cuda"
	driver "github.com/penstock-go/penstock/gpu/internal/fake"
	"github.com/penstock-go/penstock/loader"
)

// TestValuesOverAnInputSayThatTheyAreOnTheDevice: the processor cannot read a batch in
// device memory, nor a result that overwrites it. gorgonia.Read copies both.
func TestValuesOverAnInputSayThatTheyAreOnTheDevice(t *testing.T) {
	needDevice(t)
	g := gorgonia.NewGraph()
	x, err := cuda.NewInput(g, "x", tensor.Float32, rows, width)
	if err != nil {
		t.Fatal(err)
	}
	square := gorgonia.Must(gorgonia.Square(x.Node()))
	var read gorgonia.Value
	gorgonia.Read(square, &read)
	gorgonia.NewScalar(g, tensor.Float32, gorgonia.WithName("unused"), gorgonia.WithValue(float32(0)))
	vm := newVM(t, g)
	device, err := vm.Device()
	if err != nil {
		t.Fatal(err)
	}
	closed(t, device)
	l := newLoader(t, rows*2, loader.Memory(pinned(t, device)))
	stage, err := gpu.NewStage(device, l)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, stage)
	for b, err := range vm.Run(stage.Epochs(t.Context(), 0, 2), x) {
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []*gorgonia.Node{x.Node(), square} {
			v := n.Value()
			if v == nil {
				continue
			}
			if got, want := fmt.Sprint(v), fmt.Sprintf("float32 of shape (%d, %d) on the device", rows, width); n == x.Node() && got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			func() {
				defer func() {
					if p := recover(); p != nil && !strings.Contains(fmt.Sprint(p), "gorgonia.Read") {
						t.Errorf("got %v", p)
					} else if p == nil && n == x.Node() {
						t.Error("the batch could be read")
					}
				}()
				data := v.Data().([]float32)
				_ = data[0]
			}()
		}
		values, _ := sample(b.Indices()[0])
		if got := read.Data().([]float32)[1]; got != values[1]*values[1] {
			t.Errorf("read: got %v, want %v", got, values[1]*values[1])
		}
	}
}

// TestOperationsWithoutAKernelAreRefused: gorgonia would compute them on the processor,
// from other memory.
func TestOperationsWithoutAKernelAreRefused(t *testing.T) {
	needDevice(t)
	g := gorgonia.NewGraph()
	gorgonia.Must(gorgonia.Square(gorgonia.NewVector(g, tensor.Float32, gorgonia.WithShape(3), gorgonia.WithName("x"))))
	err := cuda.CheckKernels(g, func(name string) bool { return name != "elemunaryop.square_f32" })
	if err == nil || !strings.Contains(err.Error(), "has added no kernel square_f32") {
		t.Errorf("got %v", err)
	}
	if err := cuda.CheckKernels(g, func(name string) bool { return name == "elemunaryop.square_f32" }); err != nil {
		t.Error(err)
	}
}

func TestOptionsThatWouldHangOrLoseTheContextAreRefused(t *testing.T) {
	needDevice(t)
	for says, option := range map[string]gorgonia.VMOpt{
		"TraceExec": gorgonia.TraceExec(), "WithNaNWatch, WithInfWatch": gorgonia.WithNaNWatch(), ", WithInfWatch": gorgonia.WithInfWatch(),
	} {
		g, _ := linear(t)
		if vm, err := cuda.New(g, option); vm != nil || err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
}

// TestARunWaitsForItsOwnWorkAlone: a Stage's copies, and all other work in the context,
// may continue.
func TestARunWaitsForItsOwnWorkAlone(t *testing.T) {
	needFake(t)
	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(2, 2), gorgonia.WithName("x"), gorgonia.WithInit(gorgonia.Ones()))
	gorgonia.Must(gorgonia.Mul(x, x))
	vm := newVM(t, g)
	before := fake.Calls("cuCtxSynchronize")
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	if n := fake.Calls("cuCtxSynchronize") - before; n != 0 {
		t.Errorf("the whole context was waited for %d times", n)
	}
}

func TestARunInALostContextEndsWithAnError(t *testing.T) {
	if fake.missing != nil {
		t.Skip(fake.missing)
	}
	g, _ := linear(t)
	vm, err := cuda.New(g)
	if err != nil {
		t.Fatal(err)
	}
	fake.Poison(driver.IllegalAddress, 1)
	for range 2 {
		if err := vm.RunAll(); err == nil {
			t.Error("got no error")
		}
		vm.Reset()
	}
	vm.Close() // says what it will
}
