//go:build cgo

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/penstock-go/penstock/examples/onnx/model"
	"github.com/penstock-go/penstock/transform"
)

// A server answers requests with the classes of their images. A goroutine runs the net on
// the images that are ready: one that comes alone does not wait for others, and those that
// come while the net is busy share its next run.
type server struct {
	steps    *transform.Compiled
	names    []string                          // of the classes
	net      func(x, y []float32, n int) error // n rows of x to n rows of y
	values   int                               // of a row of x
	classes  int                               // of a row of y
	batch    int                               // rows of a run, at most
	maxBytes int64                             // of an image

	free   atomic.Int64  // bytes that bodies may still take, together
	places chan struct{} // of requests whose body has been read
	ready  chan prepared
	quit   chan struct{} // closed when no run shall be begun any more
	done   chan struct{} // closed when the goroutine has ended
}

// A prepared image is ready for the net.
type prepared struct {
	x      []float32
	result chan result // has room for one
}

type result struct {
	logits []float32
	rows   int // that shared the run
	err    error
}

// newServer starts a server, which the caller must close.
func newServer(o options, steps *transform.Compiled, names []string, values, classes int, net func(x, y []float32, n int) error) *server {
	s := &server{steps: steps, names: names, net: net, values: values, classes: classes, batch: o.batch, maxBytes: o.maxBytes,
		places: make(chan struct{}, o.queue), ready: make(chan prepared), quit: make(chan struct{}), done: make(chan struct{})}
	s.free.Store(int64(o.queue) * o.maxBytes)
	go s.runs()
	return s
}

// close waits for a run that is under way.
func (s *server) close() {
	close(s.quit)
	<-s.done
}

func (s *server) runs() {
	defer close(s.done)
	x, y := make([]float32, s.batch*s.values), make([]float32, s.batch*s.classes)
	for {
		var images []prepared
		select {
		case first := <-s.ready:
			images = append(images, first)
		case <-s.quit:
			return
		}
		for waiting := true; waiting && len(images) < s.batch; {
			select {
			case next := <-s.ready:
				images = append(images, next)
			default:
				waiting = false
			}
		}
		n := len(images)
		for row, i := range images {
			copy(x[row*s.values:], i.x)
		}
		err := s.net(x[:n*s.values], y[:n*s.classes], n)
		for row, i := range images {
			i.result <- result{slices.Clone(y[row*s.classes:][:s.classes]), n, err}
		}
	}
}

// handler serves POST /classify and GET /healthz.
func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /classify", func(w http.ResponseWriter, r *http.Request) {
		status, a := s.classify(r.Context(), http.MaxBytesReader(w, r.Body, s.maxBytes))
		if status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "1")
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(a) // who does not read the answer has gone
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	return mux
}

// An answer is the JSON that a request gets.
type answer struct {
	Classes []model.Class `json:"classes,omitempty"`
	Batch   int           `json:"batch,omitempty"` // images that shared the run
	Error   string        `json:"error,omitempty"`
}

// A metered reader takes the memory for what it reads from all that is free.
type metered struct {
	io.Reader
	free  *atomic.Int64
	taken int64
}

var errMemory = errors.New("the images under way take all memory that the server allows")

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.taken += int64(n)
	if m.free.Add(-int64(n)) < 0 {
		err = errMemory
	}
	return n, err
}

// classify answers a request. The bodies of all take no more memory together than those of a full queue. A client that
// sends slowly has no place until it has sent everything.
func (s *server) classify(ctx context.Context, body io.Reader) (status int, a answer) {
	m := metered{Reader: body, free: &s.free}
	defer func() { s.free.Add(m.taken) }()
	file, err := io.ReadAll(&m)
	large := (*http.MaxBytesError)(nil)
	switch {
	case err == errMemory:
		return http.StatusServiceUnavailable, answer{Error: err.Error()}
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge, answer{Error: fmt.Sprintf("the image has more than %d bytes, which is the limit", large.Limit)}
	case err != nil:
		return http.StatusBadRequest, answer{Error: err.Error()}
	}
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	default:
		return http.StatusServiceUnavailable, answer{Error: fmt.Sprintf("%d requests are under way, which is the limit", cap(s.places))}
	}
	i := prepared{make([]float32, s.values), make(chan result, 1)}
	if err := s.steps.Into(i.x, transform.File(file).Context(ctx)); err != nil {
		return http.StatusUnprocessableEntity, answer{Error: err.Error()}
	}
	var found result
	select {
	case s.ready <- i:
		select {
		case found = <-i.result:
		case <-ctx.Done():
			found.err = ctx.Err()
		}
	case <-ctx.Done():
		found.err = ctx.Err()
	}
	if found.err == nil && slices.ContainsFunc(found.logits, notFinite) {
		found.err = errors.New("the net's result is not a number")
	}
	if found.err != nil {
		return http.StatusInternalServerError, answer{Error: found.err.Error()}
	}
	return http.StatusOK, answer{Classes: model.Top(found.logits, s.names, 5), Batch: found.rows}
}

func notFinite(v float32) bool { return math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) }
