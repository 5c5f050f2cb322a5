package prefetch

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
)

var large = flag.Bool("large", false, "explore also worlds that take a minute")

// A world is what a Prefetcher is explored with.
type world struct {
	loops    [][]int // the block of each batch
	memory   int     // blocks for which there is memory
	requests int     // at once
	width    int     // batches of a loop that are read at once
	fits     bool    // whether there is memory for a loop's blocks and one more, so that each is fetched once for all of its batches
	joined   bool    // whether the loops are parts of one, which begin and end their batches together
	cancel   bool    // whether reads are cancelled sometimes
	fail     bool    // whether the store fails sometimes
	skip     bool    // whether batches are complete without a read sometimes
	end      bool    // whether loops end early sometimes
	least    int     // states that there are
}

// TestEveryInterleavingOfLoopsIsRead explores what may happen to a Prefetcher. Between any two of these
// events all else has come to rest:
//
//	s1   the loop 1 is foreseen
//	r1   its next batch begins, and its block is read
//	x1   its next batch is complete without a read
//	c1   its first read that waits is cancelled
//	z1   it ends, early or after its last batch
//	a2   the store answers its first request for block 2
//	f2   it fails instead
//
// The events that led to a state are replayed for each event that may follow. States that look the
// same are left once. From each state everything must end: see simulation.finish and simulation.close.
// If an event wakes several loops, one of the orders in which they go on is explored.
//
// Three loops with four batches each take a minute: use the flag -large.
func TestEveryInterleavingOfLoopsIsRead(t *testing.T) {
	worlds := []world{
		{loops: [][]int{{0, 1, 0}}, memory: 1, requests: 1, width: 2, cancel: true, fail: true, skip: true, end: true, least: 190},
		{loops: [][]int{{0, 1, 0, 0}}, memory: 3, requests: 2, width: 2, fits: true, least: 15},
		{loops: [][]int{{0, 1}, {1, 0}}, memory: 1, requests: 1, width: 1, cancel: true, fail: true, end: true, least: 1000},
		{loops: [][]int{{0, 1}, {2, 3}}, memory: 1, requests: 2, width: 1, joined: true, skip: true, end: true, least: 500},
	}
	if !testing.Short() {
		worlds = append(worlds,
			world{loops: [][]int{{0, 1, 2, 3}}, memory: 2, requests: 2, width: 2, cancel: true, fail: true, skip: true, end: true, least: 2400},
			world{loops: [][]int{{0, 1, 2}, {2, 0, 1}}, memory: 2, requests: 2, width: 1, end: true, least: 750},
			world{loops: [][]int{{0}, {0}, {0}}, memory: 1, requests: 1, width: 1, cancel: true, fail: true, end: true, least: 1400})
	}
	if *large {
		worlds = append(worlds,
			world{loops: [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}}, memory: 2, requests: 2, width: 1, cancel: true, end: true, least: 4000},
			world{loops: [][]int{{0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}}, memory: 2, requests: 1, width: 1, least: 90_000})
	}
	for _, w := range worlds {
		t.Run(fmt.Sprintf("%v in memory for %d", w.loops, w.memory), func(t *testing.T) {
			synctest.Test(t, w.explore)
		})
	}
}

func (w world) explore(t *testing.T) {
	seen := make(map[string]bool)
	runs := 0
	for paths := [][]string{nil}; len(paths) > 0 && !t.Failed(); runs++ { // the shortest first
		path := paths[0]
		paths = paths[1:]
		s := newSimulation(t, w)
		for _, event := range path {
			if !s.do(event) { // loops that were woken at once went on in another order
				break
			}
		}
		s.check()
		if state := s.state(); !seen[state] {
			seen[state] = true
			for _, event := range s.possible() {
				paths = append(paths, append(slices.Clip(s.path), event))
			}
			s.finish()
		}
		s.close()
	}
	t.Logf("%d states, %d interleavings", len(seen), runs)
	if len(seen) < w.least && !t.Failed() {
		t.Errorf("only %d states were explored", len(seen))
	}
}

// A simulation is a Prefetcher whose store answers when the test says so, and loops that read.
type simulation struct {
	world
	t     *testing.T
	path  []string // the events so far
	p     *Prefetcher
	parts []part

	mu      sync.Mutex
	open    bool       // whether the store answers at once
	pending []*request // in their order
	asked   [8]int     // requests, by block
	excused [8]int     // those that may have been in vain
}

// A part is a loop's future and its reads.
type part struct {
	sim     *simulation
	k       int
	foresee bool // whether it was foreseen
	epoch   *epoch
	stop    func() // not nil until it ends
	ending  bool
	begun   int // guarded by the simulation's mutex, like over of reads
	reads   []read
}

type read struct {
	cancel    context.CancelFunc // not nil while it waits
	cancelled bool
	failed    bool // whether the store has failed in its own request
	over      bool
}

type request struct {
	block  int
	by     *read // that sent it, or nil
	answer chan error
}

type readKey struct{}

var errAnswer = errors.New("the store has failed")

const blockLen = 8 // bytes

func named(block int) objects.Block {
	return objects.Block{Object: objects.Object{Name: fmt.Sprint(block), Size: blockLen}, Len: blockLen}
}

func newSimulation(t *testing.T, w world) *simulation {
	sim := &simulation{world: w, t: t, parts: make([]part, len(w.loops))}
	for k := range sim.parts {
		sim.parts[k] = part{sim: sim, k: k, reads: make([]read, len(w.loops[k]))}
	}
	var err error
	if sim.p, err = New(sim, MaxBytes(int64(w.memory*blockLen)), Requests(w.requests)); err != nil {
		t.Fatal(err)
	}
	return sim
}

func (sim *simulation) List(context.Context, string) iter.Seq2[objects.Object, error] { return nil }

func (sim *simulation) Identity() string { return "" }

func (sim *simulation) Stat(context.Context, string) (objects.Object, error) {
	return objects.Object{}, errors.ErrUnsupported
}

// ReadAt waits for the event that answers the request. Until then its memory has other bytes.
func (sim *simulation) ReadAt(ctx context.Context, o objects.Object, dst []byte, _ int64) error {
	q := &request{block: int(o.Name[0] - '0'), answer: make(chan error, 1)}
	q.by, _ = ctx.Value(readKey{}).(*read)
	fill(dst, 0xff)
	sim.mu.Lock()
	sim.pending = append(sim.pending, q)
	sim.asked[q.block]++
	if q.by != nil && sim.begunLoops() > 1 { // it may be taken for that of another loop
		sim.excused[q.block]++
	}
	if sim.open {
		q.answer <- nil
	}
	sim.mu.Unlock()
	var err error
	select {
	case err = <-q.answer:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err == nil {
		fill(dst, byte(q.block))
	}
	sim.mu.Lock()
	defer sim.mu.Unlock()
	sim.pending = slices.DeleteFunc(sim.pending, func(other *request) bool { return other == q })
	return err
}

// begunLoops is how many loops read. The caller holds the mutex.
func (sim *simulation) begunLoops() (n int) {
	for k := range sim.parts {
		if sim.parts[k].begun > 0 {
			n++
		}
	}
	return n
}

func fill(p []byte, b byte) { copy(p, bytes.Repeat([]byte{b}, len(p))) }

func (f *part) Len() int                      { return len(f.reads) }
func (f *part) At(batch int, dst []int) []int { return append(dst, f.sim.loops[f.k][batch]) }

// whole is the same for the parts of one loop.
func (f *part) whole() dataset.Future {
	if f.sim.joined {
		return joined{f.sim}
	}
	return own{f}
}

func (f *part) Begun() int { return f.whole().Begun() }
func (f *part) Done() int  { return f.whole().Done() }

// own is the future of a loop of one part.
type own struct{ *part }

func (f own) Begun() int {
	f.sim.mu.Lock()
	defer f.sim.mu.Unlock()
	return f.begun
}

func (f own) Done() int {
	f.sim.mu.Lock()
	defer f.sim.mu.Unlock()
	return f.done()
}

// done is how many batches at the beginning are complete. The caller holds the simulation's mutex.
func (f *part) done() int {
	n := slices.IndexFunc(f.reads[:f.begun], func(r read) bool { return !r.over })
	if n < 0 {
		return f.begun
	}
	return n
}

// joined is the future of a loop that has all parts.
type joined struct{ sim *simulation }

func (f joined) Len() int                      { return len(f.sim.loops[0]) }
func (f joined) At(batch int, dst []int) []int { return dst }

func (f joined) Begun() (n int) {
	f.sim.mu.Lock()
	defer f.sim.mu.Unlock()
	for k := range f.sim.parts {
		n = max(n, f.sim.parts[k].begun)
	}
	return n
}

func (f joined) Done() int {
	f.sim.mu.Lock()
	defer f.sim.mu.Unlock()
	n := f.Len()
	for k := range f.sim.parts {
		n = min(n, f.sim.parts[k].done())
	}
	return n
}

// do lets an event happen, and waits until nothing else does. It reports whether the event is possible.
func (sim *simulation) do(event string) bool {
	if !slices.Contains(sim.possible(), event) {
		return false
	}
	k := int(event[1] - '0')
	switch event[0] {
	case 's':
		f := &sim.parts[k]
		f.foresee = true
		f.stop = sim.p.Foresee(f, objects.Blocks{
			Len: len(sim.asked),
			Of:  func(sample int) int { return sample },
			At:  func(block int, dst []objects.Block) []objects.Block { return append(dst, named(block)) },
		})
		f.epoch = sim.p.epochs[len(sim.p.epochs)-1]
	case 'r', 'x':
		sim.begin(&sim.parts[k], event[0] == 'r')
	case 'c':
		r := sim.parts[k].first()
		r.cancelled = true
		sim.excused[sim.parts[k].block(r)]++
		r.cancel()
	case 'z':
		sim.end(&sim.parts[k])
	case 'a', 'f':
		q := sim.pending[slices.IndexFunc(sim.pending, func(q *request) bool { return q.block == k })]
		if event[0] == 'a' {
			q.answer <- nil
			break
		}
		sim.excused[k]++
		if q.by != nil {
			q.by.failed = true // so it is the error of the batch
		} else { // those who wait for it send their own, and a batch that is looked at late one more
			for _, e := range sim.p.epochs {
				if b := e.blocks[named(k)]; b != nil {
					sim.excused[k] += b.readers
				}
			}
		}
		q.answer <- errAnswer
	}
	synctest.Wait()
	sim.path = append(sim.path, event)
	return true
}

// begin begins the next batch, and reads it or completes it at once.
func (sim *simulation) begin(f *part, reads bool) {
	batch := f.begun
	r, name := &f.reads[batch], named(sim.loops[f.k][batch])
	sim.mu.Lock()
	defer sim.mu.Unlock()
	f.begun++
	if r.over = !reads; r.over {
		sim.excused[sim.loops[f.k][batch]]++
		return
	}
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), readKey{}, r))
	r.cancel = cancel
	go func() {
		dst := make([]byte, blockLen)
		err := sim.p.ReadAt(ctx, name.Object, dst, 0)
		cancel()
		switch {
		case err == nil && !bytes.Equal(dst, bytes.Repeat([]byte{name.Object.Name[0] - '0'}, blockLen)):
			sim.wrong("batch %d of loop %d has bytes %v", batch, f.k, dst)
		case err != nil && !(r.cancelled && errors.Is(err, context.Canceled)) && !(r.failed && errors.Is(err, errAnswer)):
			sim.wrong("batch %d of loop %d: %v", batch, f.k, err)
		}
		sim.mu.Lock()
		defer sim.mu.Unlock()
		r.cancel, r.over = nil, true
	}()
}

// end ends a loop, also while it reads.
func (sim *simulation) end(f *part) {
	for batch := range f.reads {
		if !f.reads[batch].over {
			sim.excused[sim.loops[f.k][batch]]++
		}
	}
	stop := f.stop
	f.stop, f.ending = nil, true
	go func() {
		stop()
		sim.p.mu.Lock()
		defer sim.p.mu.Unlock()
		f.ending = false
	}()
}

// first is the first read that waits, or nil.
func (f *part) first() *read {
	for batch := range f.reads {
		if f.reads[batch].cancel != nil {
			return &f.reads[batch]
		}
	}
	return nil
}

// block is that of a read.
func (f *part) block(r *read) int {
	for batch := range f.reads {
		if r == &f.reads[batch] {
			return f.sim.loops[f.k][batch]
		}
	}
	return -1
}

// waits is how many reads wait.
func (f *part) waits() (n int) {
	for batch := range f.reads {
		if f.reads[batch].cancel != nil {
			n++
		}
	}
	return n
}

// possible are the events that may happen now.
func (sim *simulation) possible() (events []string) {
	for k := range sim.parts {
		f := &sim.parts[k]
		waits := f.waits()
		if !f.foresee && (k == 0 || sim.parts[k-1].foresee) {
			events = append(events, fmt.Sprint("s", k))
		}
		if f.stop != nil && f.begun < f.Len() && waits < sim.width {
			events = append(events, fmt.Sprint("r", k))
			if sim.skip {
				events = append(events, fmt.Sprint("x", k))
			}
		}
		if f.stop != nil && (sim.world.end || f.begun == f.Len() && waits == 0) {
			events = append(events, fmt.Sprint("z", k))
		}
		if waits > 0 && sim.cancel {
			events = append(events, fmt.Sprint("c", k))
		}
	}
	for block := range sim.asked {
		if slices.ContainsFunc(sim.pending, func(q *request) bool { return q.block == block }) {
			events = append(events, fmt.Sprint("a", block))
			if sim.fail {
				events = append(events, fmt.Sprint("f", block))
			}
		}
	}
	return events
}

// state describes everything on which what happens next depends.
func (sim *simulation) state() string {
	var b strings.Builder
	p := sim.p
	fmt.Fprint(&b, p.allowed)
	for k := range sim.parts {
		f := &sim.parts[k]
		fmt.Fprint(&b, "\n", f.foresee, f.stop != nil, f.begun)
		for batch := range f.reads {
			fmt.Fprint(&b, f.reads[batch].over)
		}
		if e := f.epoch; e != nil && f.stop != nil {
			fmt.Fprint(&b, " ", e.batch, e.next, e.looking, e.asked)
			for _, m := range e.order {
				fmt.Fprint(&b, ",", m.name.Object.Name, m.gone, m.state, m.readers, m.read, m.first, m.last, m.reads)
			}
			for block := range sim.asked {
				fmt.Fprint(&b, e.overtaken[named(block)])
			}
		}
	}
	requests := slices.Clone(sim.pending)
	slices.SortStableFunc(requests, func(a, b *request) int { return a.block - b.block })
	for _, q := range requests {
		fmt.Fprint(&b, "\n", q.block, sim.reader(q))
	}
	return b.String()
}

// reader is the loop whose read has sent a request, or -1.
func (sim *simulation) reader(q *request) int {
	return slices.IndexFunc(sim.parts, func(f part) bool {
		for batch := range f.reads {
			if q.by == &f.reads[batch] {
				return true
			}
		}
		return false
	})
}

func (sim *simulation) wrong(format string, args ...any) {
	sim.t.Errorf("after %s: %s", strings.Join(sim.path, " "), fmt.Sprintf(format, args...))
}

// check tells what must be so in every state.
func (sim *simulation) check() {
	p := sim.p
	if p.running > p.allowed || p.allowed > sim.requests || p.allowed < 1 {
		sim.wrong("%d requests, %d are allowed", p.running, p.allowed)
	}
	held, waits := int64(0), false
	for _, e := range p.epochs {
		own := int64(0)
		for _, b := range e.blocks {
			own += b.name.Len
			waits = waits || b.state == waiting
			if b.reads < 1 || b.first > b.last || b.gone || b.state == fetched && (b.data == nil || b.err != nil) {
				sim.wrong("block %s: %d reads of batches %d to %d, %d bytes, %v", b.name.Object.Name, b.reads, b.first, b.last, len(b.data), b.err)
			}
		}
		if own != e.bytes || own > int64(sim.memory*blockLen) {
			sim.wrong("an epoch holds %d bytes and %d are counted, in memory of %d blocks", own, e.bytes, sim.memory)
		}
		held += own
		if begun := e.future.Begun(); !sim.skip && e.looking && e.batch < begun+mostBatches && e.mayFetch(begun, blockLen) {
			sim.wrong("an epoch rests at batch %d, although there is room", e.batch)
		}
	}
	sim.mu.Lock()
	begun := sim.begunLoops()
	sim.mu.Unlock()
	if held > int64((begun+1)*sim.memory*blockLen) || begun == 0 && held > int64(sim.memory*blockLen) {
		sim.wrong("%d bytes are held in memory of %d blocks, and %d loops have begun", held, sim.memory, begun)
	}
	if waits && p.running < p.allowed {
		sim.wrong("blocks wait, although there are %d requests and %d are allowed", p.running, p.allowed)
	}
	if held != p.bytes {
		sim.wrong("%d bytes are held and %d counted", held, p.bytes)
	}
	for k := range sim.parts {
		f := &sim.parts[k]
		if f.ending {
			sim.wrong("loop %d does not end", k)
		}
		for batch := range f.reads {
			if r := &f.reads[batch]; r.cancel != nil && !slices.ContainsFunc(sim.pending, func(q *request) bool { return q.block == sim.loops[k][batch] }) {
				sim.wrong("batch %d of loop %d waits for nothing", batch, k)
			}
		}
	}
	for block, n := range sim.asked {
		for k, f := range sim.parts {
			for batch, other := range sim.loops[k] {
				again := sim.fits && slices.Contains(sim.loops[k][:batch], block)
				if f.foresee && other == block && !again {
					n--
				}
			}
		}
		if n > sim.excused[block] {
			sim.wrong("%d requests for block %d", sim.asked[block], block)
		}
	}
}

// finish lets all loops read to their end.
func (sim *simulation) finish() {
	sim.answerAll()
	for again := true; again; {
		again = false
		for k := range sim.parts {
			f := &sim.parts[k]
			for _, event := range []string{"s", "r", "z"} {
				if event == "z" && f.begun < f.Len() {
					continue
				}
				again = sim.do(fmt.Sprint(event, k)) || again
			}
			if f.waits() > 0 {
				sim.wrong("a read of loop %d has no answer", k)
				return
			}
		}
	}
	for k := range sim.parts {
		if f := &sim.parts[k]; f.stop != nil {
			sim.wrong("loop %d has read %d batches", k, f.begun)
		}
	}
	sim.rests()
}

// answerAll lets the store answer at once from now on.
func (sim *simulation) answerAll() {
	sim.mu.Lock()
	sim.open = true
	for _, q := range sim.pending {
		if len(q.answer) == 0 {
			q.answer <- nil
		}
	}
	sim.mu.Unlock()
	synctest.Wait()
}

// close ends all loops, and then the reads that are left. Nothing is left of them.
func (sim *simulation) close() {
	for k := range sim.parts {
		if f := &sim.parts[k]; f.stop != nil {
			sim.end(f)
			synctest.Wait()
		}
	}
	for k := range sim.parts {
		f := &sim.parts[k]
		for r := f.first(); r != nil; r = f.first() {
			r.cancelled = true
			r.cancel()
			synctest.Wait()
			if r.cancel != nil {
				sim.wrong("a read of loop %d that is cancelled does not end", k)
				break
			}
		}
	}
	sim.rests()
	sim.answerAll()
}

// rests tells what must be so when no loop is left.
func (sim *simulation) rests() {
	p := sim.p
	sim.check()
	if len(p.epochs)+p.running > 0 || p.bytes != 0 {
		sim.wrong("there are still %d epochs, %d bytes, %d requests", len(p.epochs), p.bytes, p.running)
	}
	if len(sim.pending) > 0 {
		sim.wrong("%d requests are under way", len(sim.pending))
	}
}
