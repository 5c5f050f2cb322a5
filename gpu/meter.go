package gpu

import (
	"sync"
	"time"
)

// A meter measures how much of the uploads' time lies in loop bodies.
type meter struct {
	now func() time.Time

	mu     sync.Mutex
	body   time.Duration // in loop bodies that have ended
	inside bool
	since  time.Time // the loop body runs, if it does
	last   reading   // the end of the upload before

	upload, hidden time.Duration
}

// A reading is a moment on two clocks: the wall's, and the one that goes in loop
// bodies alone.
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

// uploaded says that an upload, which was given to the stream at from, has ended.
// Uploads run one after the other, so it began no earlier than the one before ended.
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
