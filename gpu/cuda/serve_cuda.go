//go:build cuda

package cuda

import (
	"errors"
	"runtime"

	"gorgonia.org/cu"
	cublas "gorgonia.org/cu/blas"
)

// errEnd ends gorgonia's goroutine for the device.
var errEnd = errors.New("the VM is closed")

// takeOver makes gorgonia's goroutine for the device call serve until close. gorgonia's own
// loop ends after the first error, and whoever then gives it work waits for ever. It also
// reads the context's fields while gorgonia's Close writes to them.
//
// takeOver returns the error of making cuBLAS's handle again. The goroutine serves in any
// case.
func (m *machine) takeOver() (err error) {
	m.stop = make(chan struct{})
	ctx := m.batched()
	ctx.Do(func() error {
		runtime.LockOSThread() // one more lock than gorgonia unlocks: the thread ends with its goroutine
		err = m.repairBLAS()
		ctx.ErrChan() <- nil // Do returns
		m.serve(ctx)
		m.left = m.closeLibraries()
		return errEnd
	})
	return err
}

// serve does the VM's work on the device's thread until the VM is closed.
func (m *machine) serve(ctx *cu.BatchedContext) {
	for {
		select {
		case <-ctx.WorkAvailable():
			ctx.DoWork() // whose errors the VM reads from ctx
		case work := <-ctx.Work():
			ctx.ErrChan() <- work()
		case <-m.stop:
			return
		}
	}
}

// repairBLAS makes cuBLAS's handle again, in the VM's context. gorgonia makes it on a thread
// that has another context or none. The old handle is destroyed in the context in which it
// was made, because that is still the thread's context. The new one has no error: gorgonia's
// keeps its first error, and does nothing from then on.
func (m *machine) repairBLAS() error {
	ctx, blas := m.batched(), m.engine().BLASContext()
	if err := blas.Close(); err != nil {
		return err
	}
	if err := cu.SetCurrentContext(ctx.CUDAContext()); err != nil {
		return err
	}
	*blas = cublas.Standard{}
	return blas.Init(cublas.WithContext(ctx))
}

// closeLibraries destroys the handles of cuBLAS and cuDNN on the device's thread, which has
// the VM's context.
func (m *machine) closeLibraries() error {
	return errors.Join(m.engine().BLASContext().Close(), m.engine().CUDNNContext().Close())
}

// close ends gorgonia's goroutine and destroys the VM's context, and with it the kernels and
// the memory. It does not call gorgonia's Close, which works on a copy of the engine while
// that goroutine writes to the engine.
func (m *machine) close() error {
	runtime.SetFinalizer(m.vm, nil) // it would wait for that goroutine for ever
	ctx := m.batched()
	close(m.stop)
	<-ctx.ErrChan() // errEnd
	ctx.Cleanup()
	return errors.Join(m.left, ctx.Close())
}
