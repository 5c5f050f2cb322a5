package objects

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// errOvertaken ends a request if the second one for the same bytes was faster.
var errOvertaken = errors.New("the second request was faster")

// begin sends a request and waits for the first byte. If that takes long, it sends a
// second request, and returns the response that begins first.
func (c *Client) begin(ctx context.Context, o Object, off, n int64) (*stream, error) {
	delay := c.pace.Begin()
	if delay == 0 {
		return c.open(ctx, o, off, n)
	}
	var (
		first, overtake = context.WithCancelCause(ctx)
		second, stop    = context.WithCancel(ctx)
		decided         atomic.Bool
		other           *stream
		group           sync.WaitGroup
	)
	group.Go(func() {
		if !c.pace.Turn(second, delay) {
			return
		}
		c.count.hedges.Add(1)
		s, err := c.open(second, o, off, n)
		switch {
		case err != nil: // the first request goes on
		case decided.CompareAndSwap(false, true):
			c.count.hedgesWon.Add(1)
			other = s
			overtake(errOvertaken)
		default:
			s.close()
		}
	})
	release := func() {
		stop()
		overtake(nil)
		group.Wait()
	}
	s, err := c.open(first, o, off, n)
	if decided.CompareAndSwap(false, true) {
		if err != nil {
			release()
			return nil, err
		}
		stop()
		s.after = release
		return s, nil
	}
	if err == nil {
		s.close() // both had their first byte at once
	}
	group.Wait() // other is set
	other.after = release
	return other, nil
}
