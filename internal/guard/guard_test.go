package guard_test

import (
	"runtime"
	"runtime/debug"
	"testing"
	"unsafe"

	"github.com/penstock-go/penstock/internal/guard"
)

// TestBothSidesAreFenced touches the bytes next to the memory, which must be a fault.
func TestBothSidesAreFenced(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("no forbidden pages here")
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for _, n := range []int{1, 3, 4096, 5000} {
		fence := guard.New[uint16](t, n)
		for side := range guard.Sides {
			m := fence.At(side, n)
			if len(m) != n || cap(m) != n {
				t.Fatalf("%d values with room for %d, want %d", len(m), cap(m), n)
			}
			for i := range m {
				m[i]++
			}
			beyond := -1
			if side == 1 {
				beyond = 2 * n
			}
			if !faults((*byte)(unsafe.Add(unsafe.Pointer(&m[0]), beyond))) {
				t.Errorf("%d values, side %d: no fault at byte %d", n, side, beyond)
			}
		}
	}
}

func faults(at *byte) (fault bool) {
	defer func() { fault = recover() != nil }()
	*at++
	return false
}
