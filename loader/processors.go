package loader

import (
	"sync"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader/internal/assemble"
)

// A meter adds up the processor time of the process while loops run, and the time that its threads wait for processors.
type meter struct {
	used   func() (time.Duration, bool)
	queued func() (time.Duration, bool)
	slice  time.Duration

	mu      sync.Mutex
	total   demand // of loops that have ended
	from    demand // the reading when the loop began
	running bool
	queue   time.Duration // as it was at looked
	looked  time.Time
}

// demand is the processor time that the process has had, and for how long its threads waited for more.
type demand struct {
	used, queued time.Duration
	known        bool      // whether used is known
	looked       time.Time // when queued was read
}

// lookAgain is how old a reading of the wait for processors may be, in slices of the gauge: it takes 16 µs per thread.
const lookAgain = 5

// read reads both times. One that is not known is 0.
func (m *meter) read() (d demand) {
	if begun := time.Now(); begun.Sub(m.looked) >= lookAgain*m.slice {
		m.queue, _ = m.queued()
		m.looked = begun
	}
	d.used, d.known = m.used()
	d.queued, d.looked = m.queue, m.looked
	return d
}

func (m *meter) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.from, m.running = m.read(), true
}

func (m *meter) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.total, m.running = m.sum(), false
}

// now is the demand of all loops until now.
func (m *meter) now() demand {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sum()
}

func (m *meter) sum() demand {
	if !m.running {
		return m.total
	}
	now := m.read()
	return demand{
		known:  now.known,
		looked: now.looked,
		used:   m.total.used + max(now.used-m.from.used, 0),
		queued: m.total.queued + max(now.queued-m.from.queued, 0), // less when threads have ended
	}
}

// Workers compute if the process has had, or its threads have waited for, at least the share occupied of the processor
// time that their stages would take. Less than enough of that time is no evidence.
const (
	occupied = 0.7
	enough   = 200 * time.Millisecond
)

// unoccupied reports whether the stages that are known to compute cannot have computed all their time, because the
// process has had, and has waited for, only that share of the processor time for it.
func (s Stats) unoccupied(processors int) (wanted float64, is bool) {
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
	wanted = float64(s.ProcessorTime+s.ProcessorWait) / float64(takes)
	return wanted, wanted < occupied
}

// contested is the share of the time that the process's threads wanted a processor and had none.
func (s Stats) contested() float64 {
	return float64(s.ProcessorWait) / float64(max(s.ProcessorTime+s.ProcessorWait, 1))
}

// computes reports whether a stage is known to compute. One with a name of the dataset's own may also wait for
// something.
func computes(stage string) bool {
	switch stage {
	case dataset.StageDecode, dataset.StageResample, dataset.StageAugment, dataset.StageStore, assemble.StageCollate,
		"pack", "check": // of dataset/packed
		return true
	}
	return false
}
