package loader

import (
	"sync"
	"time"
)

// A meter adds up the processor time of the process while loops run.
type meter struct {
	read func() (used time.Duration, known bool)

	mu      sync.Mutex
	total   time.Duration // of loops that have ended
	from    time.Duration // the reading when the loop began
	running bool
}

func (m *meter) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.from, m.running = m.read()
}

func (m *meter) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.total, m.running = m.now(), false
}

// used is the processor time until now. It is 0 if it is not known.
func (m *meter) used() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now()
}

func (m *meter) now() time.Duration {
	if !m.running {
		return m.total
	}
	now, _ := m.read()
	return m.total + max(now-m.from, 0)
}

// Workers compute if the process has had at least the share occupied of the processor time
// that their stages would take. Less than enough of that time is no evidence.
const (
	occupied = 0.7
	enough   = 200 * time.Millisecond
)

// unoccupied reports whether the stages that are known to compute cannot have computed all
// their time, because the process has had only that share of the processor time for it.
func (s Stats) unoccupied(processors int) (had float64, is bool) {
	var computing time.Duration
	for _, stage := range s.Stages {
		if computes(stage.Name) {
			computing += stage.Total
		}
	}
	takes := min(computing, time.Duration(processors)*(s.Wait.Total+s.Body))
	if s.ProcessorTime <= 0 || takes < enough {
		return 0, false
	}
	had = float64(s.ProcessorTime) / float64(takes)
	return had, had < occupied
}
