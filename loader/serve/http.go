package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/penstock-go/penstock/internal/wire"
	"github.com/penstock-go/penstock/loader"
)

func (s *Server) route() {
	s.mux = http.NewServeMux()
	s.mux.HandleFunc("/", s.unknown)
	s.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	s.mux.HandleFunc("GET /readyz", s.ready)
	s.mux.HandleFunc("GET /metrics", s.allowed(s.counts.write))
	s.mux.HandleFunc("GET /v1/plan", s.allowed(func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, s.plan) }))
	s.mux.HandleFunc("GET /v1/{plan}/{epoch}/{share}", s.allowed(s.serveRest))
	s.mux.HandleFunc("GET /v1/{plan}/{epoch}/{share}/{number}", s.allowed(s.serveBatch))
}

// unknown answers requests that have no other handler.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		s.refuse(w, http.StatusMethodNotAllowed, errors.New("want GET"))
		return
	}
	s.refuse(w, http.StatusNotFound, errors.New("no such path"))
}

// ServeHTTP answers a request: see the protocol of the package.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.refusesBody(w, r) {
		return
	}
	s.expect(w)
	s.mux.ServeHTTP(w, r)
}

// refusesBody refuses a request with a body, and reports whether it did.
func (s *Server) refusesBody(w http.ResponseWriter, r *http.Request) bool {
	if r.ContentLength == 0 {
		return false
	}
	// Nobody waits for what the client sends. Without an error on recorders, this
	// ends a connection that sends nothing.
	http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second))
	w.Header().Set("Connection", "close")
	s.refuse(w, http.StatusBadRequest, errors.New("want a request without a body"))
	return true
}

// expect gives the client the time of Stall for what is written next.
func (s *Server) expect(w http.ResponseWriter) {
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.cfg.stall)) // a recorder has no deadline
}

// takesTime lets the client wait until expect is called. HTTP/2 ends a request at the deadline
// even if nothing is being written.
func (s *Server) takesTime(w http.ResponseWriter) {
	http.NewResponseController(w).SetWriteDeadline(time.Time{})
}

// allowed checks the token. Without one, every request is allowed.
func (s *Server) allowed(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.cfg.token {
			given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			sum := sha256.Sum256([]byte(given)) // of equal length, so that the time tells nothing
			if subtle.ConstantTimeCompare(sum[:], s.cfg.secret[:]) != 1 || !ok {
				w.Header().Set("WWW-Authenticate", "Bearer")
				s.refuse(w, http.StatusUnauthorized, errors.New("the token is missing or wrong"))
				return
			}
		}
		allow(r.Context())
		h(w, r)
	}
}

func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	if s.draining.Load() {
		s.refuse(w, http.StatusServiceUnavailable, errClosed)
		return
	}
	fmt.Fprintln(w, "ok")
}

// answer sends a value as JSON.
func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(value) // nobody is there to read an error of writing
}

// refuse sends an error.
func (s *Server) refuse(w http.ResponseWriter, status int, err error) {
	s.expect(w) // the request may have waited for long
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	text := wire.Error{Error: err.Error()}
	if status >= http.StatusInternalServerError { // it is about data
		text.Error = public(err)
	}
	if e, ok := errors.AsType[*loader.SampleError](err); ok {
		text.Name, text.Index = last(e.Name), &e.Index
	}
	s.tell(status, err)
	answer(w, s.refused(status), text)
}

// refused counts a response.
func (s *Server) refused(status int) int {
	s.counts.answered(status)
	return status
}
