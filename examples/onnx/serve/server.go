//go:build cgo

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/examples/onnx/model"
	"github.com/penstock-go/penstock/transform"
)

// A server answers requests with the classes of their images.
type server struct {
	steps    *transform.Compiled
	batcher  *batcher
	names    []string      // of the classes
	maxBytes int64         // of an image
	sending  time.Duration // that a client has to send an image
	top      int           // classes in an answer
	places   chan struct{} // of the requests that wait for the net
	free     atomic.Int64  // bytes that images may still take
}

// newServer lets as many requests wait for the net as the queue is long. The images of
// all requests together may take as many bytes as the images of a full queue.
func newServer(s *server, queue int) *server {
	s.places = make(chan struct{}, queue)
	s.free.Store(int64(queue) * s.maxBytes)
	return s
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
	file, giveBack, err := s.receive(w, r)
	defer giveBack()
	if err != nil {
		refuse(w, err)
		return
	}
	// A client that sends slowly has no place until it has sent everything.
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	default:
		refuse(w, &refusal{http.StatusServiceUnavailable, fmt.Sprintf("%d requests are under way, which is the limit", cap(s.places))})
		return
	}
	found, err := s.batcher.classify(r.Context(), func(row []float32) error {
		if err := s.steps.Into(row, transform.File(file)); err != nil {
			return &refusal{http.StatusUnprocessableEntity, err.Error()}
		}
		return nil
	})
	switch {
	case errors.Is(err, errClosed):
		refuse(w, &refusal{http.StatusServiceUnavailable, err.Error()})
	case err != nil:
		refuse(w, err)
	case slices.ContainsFunc(found.logits, notFinite):
		refuse(w, errors.New("the net's result is not a number"))
	default:
		reply(w, http.StatusOK, answer{Classes: model.Top(found.logits, s.names, s.top), Batch: found.rows})
	}
}

func notFinite(v float32) bool { return math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) }

// receive reads an image's file. The caller gives its memory back when it is done with
// it, also after an error.
func (s *server) receive(w http.ResponseWriter, r *http.Request) (file []byte, giveBack func(), err error) {
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Now().Add(s.sending)) // a test's recorder has none
	var b bytes.Buffer
	body := metered{Reader: http.MaxBytesReader(w, r.Body, s.maxBytes), free: &s.free}
	_, err = b.ReadFrom(&body)
	switch large := (*http.MaxBytesError)(nil); {
	case err == errMemory:
		err = &refusal{http.StatusServiceUnavailable, err.Error()}
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = &refusal{http.StatusRequestTimeout, fmt.Sprintf("the image took more than %v to arrive, which is the limit", s.sending)}
	case errors.As(err, &large):
		err = &refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("the image has more than %d bytes, which is the limit", large.Limit)}
	case err != nil:
		err = &refusal{http.StatusBadRequest, err.Error()}
	case b.Len() == 0:
		err = &refusal{http.StatusBadRequest, "the body is empty: want an image's file"}
	default:
		_ = connection.SetReadDeadline(time.Time{}) // the wait for the net may be longer
	}
	return b.Bytes(), body.giveBack, err
}

// A metered body takes the memory for what it reads from all that is free.
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

func (m *metered) giveBack() { m.free.Add(m.taken) }

// A refusal is an error with its HTTP status.
type refusal struct {
	status int
	text   string
}

func (e *refusal) Error() string { return e.text }

func refuse(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if r := (*refusal)(nil); errors.As(err, &r) {
		status = r.status
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	reply(w, status, answer{Error: err.Error()})
}

func reply(w http.ResponseWriter, status int, a answer) {
	text, err := json.Marshal(a)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // who does not read the answer has gone
}
