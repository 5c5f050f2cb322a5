package serve

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/loader"
)

// metrics are what a Server has done.
type metrics struct {
	batches, bytes, dropped, lanes, inFlight atomic.Int64

	mu     sync.Mutex
	status map[int]int64
	waits  int64
	total  time.Duration // of them
}

// answered counts a response.
func (m *metrics) answered(status int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.status == nil {
		m.status = make(map[int]int64)
	}
	m.status[status]++
}

// waited counts the time until a batch could be sent.
func (m *metrics) waited(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waits++
	m.total += d
}

// write sends the metrics in the text format of Prometheus.
func (m *metrics) write(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	out := bufio.NewWriter(w)
	defer out.Flush()
	family := func(name, kind, help string) {
		fmt.Fprintf(out, "# HELP penstock_%s %s\n# TYPE penstock_%s %s\n", name, help, name, kind)
	}
	single := func(name, kind, help string, value int64) {
		family(name, kind, help)
		fmt.Fprintf(out, "penstock_%s %d\n", name, value)
	}
	single("batches_total", "counter", "Batches sent completely.", m.batches.Load())
	single("sent_bytes_total", "counter", "Bytes of batches sent.", m.bytes.Load())
	single("dropped_samples_total", "counter", "Samples that could not be placed, in batches sent completely.", m.dropped.Load())
	single("loops_total", "counter", "Loops over a rank that were begun with memory of their own.", m.lanes.Load())
	single("requests_in_flight", "gauge", "Requests for batches that are being answered.", m.inFlight.Load())
	m.mu.Lock()
	defer m.mu.Unlock()
	family("responses_total", "counter", "Responses by status; 499 means that the client has gone.")
	for _, status := range slices.Sorted(maps.Keys(m.status)) {
		fmt.Fprintf(out, "penstock_responses_total{status=\"%d\"} %d\n", status, m.status[status])
	}
	family("batch_wait_seconds", "summary", "Time from a request until its batch was complete.")
	fmt.Fprintf(out, "penstock_batch_wait_seconds_sum %g\npenstock_batch_wait_seconds_count %d\n", m.total.Seconds(), m.waits)
}

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

// absolute matches a URL, or an absolute path with what comes before it.
var absolute = regexp.MustCompile(`\w+://[^\s"]+|(^|[\s"'(\[{<=:,])((?:/|\\\\|[A-Za-z]:[/\\])[^\s"'()\[\]{}<>=:,;]+)`)

// public is the text of an error for clients, in one line. Of a path of this machine it has only the
// last element, and of a panic no stack. The log has all of it.
func public(err error) string {
	text := err.Error()
	var paths []string
	walk(err, func(err error) {
		switch e := err.(type) {
		case *dataset.PanicError:
			text = strings.ReplaceAll(text, "\n\n"+string(e.Stack), "")
		case *loader.SampleError:
			paths = append(paths, e.Name)
		case *fs.PathError:
			paths = append(paths, e.Path)
		case *os.LinkError:
			paths = append(paths, e.Old, e.New)
		}
	})
	slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // one may begin with another
	for _, p := range paths {
		text = strings.ReplaceAll(text, p, last(p))
	}
	return figures.OneLine(absolute.ReplaceAllStringFunc(text, func(match string) string {
		parts := absolute.FindStringSubmatch(match)
		if parts[2] == "" {
			return match
		}
		return parts[1] + last(parts[2])
	}))
}

// walk calls see for an error and all that it wraps.
func walk(err error, see func(error)) {
	see(err)
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			walk(inner, see)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			walk(inner, see)
		}
	}
}

// rooted matches the beginning of an absolute path.
var rooted = regexp.MustCompile(`^(/|\\\\|[A-Za-z]:[/\\])`)

// last is the last element of an absolute path. Other names stay as they are.
func last(name string) string {
	if !rooted.MatchString(name) {
		return name
	}
	name = strings.TrimRight(name, `/\`)
	return name[strings.LastIndexAny(name, `/\`)+1:]
}
