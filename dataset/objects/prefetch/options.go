package prefetch

import (
	"errors"
	"fmt"
)

// An Option changes what [New] makes. The zero Option sets nothing.
type Option struct{ set func(*config) }

type config struct {
	memory   int64
	requests int
}

func defaults() config { return config{memory: 256 << 20, requests: 128} }

// Memory sets how many bytes may be fetched and not read yet, or being fetched. The default
// is 256 MiB. Less is used where that is enough: 64 MiB and a block of every dataset at first, and
// twice as much whenever a batch has to wait. A larger block is not fetched in advance. The datasets that a loop reads
// from one store share it, such as those of a concatenation. If two loops run over one store at
// the same time, such as training and validation, each has as much.
//
// It should hold what is consumed in the time of a slow request. Blocks of different sizes use
// the same memory in turn, which may be three eighths larger than they are.
func Memory(bytes int64) Option { return Option{func(c *config) { c.memory = bytes }} }

// Requests sets how many requests there may be at once. The default is 128. Readers that
// read a block that was not fetched send their own.
func Requests(n int) Option { return Option{func(c *config) { c.requests = n }} }

func (c *config) check() error {
	var errs []error
	if c.memory < 1 {
		errs = append(errs, fmt.Errorf("prefetch: Memory(%d): want 1 or more", c.memory))
	}
	if c.requests < 1 {
		errs = append(errs, fmt.Errorf("prefetch: Requests(%d): want 1 or more", c.requests))
	}
	return errors.Join(errs...)
}
