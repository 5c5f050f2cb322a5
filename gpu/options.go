package gpu

import (
	"errors"
	"fmt"
)

// An Option changes what [Open] and [Auto] do. The zero Option changes nothing.
type Option struct{ set func(*config) }

type config struct {
	ordinal int
	library string
	asked   bool // the caller chose library
	context uintptr
}

// Ordinal chooses the device by its number, from 0. The default is 0. The environment
// variable CUDA_VISIBLE_DEVICES decides which devices the driver counts.
func Ordinal(n int) Option { return Option{func(c *config) { c.ordinal = n }} }

// Library sets the driver's file. The default is libcuda.so.1, which the system's
// dynamic linker looks up. If path does not exist, [Open] fails, and the error is not
// [ErrNoDevice].
func Library(path string) Option {
	return Option{func(c *config) { c.library, c.asked = path, true }}
}

// Context uses an existing CUcontext on the device in place of the device's primary
// context. Use it if another library works in a context of its own, which cannot
// access memory of the primary one. The context must outlive the [Device], which
// does not destroy it.
func Context(handle uintptr) Option { return Option{func(c *config) { c.context = handle }} }

func newConfig(options []Option) (config, error) {
	c := config{library: "libcuda.so.1"}
	for _, o := range options {
		if o.set != nil {
			o.set(&c)
		}
	}
	var errs []error
	if c.ordinal < 0 {
		errs = append(errs, fmt.Errorf("gpu: Ordinal(%d): want 0 or more", c.ordinal))
	}
	if c.library == "" {
		errs = append(errs, errors.New(`gpu: Library(""): want a file`))
	}
	return c, errors.Join(errs...)
}
