package conformance

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// A Wire sends requests, and breaks some on purpose.
type Wire struct {
	transport *http.Transport
	mu        sync.Mutex
	faults    []fault
	sent      int
	received  atomic.Int64
}

// A response is what a fault may change. After an error, there is none.
type response struct{ *http.Response }

// A fault breaks the response to one request; nil does not.
type fault func(r *response) error

func newWire() *Wire {
	return &Wire{transport: http.DefaultTransport.(*http.Transport).Clone()}
}

// CloseIdleConnections closes connections that no request uses.
func (w *Wire) CloseIdleConnections() { w.transport.CloseIdleConnections() }

// next sets the faults of the next requests, and counts from now on.
func (w *Wire) next(faults ...fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults, w.sent = faults, 0
	w.received.Store(0)
}

func (w *Wire) requests() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent
}

// bytes is how many bytes of bodies have come.
func (w *Wire) bytes() int64 { return w.received.Load() }

// RoundTrip sends a request.
func (w *Wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.sent++
	var f fault
	if len(w.faults) > 0 {
		f, w.faults = w.faults[0], w.faults[1:]
	}
	w.mu.Unlock()
	answer, err := w.transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if f != nil {
		if err := f(&response{answer}); err != nil {
			answer.Body.Close()
			return nil, err
		}
	}
	answer.Body = &counted{answer.Body, &w.received}
	return answer, nil
}

type counted struct {
	io.ReadCloser
	n *atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n.Add(int64(n))
	return n, err
}

var errReset = errors.New("connection reset by peer")

// refuse is a connection that is closed before the response.
func refuse(*response) error { return errReset }

// status answers with a status in place of the service.
func status(code int) fault {
	return func(r *response) error {
		r.Body.Close()
		r.StatusCode, r.Status = code, http.StatusText(code)
		r.Header = http.Header{}
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader("")), 0
		return nil
	}
}

// reset breaks the connection after n bytes of the body.
func reset(n int64) fault { return ending(n, func(*response) error { return errReset }) }

// short ends the body after n bytes, as if there were no more.
func short(n int64) fault { return ending(n, func(*response) error { return io.EOF }) }

// stall sends n bytes of the body, and then nothing.
func stall(n int64) fault {
	return ending(n, func(r *response) error {
		<-r.Request.Context().Done()
		return r.Request.Context().Err()
	})
}

// another tells another version, whose header field the services name differently.
func another(r *response) error {
	r.Header.Set("ETag", `"another"`)
	r.Header.Set("X-Goog-Generation", "1")
	return nil
}

// ending ends the body after n bytes.
func ending(n int64, how func(r *response) error) fault {
	return func(r *response) error {
		r.Body = &cut{r.Body, n, func() error { return how(r) }}
		return nil
	}
}

type cut struct {
	io.ReadCloser
	left int64
	end  func() error
}

func (c *cut) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, c.end()
	}
	n, err := c.ReadCloser.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}
