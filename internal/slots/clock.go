package slots

import (
	"context"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"
)

// A Clock adds up the time that one worker spends in every stage. Only the worker may
// call Stage, Stop, Record and Recorded; any goroutine may call Times, Each, Total and Current.
//
// While a stage lasts, the goroutine carries the pprof label "stage".
type Clock struct {
	labels context.Context
	origin time.Time

	first time.Duration // from origin to the first stage since Stop
	began time.Duration // from origin to the current stage

	recording bool
	base      time.Duration // from origin to Record
	took      time.Duration // from Record to Stop
	spans     []Span        // since Record

	current atomic.Int32 // index of the current stage plus one; 0 between samples

	mu     sync.Mutex // held to append to stages, and by others to read it
	stages []*stage
}

type stage struct {
	name   string
	labels context.Context
	count  atomic.Int64
	total  atomic.Int64 // nanoseconds
}

// A Span is one stay in a stage.
type Span struct {
	Name  string
	Begun time.Duration // since Record
	Took  time.Duration
}

// maxSpans bounds the spans that a clock keeps.
const maxSpans = 10_000

// StageTime is the time that a stage has taken so far.
type StageTime struct {
	Name  string
	Count int64 // how often it was entered
	Total time.Duration
}

// NewClock makes a clock for a goroutine. Between stages the goroutine has the pprof
// labels of labels. If labels is nil, the clock does not change them.
func NewClock(labels context.Context) *Clock {
	return &Clock{labels: labels, origin: time.Now()}
}

// Stage ends the current stage, if any, and begins the one of that name.
func (c *Clock) Stage(name string) {
	now := time.Since(c.origin)
	c.end(now)
	if c.current.Load() == 0 {
		c.first = now
	}
	i := c.index(name)
	s := c.stages[i]
	c.began = now
	c.current.Store(int32(i + 1))
	if c.labels != nil {
		pprof.SetGoroutineLabels(s.labels)
	}
}

// Record makes the clock keep the spans of stages, until Recorded is called.
func (c *Clock) Record() {
	c.recording, c.spans = true, c.spans[:0]
	c.base = time.Since(c.origin)
	c.took = -1 // until Stop
}

// Recorded gives the spans since Record, when that was, and the time from then to the
// last Stop. It ends the recording. The slice is valid until the next Record.
func (c *Clock) Recorded() (spans []Span, begun time.Time, took time.Duration) {
	if c.took < 0 {
		c.took = time.Since(c.origin) - c.base
	}
	c.recording = false
	return c.spans, c.origin.Add(c.base), c.took
}

// Stop ends the current stage, if any. It returns the duration of all stages since the
// last Stop.
func (c *Clock) Stop() time.Duration {
	if c.current.Load() == 0 {
		if c.recording {
			c.took = time.Since(c.origin) - c.base
		}
		return 0
	}
	now := time.Since(c.origin)
	c.end(now)
	took := now - c.first
	c.took = now - c.base
	c.current.Store(0)
	if c.labels != nil {
		pprof.SetGoroutineLabels(c.labels)
	}
	return took
}

// end adds the time of the current stage, if any.
func (c *Clock) end(now time.Duration) {
	i := c.current.Load()
	if i == 0 {
		return
	}
	s := c.stages[i-1]
	s.count.Add(1)
	s.total.Add(int64(now - c.began))
	if c.recording && len(c.spans) < maxSpans {
		c.spans = append(c.spans, Span{s.name, c.began - c.base, now - c.began})
	}
}

// Current is the name of the stage that the worker is in, or "".
func (c *Clock) Current() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := c.current.Load(); i > 0 {
		return c.stages[i-1].name
	}
	return ""
}

// Times appends the times of all stages, in the order of their first use.
func (c *Clock) Times(to []StageTime) []StageTime {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.stages {
		to = append(to, StageTime{s.name, s.count.Load(), time.Duration(s.total.Load())})
	}
	return to
}

// Each calls f with the times of every stage. f must not call the clock.
func (c *Clock) Each(f func(name string, count int64, total time.Duration)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.stages {
		f(s.name, s.count.Load(), time.Duration(s.total.Load()))
	}
}

// Total is how often the stage of that name was entered, and for how long in all.
func (c *Clock) Total(name string) (count int64, total time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.stages {
		if s.name == name {
			return s.count.Load(), time.Duration(s.total.Load())
		}
	}
	return 0, 0
}

// index is the index of the stage of that name, which it adds if it is new.
func (c *Clock) index(name string) int {
	for i, s := range c.stages { // only the worker appends, so it reads without the lock
		if s.name == name {
			return i
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &stage{name: name}
	if c.labels != nil {
		s.labels = pprof.WithLabels(c.labels, pprof.Labels("stage", name))
	}
	c.stages = append(c.stages, s)
	return len(c.stages) - 1
}
