//go:build cuda

package cuda_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"
	"weak"

	"gorgonia.org/cu"
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
	stage, err := gpu.NewStage(device, l, gpu.Fields("x"))
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

// TestAVMDoesNotCloseUnderItsDevicesMemory: destroying its context would unmap slabs that
// workers write to.
func TestAVMDoesNotCloseUnderItsDevicesMemory(t *testing.T) {
	needDevice(t)
	g, _ := linear(t)
	vm, err := cuda.New(g)
	if err != nil {
		t.Fatal(err)
	}
	device, err := vm.Device()
	if err != nil {
		t.Fatal(err)
	}
	memory, err := device.Pinned()
	if err != nil {
		t.Fatal(err)
	}
	slab, err := memory.Alloc(4096)
	if err != nil {
		t.Fatal(err)
	}
	if err := vm.Close(); err == nil || !strings.Contains(err.Error(), "1 of its stages and memories are still open") {
		t.Errorf("got %v", err)
	}
	for i := range slab {
		slab[i] = byte(i)
	}
	if err := vm.RunAll(); err != nil { // it is still there
		t.Error(err)
	}
	for _, err := range []error{memory.Free(slab), memory.Close(), vm.Close(), vm.Close(), device.Close()} {
		if err != nil {
			t.Error(err)
		}
	}
}

// finalizers reports whether the process still runs finalizers.
func finalizers() bool {
	ran := make(chan struct{})
	func() {
		p := &struct{ big [64]int }{}
		runtime.SetFinalizer(p, func(any) { close(ran) })
	}()
	for begun := time.Now(); time.Since(begun) < time.Minute; {
		runtime.GC()
		select {
		case <-ran:
			return true
		default:
			runtime.Gosched()
		}
	}
	return false
}

// TestDroppedVMsStopNoFinalizers: gorgonia's finalizer closes the VM. As the VM's
// goroutine has ended, it would wait for ever, and with it all other finalizers.
func TestDroppedVMsStopNoFinalizers(t *testing.T) {
	if fake.missing != nil {
		t.Skip(fake.missing)
	}
	func() {
		g, _ := linear(t)
		vm, err := cuda.New(g)
		if err != nil {
			t.Fatal(err)
		}
		fake.Fail("cublasSgemv_v2", 1, 1)
		if err := vm.RunAll(); err == nil {
			t.Error("got no error")
		}
		if err := vm.Close(); err != nil {
			t.Error(err)
		}
	}()
	for range 3 {
		if !finalizers() {
			t.Fatal("no finalizer runs any more")
		}
	}
}

// TestGorgoniaFinalizesNoVMThatWasNotClosed is the reason why no test shows that a dropped VM
// stops all finalizers, as it would: gorgonia's goroutine that collects work holds the VM,
// and never ends, so that the finalizer never runs. This test fails when gorgonia corrects
// that; TestDroppedVMsStopNoFinalizers then shows that ours stop none.
func TestGorgoniaFinalizesNoVMThatWasNotClosed(t *testing.T) {
	if fake.missing != nil {
		t.Skip(fake.missing)
	}
	g, _ := linear(t)
	vm := gorgonia.NewTapeMachine(g)
	reachable := weak.Make(vm)
	vm = nil
	for range 5 {
		runtime.GC()
	}
	if reachable.Value() == nil {
		t.Error("the VM can be finalized")
	}
}

// onThreads runs f on so many threads at once that all idle ones of the Go runtime are among
// them, and returns when all have.
func onThreads(f func()) {
	const threads = 200
	var ran, ended sync.WaitGroup
	ran.Add(threads)
	for range threads {
		ended.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			f()
			ran.Done()
			ran.Wait()
		})
	}
	ended.Wait()
}

// contexts returns the contexts that idle threads have, destroyed ones included.
func contexts() map[uintptr]bool {
	var mu sync.Mutex
	all := map[uintptr]bool{}
	onThreads(func() {
		mu.Lock()
		defer mu.Unlock()
		all[fake.Current()] = true
	})
	return all
}

// TestGorgoniaLeavesItsContextOnThreads: its tape executes flushes on a goroutine of its own,
// which is locked to no thread. Nothing outside gorgonia reaches that thread. So the context
// stays current there when Close has destroyed it. This test fails when gorgonia corrects that.
func TestGorgoniaLeavesItsContextOnThreads(t *testing.T) {
	needFake(t)
	before := contexts()
	for range 20 {
		g, _ := linear(t)
		vm, err := cuda.New(g)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{vm.RunAll(), vm.Close()} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	left := 0
	for context := range contexts() {
		if !before[context] {
			left++
		}
	}
	if left == 0 {
		t.Error("no thread has the context of a closed VM: gpu/README.md says otherwise")
	}
}

// runLinear runs linear's graph on a VM of its own, and checks the result.
func runLinear(t *testing.T) {
	t.Helper()
	g, got := linear(t)
	vm, err := cuda.New(g)
	if err != nil {
		t.Fatal(err)
	}
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	if v := (*got).Data().([]float32); !slices.Equal(v, []float32{-6, -15}) {
		t.Errorf("got %v, want -6, -15", v)
	}
	if err := vm.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestVMsWorkOnThreadsWithADestroyedContext: after the test above every thread may have one.
// What the VM does on a thread of the Go runtime must bind its own context first.
func TestVMsWorkOnThreadsWithADestroyedContext(t *testing.T) {
	needFake(t)
	for range 5 {
		handle := fake.Context(0)
		onThreads(func() {
			if err := cu.SetCurrentContext(*(*cu.CUContext)(unsafe.Pointer(&handle))); err != nil {
				t.Error(err)
			}
		})
		fake.EndContext(handle)
		if !contexts()[handle] {
			t.Fatal("no thread has the destroyed context")
		}
		runLinear(t)
	}
}

// TestAVMWorksAfterAnotherWasClosed, on threads on which the other's context, which
// is destroyed, may be current.
func TestAVMWorksAfterAnotherWasClosed(t *testing.T) {
	needDevice(t)
	for range 30 {
		runLinear(t)
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
