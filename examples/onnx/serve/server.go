//go:build cgo

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/penstock-go/penstock/examples/onnx/model"
	"github.com/penstock-go/penstock/transform"
)

// A server answers requests with the classes of their images.
type server struct {
	steps    *transform.Compiled
	batcher  *batcher
	names    []string // of the classes
	maxBytes int64    // of an image
	top      int      // classes in an answer
	places   chan *place
}

// A place is what a request needs to be admitted. There are as many as requests may
// be under way, so that memory is bounded.
type place struct{ body bytes.Buffer }

// keptBytes is how much of a body's memory is kept for the next one.
const keptBytes = 1 << 20

// newServer admits as many requests at a time as the queue is long.
func newServer(s server, queue int) *server {
	s.places = make(chan *place, queue)
	for range queue {
		s.places <- new(place)
	}
	return &s
}

// handler serves POST /classify and GET /healthz.
func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /classify", s.classify)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	return mux
}

// An answer is the JSON that a request gets.
type answer struct {
	Classes []model.Class `json:"classes,omitempty"`
	Batch   int           `json:"batch,omitempty"` // images that shared the run
	Error   string        `json:"error,omitempty"`
}

func (s *server) classify(w http.ResponseWriter, r *http.Request) {
	var p *place
	select {
	case p = <-s.places:
	default:
		w.Header().Set("Retry-After", "1")
		reply(w, http.StatusServiceUnavailable, answer{Error: fmt.Sprintf("%d requests are under way, which is the limit", cap(s.places))})
		return
	}
	defer func() {
		if p.body.Reset(); p.body.Cap() > keptBytes {
			p.body = bytes.Buffer{}
		}
		s.places <- p
	}()

	if _, err := p.body.ReadFrom(http.MaxBytesReader(w, r.Body, s.maxBytes)); err != nil {
		status := http.StatusBadRequest
		if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
			status = http.StatusRequestEntityTooLarge
			err = fmt.Errorf("the image has more than %d bytes, which is the limit", large.Limit)
		}
		reply(w, status, answer{Error: err.Error()})
		return
	}
	if p.body.Len() == 0 {
		reply(w, http.StatusBadRequest, answer{Error: "the body is empty: want an image's file"})
		return
	}
	found, err := s.batcher.classify(r.Context(), func(row []float32) error {
		if err := s.steps.Into(row, transform.File(p.body.Bytes())); err != nil {
			return &imageError{err}
		}
		return nil
	})
	bad := (*imageError)(nil)
	switch {
	case errors.As(err, &bad):
		reply(w, http.StatusUnprocessableEntity, answer{Error: bad.Error()})
	case errors.Is(err, errClosed):
		reply(w, http.StatusServiceUnavailable, answer{Error: err.Error()})
	case err != nil:
		reply(w, http.StatusInternalServerError, answer{Error: err.Error()})
	default:
		reply(w, http.StatusOK, answer{Classes: model.Top(found.logits, s.names, s.top), Batch: found.rows})
	}
}

// An imageError is the sender's fault.
type imageError struct{ err error }

func (e *imageError) Error() string { return e.err.Error() }
func (e *imageError) Unwrap() error { return e.err }

func reply(w http.ResponseWriter, status int, a answer) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(a) // who does not read the answer has gone
}
