package serve

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// told logs why requests fail. Trainers ask again, so it logs a reason once in a while.
type told struct {
	mu   sync.Mutex
	last map[string]time.Time // by reason
}

const (
	again       = time.Minute // after which a reason is logged again
	mostReasons = 64          // that are logged in that time
)

// tell logs why a request fails, if that is the service's fault. A service that has too much to
// do, or ends, says so in its metrics alone.
func (s *Server) tell(status int, err error) {
	busy := errors.Is(err, errBusy) || errors.Is(err, errFull) || errors.Is(err, errClosed)
	if status < http.StatusInternalServerError || busy || !s.told.due(fmt.Sprint(status, reason(err)), time.Now()) {
		return
	}
	log, message := s.cfg.log.Error, "batches cannot be made"
	switch {
	case status == http.StatusServiceUnavailable:
		log, message = s.cfg.log.Warn, "batches cannot be made now, trainers are told to try again"
	case persists(err):
		message = "batches cannot be made until the service is started again"
	}
	log(message, "status", status, "err", err)
}

// due reports whether a reason is to be logged now, and notes that it was.
func (t *told) due(reason string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for r, at := range t.last {
		if now.Sub(at) >= again {
			delete(t.last, r)
		}
	}
	if _, ok := t.last[reason]; ok || len(t.last) >= mostReasons {
		return false
	}
	if t.last == nil {
		t.last = make(map[string]time.Time)
	}
	t.last[reason] = now
	return true
}

// reason is the text of the innermost error, which names no sample.
func reason(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}
