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
//     sample.
//   - Counters show how many batches are ready, and how many slabs are in use.
package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/internal/usercode"
)

// File writes a timeline of a loader to w, in the Trace Event Format: an array in JSON.
// [loader.Loader.Close] ends it and returns errors of w. The caller closes w afterwards.
// Every loader needs a File of its own.
//
// Events are written in pieces of about 64 KiB, and at least once a second while batches are
// delivered, by a goroutine that ends in Close. If w is slow, up to 8 MiB wait for it; further
// events are lost, and the timeline says where. Without the end of the array, for instance after a
// crash, viewers read what there is. Samples and stages shorter than 1 µs are not drawn.
func File(w io.Writer) loader.Trace {
	o := &output{w: w, pieces: make(chan []byte, backlog/piece), err: make(chan error, 1)}
	r := &recorder{output: o, out: bufio.NewWriterSize(o, piece), origin: time.Now(), pid: os.Getpid(), ready: map[int64]bool{}, epoch: -1}
	r.loop.id = loopTrack
	return loader.Trace{
		LoaderMade:     r.made,
		LoaderClosed:   r.end,
		BatchBegun:     r.begun,
		BatchReady:     r.finished,
		BatchDelivered: r.delivered,
		BatchEnded:     r.ended,
		BatchFreed:     r.freed,
		SampleDone:     r.sample,
	}
}

// An event is one object of the Trace Event Format, which chrome://tracing and Perfetto read:
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
type event struct {
	Phase string  `json:"ph"` // "X" slice, "i" instant, "C" counter, "M" metadata
	Pid   int     `json:"pid"`
	Track int     `json:"tid"`
	At    float64 `json:"ts"`            // microseconds
	Took  float64 `json:"dur,omitempty"` // microseconds, of a slice
	Scope string  `json:"s,omitempty"`   // of an instant
	Name  string  `json:"name"`
	Args  args    `json:"args,omitempty"`
}

// args are what a viewer shows of an event that is selected.
type args map[string]any

// A recorder turns calls of hooks into events.
type recorder struct {
	output *output
	origin time.Time
	pid    int

	mu     sync.Mutex // guards what output says, too
	out    *bufio.Writer
	wrote  time.Time // when out was flushed last
	any    bool      // whether there is an event already
	inUse  bool      // whether a loader has it, or had
	closed bool
	loop   track
	crew   []*track       // of workers
	body   time.Duration  // when the loop body began
	epoch  int            // of the last batch that was delivered
	ready  map[int64]bool // batches that are
	inSlab int            // batches that have a slab
}

// Sizes of pieces of a file, and of all that wait for its writer, in bytes.
const piece, backlog = 64 << 10, 8 << 20

// An output has a goroutine write pieces, so that a slow writer does not hold up the loader.
type output struct {
	w      io.Writer
	pieces chan []byte
	err    chan error // of w, the first one; has room for it

	// The recorder's mutex guards these.
	lost bool   // whether a piece was lost
	ends bool   // whether the file ends
	rest []byte // what it ends with
}

// Write passes a piece on, or loses it if too many wait.
func (o *output) Write(p []byte) (int, error) {
	if o.ends {
		o.rest = append(o.rest, p...)
		return len(p), nil
	}
	select {
	case o.pieces <- bytes.Clone(p):
	default:
		o.lost = true
	}
	return len(p), nil
}

// run writes the pieces until the first error.
func (o *output) run() {
	ended := usercode.ErrGoexit
	defer func() {
		for range o.pieces { // if the writer has ended the goroutine
		}
		o.err <- ended
	}()
	var err error
	for p := range o.pieces {
		if err == nil {
			err = usercode.Call(func() error { _, err := o.w.Write(p); return err })
		}
	}
	ended = err
}

// A track is one line of the timeline: the loop or a worker. Its slices follow one
// another, and only those inside them may share their time, as viewers require.
type track struct {
	id    int
	end   time.Duration // of the last slice
	group group         // samples that are drawn, but not the slice around them
}

// A group is a row of samples that a worker has placed in the same batch.
type group struct {
	name     string // empty if there is none
	batch    int64
	from, to time.Duration
	epoch    int
	samples  int
}

// loopTrack is the number of the loop's track. The next ones are those of the workers.
const loopTrack = 1

// shortest is how long a sample or a stage must take to be drawn.
const shortest = time.Microsecond

// maxText bounds names and errors, in bytes.
const maxText = 1000

func (r *recorder) at(t time.Time) time.Duration { return t.Sub(r.origin) }

// now locks the recorder until unlock is called, and says what time it is.
func (r *recorder) now() (now time.Duration, unlock func()) {
	r.mu.Lock()
	return time.Since(r.origin), r.mu.Unlock
}

// add writes an event. The separator comes before it, so that the file needs only a bracket
// to be JSON wherever it ends.
func (r *recorder) add(e event, at, took time.Duration) {
	if r.closed {
		return
	}
	r.gap(at)
	e.Pid, e.At, e.Took = r.pid, micros(at), micros(took)
	text, err := json.Marshal(e)
	if err != nil {
		panic(err) // an event has only texts and numbers
	}
	before := ",\n"
	if !r.any {
		before = "[\n"
	}
	r.any = true
	if r.out.Available() < len(before)+len(text) {
		r.out.Flush() // so that every piece ends with a whole event
	}
	r.out.WriteString(before)
	r.out.Write(text)
}

// gap says that events are missing, if a piece was lost since the last event.
func (r *recorder) gap(at time.Duration) {
	if r.output.lost {
		r.output.lost = false
		r.add(event{Phase: "i", Track: loopTrack, Scope: "t", Name: "events are missing"}, at, 0)
	}
}

func micros(d time.Duration) float64 { return float64(max(d, 0)) / 1000 }

func short(text string) string {
	if len(text) <= maxText {
		return text
	}
	n := maxText
	for n > maxText-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n-- // not inside a character
	}
	return text[:n] + "…"
}

// slice draws a slice after the last one of the track, and returns where it begins.
func (r *recorder) slice(t *track, name string, from, to time.Duration, a args) (begun time.Duration) {
	from = max(from, t.end)
	t.end = max(to, from+1)
	r.add(event{Phase: "X", Track: t.id, Name: name, Args: a}, from, t.end-from)
	return from
}

// inside draws the part of a slice that is inside another one, which is drawn before or later.
func (r *recorder) inside(t *track, name string, from, to, least, most time.Duration, a args) {
	from, to = max(from, least), min(to, most)
	if from < to {
		r.add(event{Phase: "X", Track: t.id, Name: short(name), Args: a}, from, to-from)
	}
}

// endGroup draws the slice around the samples that are drawn already.
func (r *recorder) endGroup(t *track) {
	if g := t.group; g.name != "" {
		r.slice(t, g.name, g.from, g.to, args{"epoch": g.epoch, "samples": g.samples})
		t.group = group{}
	}
}

func (r *recorder) count(name, series string, n int) {
	now := time.Since(r.origin)
	r.add(event{Phase: "C", Track: loopTrack, Name: name, Args: args{series: n}}, now, 0)
}

// worker is the track of a worker.
func (r *recorder) worker(id int) *track {
	for len(r.crew) <= id {
		t := &track{id: loopTrack + 1 + len(r.crew)}
		r.name(t, fmt.Sprintf("worker %d", len(r.crew)))
		r.crew = append(r.crew, t)
	}
	return r.crew[id]
}

// name gives a track a name, and its place among the others.
func (r *recorder) name(t *track, name string) {
	r.add(event{Phase: "M", Track: t.id, Name: "thread_name", Args: args{"name": name}}, 0, 0)
	r.add(event{Phase: "M", Track: t.id, Name: "thread_sort_index", Args: args{"sort_index": t.id}}, 0, 0)
}

func (r *recorder) made(l *loader.Loader) error {
	if r.output.w == nil {
		return errors.New("trace: File: the writer is nil")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inUse {
		return errors.New("trace: File: it already belongs to a loader, and every loader needs one of its own")
	}
	r.inUse = true
	go r.output.run()
	r.add(event{Phase: "M", Track: loopTrack, Name: "process_name", Args: args{"name": fmt.Sprintf("penstock loader of %v", l.Spec())}}, 0, 0)
	r.add(event{Phase: "M", Track: loopTrack, Name: "process_labels", Args: args{"labels": "since " + r.origin.Format(time.RFC3339Nano)}}, 0, 0)
	r.name(&r.loop, "loop")
	return nil
}

// end ends the file. Hooks may still be called meanwhile and afterwards.
func (r *recorder) end() error {
	r.output.pieces <- r.finish()
	close(r.output.pieces)
	if err := <-r.output.err; err != nil {
		return fmt.Errorf("trace: write the file: %w", err)
	}
	return nil
}

// finish returns the end of the file, which is not lost.
func (r *recorder) finish() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.output.ends = true
	for _, t := range r.crew {
		r.endGroup(t)
	}
	r.gap(time.Since(r.origin))
	r.closed = true
	r.out.WriteString("\n]\n")
	r.out.Flush()
	return r.output.rest
}

func (r *recorder) begun(b loader.BatchInfo) {
	now, unlock := r.now()
	defer unlock()
	t := r.worker(b.Worker)
	r.endGroup(t)
	r.slice(t, "draw", r.at(b.Begun), now, args{"epoch": b.Epoch, "batch": b.Batch, "samples": b.Samples})
	r.inSlab++
	r.count("slabs", "in use", r.inSlab)
}

func (r *recorder) sample(s loader.SampleInfo) {
	name := s.Name() // without the mutex, because it calls the dataset
	if name == "" {
		name = fmt.Sprintf("sample %d", s.Index)
	}
	if s.Rows > 1 {
		name += fmt.Sprintf(" and %d more", s.Rows-1)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.worker(s.Worker)
	begun := r.at(s.Begun)
	from, to := begun, begun+s.Took
	g := &t.group
	if g.batch != s.Batch.ID {
		r.endGroup(t)
	}
	if g.name == "" {
		// The group begins a nanosecond before its first sample. Otherwise viewers may draw it
		// inside of that.
		from = max(from, t.end+1)
		*g = group{name: fmt.Sprintf("batch %d", s.Batch.Batch), batch: s.Batch.ID, from: from - 1, to: from, epoch: s.Batch.Epoch}
		if s.Worker != s.Batch.Worker {
			g.name = "help " + g.name
		}
	}
	from = max(from, g.to)
	g.to = max(g.to, to)
	g.samples += s.Rows
	if s.Took < shortest && s.Err == nil {
		return
	}
	a := args{"index": s.Index, "row": s.Row, "batch": s.Batch.Batch}
	if s.Err != nil {
		a["error"] = short(s.Err.Error())
	}
	r.inside(t, name, from, to, from, to, a)
	for _, span := range s.Stages {
		if span.Took >= shortest {
			r.inside(t, span.Name, begun+span.Begun, begun+span.Begun+span.Took, from, to, nil)
		}
	}
}

func (r *recorder) finished(b loader.BatchInfo, _ time.Duration) {
	now, unlock := r.now()
	defer unlock()
	t := r.worker(b.Finisher)
	r.endGroup(t)
	r.slice(t, "finish", t.end, now, args{"epoch": b.Epoch, "batch": b.Batch, "samples": b.Samples})
	r.ready[b.ID] = true
	r.count("ready", "batches", len(r.ready))
}

// taken notes that a batch is no longer ready.
func (r *recorder) taken(b loader.BatchInfo) {
	if r.ready[b.ID] {
		delete(r.ready, b.ID)
		r.count("ready", "batches", len(r.ready))
	}
}

func (r *recorder) delivered(b loader.BatchInfo, waited time.Duration) {
	now, unlock := r.now()
	defer unlock()
	r.slice(&r.loop, "wait", now-waited, now, args{"epoch": b.Epoch, "batch": b.Batch})
	if b.Epoch != r.epoch {
		r.epoch = b.Epoch
		r.add(event{Phase: "i", Track: loopTrack, Scope: "t", Name: fmt.Sprintf("epoch %d", b.Epoch)}, r.loop.end, 0)
	}
	r.taken(b)
	if time.Since(r.wrote) >= time.Second {
		r.wrote = time.Now()
		r.out.Flush()
	}
	r.body = time.Since(r.origin)
}

func (r *recorder) ended(b loader.BatchInfo, took time.Duration) {
	now, unlock := r.now()
	defer unlock()
	r.slice(&r.loop, fmt.Sprintf("body of batch %d", b.Batch), max(r.body, now-took), now, args{"epoch": b.Epoch, "samples": b.Samples})
}

func (r *recorder) freed(b loader.BatchInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken(b)
	r.inSlab--
	r.count("slabs", "in use", r.inSlab)
}
