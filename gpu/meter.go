package gpu

import (
	"sync"
	"time"
)

// A meter measures the time of uploads, and how much of it overlaps with loop bodies.
type meter struct {
	now func() time.Time

	mu     sync.Mutex
	body   time.Duration // of loop bodies that have ended
	inside bool          // a loop body runs
	since  time.Time     // the start of that loop body
	last   reading       // the end of the previous upload

	upload, hidden time.Duration
}

// A reading is a moment on two clocks: the wall clock, and a clock that runs only
// during loop bodies.
type reading struct {
	at   time.Time
	body time.Duration
}

func (m *meter) read() reading {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reading()
}

func (m *meter) reading() reading {
	r := reading{m.now(), m.body}
	if m.inside {
		r.body += r.at.Sub(m.since)
	}
	return r
}

func (m *meter) enter() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inside, m.since = true, m.now()
}

func (m *meter) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.body += m.now().Sub(m.since)
	m.inside = false
}

// uploaded adds an upload that was enqueued at from and ends now. Uploads run one
// after the other, so it cannot have started before the end of the previous one.
func (m *meter) uploaded(from reading) {
	m.mu.Lock()
	defer m.mu.Unlock()
	end := m.reading()
	if from.at.Before(m.last.at) {
		from = m.last
	}
	m.upload += end.at.Sub(from.at)
	m.hidden += end.body - from.body
	m.last = end
}

func (m *meter) times() (upload, hidden time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.upload, m.hidden
}
