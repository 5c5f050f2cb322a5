// Package trace shows what a loader does: as a timeline in a file, and as a list of
// the slowest samples. Give its observers to [loader.Observe].
//
//	f, err := os.Create("trace.json")
//	if err != nil {
//		return err
//	}
//	defer f.Close()
//	l, err := loader.New(ds, loader.Workers(12), loader.Observe(trace.File(f)))
//	if err != nil {
//		return err
//	}
//	defer l.Close() // ends the file
//
// Open the file in https://ui.perfetto.dev, which runs in the browser and sends it
// nowhere, or in chrome://tracing.
//
// # What the timeline shows
//
//   - The track "loop" has the loop's waits and its bodies, one of each per batch.
//   - A track for every worker has the samples in the batches that they belong to, with
//     the stages of each. Batches that another worker has begun are marked as help.
//     "draw" is the time in which a batch is begun, "finish" the time after its last
//     sample, and "memory" a wait for a free slab.
//   - Arrows lead from the worker that has begun a batch to the one that has finished it,
//     and from there to the loop body.
//   - Counters show how many batches are ready, and how many slabs are in use.
package trace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/penstock-go/penstock/loader"
)

// An Option configures [File]. The zero Option does nothing.
type Option struct{ set func(*recorder) }

// Shortest sets how long a sample or a stage must take to be drawn. Shorter ones are
// counted in the slice of their batch. The default is 1 µs, and 0 draws all.
func Shortest(d time.Duration) Option {
	return Option{func(r *recorder) { r.shortest = int64(d) }}
}

// File writes a timeline of a loader to w, in the Trace Event Format: an array in
// JSON. [loader.Loader.Close] ends it and returns errors of w. The caller closes w
// afterwards. Every loader needs a File of its own: [loader.New] returns an error if
// it is given to a second one.
//
// Events are written as they happen, in pieces of about 64 KiB, and at least once a second
// while batches are delivered. Every Write ends at the end of an event. Without
// the end of the array, for instance after a crash, viewers read what there is.
//
// Another goroutine calls w, so that a slow writer does not hold up the loader. If w takes
// too long, up to 8 MiB of events wait. Further ones are lost, and the timeline says how
// many.
func File(w io.Writer, options ...Option) loader.Trace {
	r := &recorder{out: newOutput(w, os.Getpid()), origin: time.Now(), shortest: 1000, ready: map[int64]bool{}, epoch: -1}
	for _, option := range options {
		if option.set != nil {
			option.set(r)
		}
	}
	return loader.Trace{
		LoaderMade:     r.made,
		LoaderClosed:   r.closed,
		BatchBegun:     r.begun,
		BatchCollated:  r.collated,
		BatchReady:     r.finished,
		BatchDelivered: r.delivered,
		BatchEnded:     r.ended,
		BatchFreed:     r.freed,
		SampleDone:     r.sample,
		MemoryWaited:   r.memory,
	}
}

// A recorder turns calls of hooks into events. The output's mutex guards it.
type recorder struct {
	out      *output
	origin   time.Time
	shortest int64 // nanoseconds

	inUse  bool // whether a loader has it, or had
	loop   track
	crew   []*track // of workers
	body   int64    // when the loop body began
	epoch  int      // of the last batch that was delivered
	ready  map[int64]bool
	inSlab int // batches that have a slab
}

// loopTrack is the number of the loop's track. The next ones are those of the workers.
const loopTrack = 1

// at is the time t of the timeline, in nanoseconds.
func (r *recorder) at(t time.Time) int64 { return int64(t.Sub(r.origin)) }

func (r *recorder) now() int64 { return int64(time.Since(r.origin)) }

func (r *recorder) made(l *loader.Loader) error {
	if r.out.w == nil {
		return errors.New("trace: File: the writer is nil")
	}
	r.out.mu.Lock()
	defer r.out.mu.Unlock()
	if r.inUse {
		return errors.New("trace: File: it already belongs to a loader, and every loader needs one of its own")
	}
	r.inUse = true
	r.loop.tid = loopTrack
	r.out.add(&event{phase: 'M', tid: loopTrack, name: "process_name", args: []arg{{key: "name", text: fmt.Sprintf("penstock loader of %v", l.Spec())}}})
	r.out.add(&event{phase: 'M', tid: loopTrack, name: "process_labels", args: []arg{{key: "labels", text: "since " + r.origin.Format(time.RFC3339Nano)}}})
	r.name(&r.loop, "loop")
	return nil
}

// name gives a track a name, and its place among the others.
func (r *recorder) name(t *track, name string) {
	r.out.add(&event{phase: 'M', tid: t.tid, name: "thread_name", args: []arg{{key: "name", text: name}}})
	r.out.add(&event{phase: 'M', tid: t.tid, name: "thread_sort_index", args: []arg{{key: "sort_index", number: int64(t.tid)}}})
}

// worker is the track of a worker.
func (r *recorder) worker(id int) *track {
	for len(r.crew) <= id {
		t := &track{tid: loopTrack + 1 + len(r.crew)}
		r.name(t, fmt.Sprintf("worker %d", len(r.crew)))
		r.crew = append(r.crew, t)
	}
	return r.crew[id]
}

func (r *recorder) closed() error {
	r.ends()
	return r.out.close()
}

// ends draws what is not drawn yet.
func (r *recorder) ends() {
	r.out.mu.Lock()
	defer r.out.mu.Unlock()
	for _, t := range r.crew {
		t.endGroup(r.out)
	}
}
