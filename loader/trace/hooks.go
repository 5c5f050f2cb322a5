package trace

import (
	"fmt"
	"time"

	"github.com/penstock-go/penstock/loader"
)

func (r *recorder) begun(b loader.BatchInfo) {
	r.out.mu.Lock()
	defer r.out.mu.Unlock()
	t := r.worker(b.Worker)
	t.endGroup(r.out)
	at := t.slice(r.out, "draw", r.at(b.Begun), r.now(), arg{key: "epoch", number: int64(b.Epoch)},
		arg{key: "batch", number: int64(b.Batch)}, arg{key: "samples", number: int64(b.Samples)})
	t.flow(r.out, 's', at, b.ID)
	r.inSlab++
	r.count("slabs", "in use", r.inSlab)
}

// count draws a counter.
func (r *recorder) count(name, series string, n int) {
	r.out.add(&event{phase: 'C', tid: loopTrack, name: name, at: r.now(), args: []arg{{key: series, number: int64(n)}}})
}

func (r *recorder) sample(s loader.SampleInfo) {
	name := s.Name() // without the mutex, because it calls the dataset
	if name == "" {
		name = fmt.Sprintf("sample %d", s.Index)
	}
	if s.Rows > 1 {
		name += fmt.Sprintf(" and %d more", s.Rows-1)
	}
	r.out.mu.Lock()
	defer r.out.mu.Unlock()
	t := r.worker(s.Worker)
	from := r.at(s.Begun)
	to := from + int64(s.Took)
	g := &t.group
	if g.open && g.id != s.Batch.ID {
		t.endGroup(r.out)
	}
	if !g.open {
		// The group begins a nanosecond before its first sample. Otherwise viewers may draw it
		// inside of that.
		from = max(from, t.end+1)
		*g = group{open: true, id: s.Batch.ID, begun: from - 1, end: from, epoch: s.Batch.Epoch, batch: s.Batch.Batch, helps: s.Worker != s.Batch.Worker}
	}
	from = max(from, g.end)
	g.end = max(g.end, to)
	g.samples += int64(s.Rows)
	if s.Err != nil {
		g.failedCalls++
	}
	if to-from < r.shortest && s.Err == nil {
		g.shorter += int64(s.Rows)
		return
	}
	args := [4]arg{{key: "index", number: int64(s.Index)}, {key: "row", number: int64(s.Row)}, {key: "batch", number: int64(s.Batch.Batch)}}
	n := 3
	if s.Err != nil {
		args[n] = arg{key: "error", text: s.Err.Error()}
		n++
	}
	if !t.inside(r.out, name, from, to, from, to, args[:n]...) {
		return
	}
	begun := r.at(s.Begun)
	for _, span := range s.Stages {
		if int64(span.Took) >= r.shortest {
			at := begun + int64(span.Begun)
			t.inside(r.out, span.Name, at, at+int64(span.Took), from, to)
		}
	}
}

// collated keeps what finished draws inside of its slice.
func (r *recorder) collated(b loader.BatchInfo, took time.Duration) {
	r.out.mu.Lock()
	defer r.out.mu.Unlock()
	t, now := r.worker(b.Finisher), r.now()
	t.collate = [2]int64{now - int64(took), now}
}

func (r *recorder) finished(b loader.BatchInfo, _ time.Duration) {
	r.out.mu.Lock()
	defer r.out.mu.Unlock()
	t := r.worker(b.Finisher)
	t.endGroup(r.out)
	at := t.slice(r.out, "finish", t.end, r.now(), arg{key: "epoch", number: int64(b.Epoch)},
		arg{key: "batch", number: int64(b.Batch)}, arg{key: "samples", number: int64(b.Samples)})
	if t.collate[1] > 0 {
		t.inside(r.out, "collate", t.collate[0], t.collate[1], at, t.end)
		t.collate = [2]int64{}
	}
	t.flow(r.out, 't', at, b.ID)
	r.ready[b.ID] = true
	r.count("ready", "batches", len(r.ready))
}

// taken is called when a batch is no longer ready.
func (r *recorder) taken(b loader.BatchInfo) {
	if r.ready[b.ID] {
		delete(r.ready, b.ID)
		r.count("ready", "batches", len(r.ready))
	}
}

func (r *recorder) delivered(b loader.BatchInfo, waited time.Duration) {
	r.out.mu.Lock()
	defer r.out.mu.Unlock()
	now := r.now()
	r.loop.slice(r.out, "wait", now-int64(waited), now, arg{key: "epoch", number: int64(b.Epoch)}, arg{key: "batch", number: int64(b.Batch)})
	if b.Epoch != r.epoch {
		r.epoch = b.Epoch
		r.out.add(&event{phase: 'i', tid: loopTrack, at: r.loop.end, name: fmt.Sprintf("epoch %d", b.Epoch)})
	}
	r.taken(b)
	r.body = r.now()
	if time.Since(r.out.flushed) >= time.Second {
		r.out.flush()
	}
}

func (r *recorder) ended(b loader.BatchInfo, took time.Duration) {
	r.out.mu.Lock()
	defer r.out.mu.Unlock()
	now := r.now()
	at := r.loop.slice(r.out, fmt.Sprintf("body of batch %d", b.Batch), max(r.body, now-int64(took)), now,
		arg{key: "epoch", number: int64(b.Epoch)}, arg{key: "samples", number: int64(b.Samples)})
	r.loop.flow(r.out, 'f', at, b.ID)
}

func (r *recorder) freed(b loader.BatchInfo) {
	r.out.mu.Lock()
	defer r.out.mu.Unlock()
	r.taken(b)
	r.inSlab--
	r.count("slabs", "in use", r.inSlab)
}

func (r *recorder) memory(worker int, took time.Duration) {
	r.out.mu.Lock()
	defer r.out.mu.Unlock()
	t := r.worker(worker)
	t.endGroup(r.out)
	now := r.now()
	t.slice(r.out, "memory", now-int64(took), now)
}
