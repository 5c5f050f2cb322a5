package serve

import (
	"bufio"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
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
