package gpu

import (
	"errors"
	"runtime"
	"sync"
	"testing"
)

// The dynamic linker keeps its message per thread. A goroutine that moved to another thread after the failure, before it
// read the message, found none; a missing driver was then not ErrNoDevice.
func TestAMissingDriverIsNoDeviceInAnyGoroutine(t *testing.T) {
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for range 500 {
				_, err := load("libpenstock-missing.so.1", false)
				if !errors.Is(err, ErrNoDevice) {
					t.Errorf("got %v, want ErrNoDevice", err)
					return
				}
				runtime.Gosched()
			}
		})
	}
	group.Wait()
}
