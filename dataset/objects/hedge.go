package objects

import (
	"context"

	"github.com/penstock-go/penstock/internal/pace"
)

// begin sends a request and waits for the first byte. If that takes long, it sends a
// second request, and returns the response that begins first.
func (c *Client) begin(ctx context.Context, o Object, off, n int64) (*stream, error) {
	first := func(ctx context.Context) (*stream, error) { return c.open(ctx, o, off, n) }
	second := func(ctx context.Context) (*stream, error) {
		c.count.hedges.Add(1)
		s, err := c.open(ctx, o, off, n)
		if err == nil {
			s.hedge = true
		}
		return s, err
	}
	s, end, err := pace.Race(ctx, &c.pace, first, second, (*stream).close)
	if err != nil {
		return nil, err
	}
	if s.hedge {
		c.count.hedgesWon.Add(1)
	}
	s.after = end
	return s, nil
}
