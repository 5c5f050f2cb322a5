package trace_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
)

// An event is what the Trace Event Format says of one.
type event struct {
	Phase string         `json:"ph"`
	Pid   int            `json:"pid"`
	Tid   int            `json:"tid"`
	Ts    *float64       `json:"ts"`
	Dur   float64        `json:"dur"`
	Name  string         `json:"name"`
	Scope string         `json:"s"`
	Args  map[string]any `json:"args"`

	from, to int64 // nanoseconds
}

// parse reads a file, with its end or without.
func parse(t testing.TB, file []byte) []*event {
	t.Helper()
	var events []*event
	if err := json.Unmarshal(file, &events); err != nil {
		if err := json.Unmarshal(append(slices.Clone(file), ']'), &events); err != nil {
			t.Fatalf("the file is not JSON: %v:\n%s", err, file)
		}
	}
	for _, e := range events {
		if e.Ts == nil || e.Pid == 0 || e.Tid == 0 || e.Name == "" {
			t.Fatalf("an event lacks ts, pid, tid or name: %+v", e)
		}
		e.from = int64(math.Round(*e.Ts * 1000))
		e.to = e.from + int64(math.Round(e.Dur*1000))
	}
	return events
}

// A timeline is what a viewer makes of a file.
type timeline struct {
	tracks   map[int]string // their names
	slices   []*event       // in the order of their begins, those that contain others before them
	instants []*event
	counters map[string][]int64
}

// read builds the timeline as Perfetto's trace processor does. Events are sorted by time,
// longer slices first, everything else after slices. It is an error if slices of a track overlap without one containing the
// other, or if a phase is not one of those documented.
func read(t testing.TB, file []byte) timeline {
	t.Helper()
	events := parse(t, file)
	key := func(e *event) int64 {
		if e.Phase == "X" {
			return math.MaxInt64 - (e.to - e.from)
		}
		return math.MaxInt64
	}
	slices.SortStableFunc(events, func(a, b *event) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(key(a), key(b))) })
	line := timeline{tracks: map[int]string{}, counters: map[string][]int64{}}
	stacks := map[int][]*event{}
	for _, e := range events {
		stack := stacks[e.Tid]
		for len(stack) > 0 && stack[len(stack)-1].to <= e.from {
			stack = stack[:len(stack)-1]
		}
		switch e.Phase {
		case "M":
			if e.Name == "thread_name" {
				line.tracks[e.Tid] = e.Args["name"].(string)
			}
		case "X":
			if len(stack) > 0 && stack[len(stack)-1].to < e.to {
				t.Errorf("slices overlap: %q from %d to %d and %q from %d to %d", stack[len(stack)-1].Name, stack[len(stack)-1].from, stack[len(stack)-1].to, e.Name, e.from, e.to)
			}
			if e.to <= e.from {
				t.Errorf("slice %q takes no time", e.Name)
			}
			line.slices, stack = append(line.slices, e), append(stack, e)
		case "i":
			if e.Scope != "t" {
				t.Errorf("instant %q has the scope %q", e.Name, e.Scope)
			}
			line.instants = append(line.instants, e)
		case "C":
			for key, value := range e.Args {
				n := int64(value.(float64))
				if n < 0 {
					t.Errorf("counter %s of %s is %d", key, e.Name, n)
				}
				line.counters[e.Name+" "+key] = append(line.counters[e.Name+" "+key], n)
			}
		default:
			t.Errorf("phase %q", e.Phase)
		}
		stacks[e.Tid] = stack
	}
	return line
}

// lines are the slices of a track, in milliseconds.
func (l timeline) lines(track string) []string {
	var lines []string
	for _, e := range l.slices {
		if l.tracks[e.Tid] == track {
			lines = append(lines, fmt.Sprintf("%s %g-%g", e.Name, math.Round(float64(e.from)/1e6), math.Round(float64(e.to)/1e6)))
		}
	}
	return lines
}
