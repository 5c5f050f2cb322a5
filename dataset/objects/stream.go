package objects

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/penstock-go/penstock/internal/pace"
)

// A watch ends its context after a time without a byte.
type watch struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	silence time.Duration
}

// silentError is the error of a request that was silent for that long.
type silentError time.Duration

func (e silentError) Error() string { return fmt.Sprintf("no byte for %v", time.Duration(e)) }

func (c *Client) watch(ctx context.Context) *watch {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{ctx: ctx, cancel: cancel, silence: c.silence}
	w.timer = time.AfterFunc(w.silence, func() { cancel(silentError(w.silence)) })
	return w
}

func (w *watch) heard() { w.timer.Reset(w.silence) }
func (w *watch) pause() { w.timer.Stop() }

func (w *watch) end() {
	w.timer.Stop()
	w.cancel(nil)
}

// cause is err, or why the watch has ended the request.
func (w *watch) cause(err error) error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	return err
}

// A stream is a response of which at least one byte has arrived.
type stream struct {
	*watch
	body  io.ReadCloser
	first [512]byte // begins with the bytes read so far
	n     int       // number of these bytes
	hedge bool      // whether the request was the second one for these bytes
	after func()    // if not nil, close calls it
}

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

// open sends a request for n bytes and waits for the first of them.
func (c *Client) open(ctx context.Context, o Object, off, n int64) (*stream, error) {
	s := &stream{watch: c.watch(ctx)}
	c.count.requests.Add(1)
	if err := c.receive(s, o, off, n); err != nil {
		err = s.cause(unexpected(err))
		s.close()
		return nil, err
	}
	return s, nil
}

func (c *Client) receive(s *stream, o Object, off, n int64) error {
	body, got, err := c.remote.Get(s.ctx, o, off, n)
	if err != nil {
		return err
	}
	s.body = body
	if err := c.remember(o, got); err != nil {
		return err
	}
	for s.n == 0 && err == nil {
		s.n, err = body.Read(s.first[:min(n, int64(len(s.first)))])
	}
	if s.n > 0 {
		return nil // an error comes again with the next read
	}
	return err
}

// fill reads len(p) bytes. If the body ends early, it returns how many have come.
func (s *stream) fill(p []byte) (int, error) {
	n := copy(p, s.first[:s.n])
	for n < len(p) {
		s.heard()
		k, err := s.body.Read(p[n:])
		n += k
		if err != nil && n < len(p) {
			return n, s.cause(unexpected(err))
		}
	}
	return n, nil
}

func (s *stream) close() {
	s.end()
	if s.body != nil {
		_ = s.body.Close() // the bytes have been read
	}
	if s.after != nil {
		s.after()
	}
}
