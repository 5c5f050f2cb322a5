package trace

import "fmt"

// A track is one line of the timeline: the loop or a worker. Its slices follow one
// another, and only those inside them may share their time, as viewers require.
type track struct {
	tid     int
	end     int64 // of the last slice
	group   group
	collate [2]int64 // begin and end of the steps of Collate in the batch that is finished next, or 0
}

// A group is a row of samples that a worker has placed in the same batch.
type group struct {
	open        bool
	id          int64 // of the batch
	begun, end  int64
	epoch       int
	batch       int
	helps       bool // whether another worker has begun the batch
	samples     int64
	shorter     int64 // samples that are not drawn
	failedCalls int64
}

// slice draws a slice after the last one. It returns where it begins.
func (t *track) slice(out *output, name string, from, to int64, args ...arg) (begun int64) {
	from = max(from, t.end)
	to = max(to, from+1) // arrows need a slice that is not empty
	t.end = to
	out.add(&event{phase: 'X', tid: t.tid, name: name, at: from, took: to - from, args: args})
	return from
}

// inside draws a slice inside another one that is drawn before or later. It returns false
// if nothing of it is in that range.
func (t *track) inside(out *output, name string, from, to, least, most int64, args ...arg) bool {
	from, to = max(from, least), min(to, most)
	if from >= to {
		return false
	}
	out.add(&event{phase: 'X', tid: t.tid, name: name, at: from, took: to - from, args: args})
	return true
}

// endGroup draws the group around the samples that are drawn already.
func (t *track) endGroup(out *output) {
	g := &t.group
	if !g.open {
		return
	}
	g.open = false
	name := fmt.Sprintf("batch %d", g.batch)
	if g.helps {
		name = fmt.Sprintf("help batch %d", g.batch)
	}
	t.slice(out, name, g.begun, g.end, arg{key: "epoch", number: int64(g.epoch)}, arg{key: "samples", number: g.samples},
		arg{key: "not drawn", number: g.shorter}, arg{key: "failed", number: g.failedCalls})
}

// flow draws a part of the arrow of a batch, at a slice of this track.
func (t *track) flow(out *output, phase byte, at, id int64) {
	out.add(&event{phase: phase, tid: t.tid, name: "batch", at: at, flow: id + 1})
}
