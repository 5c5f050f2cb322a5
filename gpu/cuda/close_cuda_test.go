//go:build cuda

package cuda_test

import (
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"gorgonia.org/gorgonia"

	"github.com/penstock-go/penstock/gpu/cuda"
)

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
