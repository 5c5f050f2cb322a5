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
	asked   bool // for library
	limit   int64
	context uintptr
}

// Ordinal chooses the device, counted from 0, the default. The environment's
// CUDA_VISIBLE_DEVICES decides which devices there are.
func Ordinal(n int) Option { return Option{func(c *config) { c.ordinal = n }} }

// Library is the driver's file. The default is libcuda.so.1 where the system's
// dynamic linker finds it. That a file which was asked for is not there is an error,
// and not [ErrNoDevice].
func Library(path string) Option {
	return Option{func(c *config) { c.library, c.asked = path, true }}
}

// Limit bounds the bytes that a [Pinned] has taken at any time. The default, 0,
// is what the system and the process's control group have available: page-locked
// memory is never swapped out, so what it takes all other programs lack. Another
// limit takes the place of that estimate, whatever it says.
func Limit(bytes int64) Option { return Option{func(c *config) { c.limit = bytes }} }

// Context takes a context that somebody else has made on the device, a CUcontext,
// in place of the device's primary one, whose memory other contexts cannot reach.
// It must live longer than the device.
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
	if c.limit < 0 {
		errs = append(errs, fmt.Errorf("gpu: Limit(%d): want 0 or more", c.limit))
	}
	return c, errors.Join(errs...)
}
