//go:build cuda

package cuda_test

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/penstock-go/penstock/gpu/cuda"
)

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
