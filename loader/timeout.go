package loader

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// A TimeoutError says that a batch was not complete within [Timeout], or that
// [Loader.Close] waited that long. It also says what the workers were doing, in one line.
// Where the longest call hangs, only Stuck[0].Stack says: print it too, if there is one.
// errors.Is(err, os.ErrDeadlineExceeded) is true for it.
type TimeoutError struct {
	After        time.Duration // the Timeout
	Epoch, Batch int           // the batch that the loop waited for; -1 and -1 from Close
	Stuck        []Stuck       // calls that have not returned, the longest first
	Kept         int           // slabs that [Batch.Keep] holds
}

// Stuck is a call of the dataset, the sampler or a hook that had not returned when
// the time was up.
type Stuck struct {
	Worker int    // the worker's number; -1 for a goroutine that plans an epoch, waits for samples or ends what Foresee began
	Doing  string // the purpose of the call, such as "placing a sample"
	Index  int    // the sample that is placed; -1 if none is
	Name   string // the dataset's name for the sample; may be empty
	Stage  string // the stage that the dataset reports, such as read or decode; may be empty
	Stack  string // of the goroutine, in many lines; only in the first of TimeoutError.Stuck, may be empty

	// For is the time since the call began. Where samples take less than 20 µs on average,
	// calls count from when the worker began with the batch.
	For time.Duration
}

func (e *TimeoutError) Error() string {
	var b strings.Builder
	if e.Batch < 0 {
		fmt.Fprintf(&b, "loader: Close: calls have not returned for %v; their memory is freed when they do", e.After)
	} else {
		fmt.Fprintf(&b, "loader: epoch %d, batch %d: not ready after %v", e.Epoch, e.Batch, e.After)
	}
	if len(e.Stuck) == 0 && e.Kept > 0 {
		fmt.Fprintf(&b, ": %d slabs are kept, release them or raise InFlight", e.Kept)
	}
	for i, s := range e.Stuck {
		if i == 3 {
			fmt.Fprintf(&b, "; and %d more", len(e.Stuck)-i)
			break
		}
		fmt.Fprintf(&b, "; %v", s)
	}
	return b.String()
}

// String describes the call, as in "worker 0: sample 5 (cat.jpg) for 1m0s in stage
// read".
func (s Stuck) String() string {
	var b strings.Builder
	if s.Worker >= 0 {
		fmt.Fprintf(&b, "worker %d: ", s.Worker)
	}
	if s.Index >= 0 {
		fmt.Fprintf(&b, "sample %d", s.Index)
	} else {
		b.WriteString(s.Doing)
	}
	if s.Name != "" {
		fmt.Fprintf(&b, " (%s)", s.Name)
	}
	fmt.Fprintf(&b, " for %v", s.For.Round(time.Millisecond))
	if s.Stage != "" {
		fmt.Fprintf(&b, " in stage %s", s.Stage)
	}
	return b.String()
}

// Is reports whether target is [os.ErrDeadlineExceeded].
func (e *TimeoutError) Is(target error) bool { return target == os.ErrDeadlineExceeded }

// Timeout reports true. [net.Error] has the same method.
func (e *TimeoutError) Timeout() bool { return true }

// timedOut is the error of a loop that waited too long.
func (r *run) timedOut() error {
	l := r.l
	l.mu.Lock()
	e := &TimeoutError{After: l.cfg.timeout, Kept: len(l.jobs) - len(r.inFlight) - len(l.free)}
	for _, j := range l.jobs {
		if j.orphan {
			e.Kept--
		}
	}
	var plannings []*planning
	switch c := &r.cursor; {
	case len(r.inFlight) > 0:
		j := r.inFlight[0]
		e.Epoch, e.Batch = j.plan.epoch, j.plan.number(j.k)
	case c.planning:
		e.Epoch, plannings = c.due.Epoch, slices.Clone(l.plannings)
	case c.plan != nil:
		plannings = slices.Clone(l.plannings)
		e.Epoch, e.Batch = c.plan.epoch, c.plan.number(c.k)
	}
	workers := slices.Concat(l.workers, l.strays)
	l.mu.Unlock()
	e.Stuck = l.stuck(workers, plannings)
	return e
}

// stuck lists the calls that workers and plannings have not returned from.
func (l *Loader) stuck(workers []*worker, plannings []*planning) []Stuck {
	type call struct {
		Stuck
		goroutine int64
		samples   int // in the dataset
	}
	var calls []call
	for _, w := range workers {
		if s, ok := w.stuck(); ok {
			c := call{s, w.goroutine.Load(), 0}
			if s.Index >= 0 {
				c.samples = w.run.samples
			}
			calls = append(calls, c)
		}
	}
	for _, p := range plannings {
		s := Stuck{Worker: -1, Index: -1, Doing: p.doing, For: time.Since(p.begun)}
		calls = append(calls, call{s, p.goroutine.Load(), 0})
	}
	slices.SortFunc(calls, func(a, b call) int { return cmp.Compare(b.For, a.For) })
	all := make([]Stuck, len(calls))
	samples := make([]int, len(calls))
	for i, c := range calls {
		all[i], samples[i] = c.Stuck, c.samples
	}
	if len(all) > 0 {
		all[0].Stack = stackOf(calls[0].goroutine)
		l.nameInTime(all, samples)
	}
	return all
}

// nameInTime gives the calls the names of their samples. samples is how many their datasets
// have. It waits for the dataset no longer than the Timeout, because a name may have to wait for
// the call that hangs.
func (l *Loader) nameInTime(calls []Stuck, samples []int) {
	indices := make([]int, len(calls))
	for i, c := range calls {
		indices[i] = c.Index
	}
	names := make(chan string, len(calls)) // has room for all
	l.mu.Lock()
	name := func() error {
		for i, index := range indices {
			names <- l.name(index, samples[i])
		}
		return nil
	}
	l.background("naming samples", name, func(error) { close(names) })
	l.mu.Unlock()
	timer := time.NewTimer(l.cfg.timeout)
	defer timer.Stop()
	for i := range calls {
		select {
		case calls[i].Name = <-names: // empty if the dataset has ended the goroutine
		case <-timer.C:
			return
		}
	}
}
