package stream

import (
	"context"
	"fmt"
	"io"

	"github.com/penstock-go/penstock/dataset"
)

// Channel makes a source of the values that c receives. spec lists the fields of a record,
// and place writes a value into them. The source ends when c is closed.
//
// A channel cannot give values again. So values that were received, but not sealed when
// the process was killed, are lost: up to [BlockSize], or a [Window].
func Channel[T any](c <-chan T, spec dataset.Spec, place func(value T, dst dataset.Slot) error) Source {
	return channel[T]{c, spec, place}
}

type channel[T any] struct {
	c     <-chan T
	spec  dataset.Spec
	place func(T, dataset.Slot) error
}

func (c channel[T]) Spec() dataset.Spec { return c.spec }
func (c channel[T]) Mark() []byte       { return nil }
func (c channel[T]) String() string     { return fmt.Sprintf("channel of %T", *new(T)) }

func (c channel[T]) Next(ctx context.Context, dst dataset.Slot) error {
	if ctx.Err() != nil { // select would choose at random
		return ctx.Err()
	}
	select {
	case value, open := <-c.c:
		if !open {
			return io.EOF
		}
		return c.place(value, dst)
	case <-ctx.Done():
		return ctx.Err()
	}
}
