package serve

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var large = flag.Bool("large", false, "explore also worlds that take minutes")

// A world is what a pool is explored with.
type world struct {
	ranks, each int  // each rank has that many batches
	rooms       int  // lanes for which there is memory
	ahead       int  // requests of a rank at once
	free        bool // whether a rank asks for any batch, also again, or for one after the other
	expire      bool // whether lanes expire
	fail        bool // whether batches cannot be made sometimes
	least       int  // states that there are
}

// TestEveryInterleavingOfRequestsIsAnswered explores what may happen to a pool. Between any two of
// these events all else has come to rest:
//
//	a12  rank 1 asks for batch 2, also again after an error
//	c12  this request is cancelled while it waits
//	e12  rank 1 has read batch 2
//	m0   the first lane's loop has made a batch, or notices that it must end
//	f0   it cannot make a batch, and ends
//	t    lanes that nobody uses have become old
//	i    lanes that nobody uses expire
//
// The events that led to a state are replayed for each event that may follow. States that look the same
// are left once, whichever ranks they are of: see simulation.state. From each state everything must end:
// see simulation.finish and simulation.close. If an event wakes two requests that both need another lane,
// one of the two orders in which they come is explored.
//
// Three ranks with four batches each and memory for two lanes take minutes: use the flag -large.
func TestEveryInterleavingOfRequestsIsAnswered(t *testing.T) {
	worlds := []world{
		{ranks: 1, each: 4, rooms: 1, ahead: 2, free: true, expire: true, fail: true, least: 1500},
		{ranks: 2, each: 2, rooms: 1, ahead: 1, free: true, expire: true, fail: true, least: 100},
		{ranks: 3, each: 1, rooms: 2, ahead: 1, free: true, expire: true, fail: true, least: 200},
	}
	if !testing.Short() {
		worlds = append(worlds,
			world{ranks: 3, each: 4, rooms: 1, ahead: 1, least: 3500},
			world{ranks: 3, each: 2, rooms: 2, ahead: 1, least: 8000},
			world{ranks: 2, each: 3, rooms: 1, ahead: 2, expire: true, least: 5000})
	}
	if *large {
		worlds = append(worlds,
			world{ranks: 2, each: 4, rooms: 1, ahead: 2, expire: true, least: 20_300},
			world{ranks: 1, each: 4, rooms: 2, ahead: 2, free: true, least: 1000},
			world{ranks: 3, each: 4, rooms: 2, ahead: 1, least: 250_000})
	}
	for _, w := range worlds {
		t.Run(fmt.Sprintf("%d ranks, %d batches, %d lanes", w.ranks, w.each, w.rooms), func(t *testing.T) {
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
			if !s.do(event) { // requests that were woken at once came in another order
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

// A simulation is a pool whose batches are made when the test says so, and the requests for them.
type simulation struct {
	world
	t        *testing.T
	path     []string // the events so far
	s        *Server
	requests [][]request // by rank and number

	mu     sync.Mutex
	loops  map[*lane]chan bool // those that make a batch wait for whether it succeeds
	open   bool                // batches are made at once
	memory map[*lane]int       // batches in use
	freed  *sync.Cond          // tells loops that wait for memory
}

// A request is one for a batch.
type request struct {
	cancel    context.CancelFunc // not nil while it waits
	cancelled bool
	m         *made
	done      func() // not nil while the batch is read
	err       error
}

// A passing error is one after which another attempt may succeed: see made.passing.
type passing struct{ error }

func (passing) Temporary() bool { return true }

var errMade = passing{errors.New("the batch cannot be made now")}

func newSimulation(t *testing.T, w world) *simulation {
	sim := &simulation{world: w, t: t, loops: make(map[*lane]chan bool), memory: make(map[*lane]int)}
	sim.freed = sync.NewCond(&sim.mu)
	sim.s = &Server{cfg: newConfig([]Option{InFlight(kept + 2), Batches(w.rooms * (kept + 2)), Idle(time.Hour)})}
	sim.s.lanes.s, sim.s.lanes.work = sim.s, sim.work
	sim.requests = make([][]request, w.ranks)
	for rank := range sim.requests {
		sim.requests[rank] = make([]request, w.each)
	}
	return sim
}

// work makes the batches of a lane, as lane.work does with a loader: no more than there is memory for,
// and a loop ends after the one that it makes when it is to end.
func (sim *simulation) work(l *lane) error {
	for {
		ctx, a, ok := l.started()
		if !ok {
			return nil
		}
		for sim.loop(ctx, l, &a) {
		}
		l.ended()
	}
}

// loop makes the next batch of a loop, and reports whether there is one after it.
func (sim *simulation) loop(ctx context.Context, l *lane, a *address) bool {
	ok, refs := sim.make(l), 1
	if !ok && ctx.Err() != nil {
		return false
	}
	next := *a
	next.number++
	if !ok {
		l.publish(ctx, &made{at: *a, err: errMade}, next, sim.each)
		return false
	}
	sim.mu.Lock()
	defer sim.mu.Unlock()
	for sim.memory[l] == sim.s.cfg.inFlight {
		sim.freed.Wait()
	}
	sim.memory[l]++
	free := func() {
		sim.mu.Lock()
		defer sim.mu.Unlock()
		if refs--; refs == 0 {
			sim.memory[l]--
			sim.freed.Broadcast()
		}
		if refs < 0 {
			sim.wrong("a batch of rank %d was freed twice", l.share.rank)
		}
	}
	keep := func() func() {
		sim.mu.Lock()
		defer sim.mu.Unlock()
		if refs++; refs == 1 {
			sim.wrong("a batch of rank %d is given after it was freed", l.share.rank)
		}
		return free
	}
	m := &made{at: *a, keep: keep, drop: free}
	*a = next
	sim.mu.Unlock()
	defer sim.mu.Lock()
	return l.publish(ctx, m, next, sim.each) && next.number < sim.each
}

// make waits for the event that ends the making of a batch, and reports whether it succeeds.
func (sim *simulation) make(l *lane) bool {
	sim.mu.Lock()
	c := make(chan bool, 1)
	sim.loops[l] = c
	if sim.open {
		c <- true
	}
	sim.mu.Unlock()
	defer func() {
		sim.mu.Lock()
		defer sim.mu.Unlock()
		delete(sim.loops, l)
	}()
	return <-c
}

// do lets an event happen, and waits until nothing else does. It reports whether the event is possible.
func (sim *simulation) do(event string) bool {
	time.Sleep(time.Millisecond) // no two requests come at the same time
	var rank, number int
	if len(event) == 3 {
		rank, number = int(event[1]-'0'), int(event[2]-'0')
	}
	r := &sim.requests[rank][number]
	switch event[0] {
	case 'a':
		if r.waits() || r.holds() {
			return false
		}
		sim.ask(rank, number)
	case 'c':
		if !r.waits() {
			return false
		}
		r.cancelled = true
		r.cancel()
	case 'e':
		if !r.holds() {
			return false
		}
		r.done()
		r.done = nil
	case 'm', 'f':
		lanes := sim.s.lanes.lanes
		k := int(event[1] - '0')
		if k >= len(lanes) || sim.loops[lanes[k]] == nil {
			return false
		}
		sim.loops[lanes[k]] <- event[0] == 'm'
	case 't':
		time.Sleep(recent + time.Second)
	case 'i':
		time.Sleep(sim.s.cfg.idle + time.Second)
	}
	synctest.Wait()
	sim.path = append(sim.path, event)
	return true
}

func (sim *simulation) ask(rank, number int) {
	ctx, cancel := context.WithCancel(context.Background())
	r := &sim.requests[rank][number]
	*r = request{cancel: cancel}
	go func() {
		r.m, r.done, r.err = sim.s.lanes.await(ctx, share{rank, sim.ranks}, address{number: number}, sim.each)
		cancel()
		r.cancel = nil
		if r.m != nil && r.m.err != nil {
			r.done()
			r.m, r.done, r.err = nil, nil, r.m.err
		}
	}()
}

func (r *request) waits() bool { return r.cancel != nil }
func (r *request) holds() bool { return r.done != nil }

// possible are the events that may happen now.
func (sim *simulation) possible() (events []string) {
	for rank, requests := range sim.requests {
		var asks []string
		under := 0
		for number := range requests {
			switch r := &requests[number]; {
			case r.waits():
				events = append(events, fmt.Sprintf("c%d%d", rank, number))
				under++
			case r.holds():
				events = append(events, fmt.Sprintf("e%d%d", rank, number))
				under++
			case sim.free || r.m == nil && len(asks) == 0:
				asks = append(asks, fmt.Sprintf("a%d%d", rank, number))
			}
		}
		if under < sim.ahead {
			events = append(events, asks...)
		}
	}
	for k, l := range sim.s.lanes.lanes {
		if sim.loops[l] != nil {
			events = append(events, fmt.Sprint("m", k))
			if sim.fail {
				events = append(events, fmt.Sprint("f", k))
			}
		}
	}
	if sim.expire {
		events = append(events, "i")
	}
	return append(events, "t")
}

// state describes everything on which what happens next depends. It does not say which rank is which.
func (sim *simulation) state() string {
	p := &sim.s.lanes
	order := slices.Clone(p.lanes)
	slices.SortStableFunc(order, func(a, b *lane) int { return a.touched.Compare(b.touched) })
	parts := make([]string, sim.ranks)
	for rank := range parts {
		var b strings.Builder
		for number := range sim.requests[rank] {
			switch r := &sim.requests[rank][number]; {
			case r.waits():
				b.WriteByte('w')
			case r.holds():
				b.WriteByte('h')
			case r.m != nil && !sim.free:
				b.WriteByte('r')
			default:
				b.WriteByte('.')
			}
		}
		for _, l := range p.lanes {
			if l.share.rank != rank {
				continue
			}
			early, begun := l.published <= kept, -1 // which matter until then
			if early {
				begun = l.begun.number
			}
			if l.waits() {
				b.WriteString(" waits")
			} else {
				fmt.Fprint(&b, " ", slices.Index(order, l), time.Since(l.touched) > recent)
			}
			fmt.Fprint(&b, l.starts != nil, l.running, l.stop != nil, l.closing, begun,
				l.next.number, min(l.published, kept), l.wanted-l.published, l.holders, sim.loops[l] != nil, sim.memory[l])
			for number := range sim.each {
				fmt.Fprint(&b, ",", l.awaited[address{number: number}])
			}
			for _, m := range l.window {
				fmt.Fprint(&b, " ", m.at.number, m.err != nil)
			}
		}
		parts[rank] = b.String()
	}
	slices.Sort(parts)
	return strings.Join(parts, "\n")
}

func (sim *simulation) wrong(format string, args ...any) {
	sim.t.Errorf("after %s: %s", strings.Join(sim.path, " "), fmt.Sprintf(format, args...))
}

// check tells what must be so in every state.
func (sim *simulation) check() {
	p := &sim.s.lanes
	if len(p.lanes) > sim.rooms {
		sim.wrong("there are %d lanes, want %d at most", len(p.lanes), sim.rooms)
	}
	waiting, holding := 0, 0
	for rank := range sim.requests {
		for number := range sim.requests[rank] {
			r := &sim.requests[rank][number]
			if r.waits() {
				waiting++
			}
			if r.holds() {
				holding++
			}
			if r.m != nil && (r.m.at.number != number || r.m.share.rank != rank) {
				sim.wrong("request %d of rank %d has batch %v of rank %d", number, rank, r.m.at, r.m.share.rank)
			}
			if r.err == errFull && sim.ranks == 1 {
				sim.wrong("request %d of rank %d: %v, which nobody else uses", number, rank, r.err)
			}
			if err := r.err; err != nil && !(r.cancelled && errors.Is(err, context.Canceled)) && !errors.Is(err, errFull) && !errors.Is(err, errMade) {
				sim.wrong("request %d of rank %d: %v", number, rank, err)
			}
		}
	}
	awaited, holders, closing := 0, 0, false
	for _, l := range p.lanes {
		for _, n := range l.awaited {
			awaited += n
		}
		holders += l.holders
		closing = closing || l.closing
		if l.running && !l.closing && sim.loops[l] == nil && l.published <= l.wanted && sim.memory[l] < sim.s.cfg.inFlight {
			sim.wrong("the loop of rank %d has made %d batches and rests, although %d are wanted", l.share.rank, l.published, l.wanted)
		}
		if len(l.window) > kept+len(l.awaited) || sim.memory[l] < 0 {
			sim.wrong("%d batches are kept, and %d in use", len(l.window), sim.memory[l])
		}
	}
	if holders != holding || awaited > waiting || awaited < waiting && !closing {
		sim.wrong("%d requests hold a batch and %d wait, but %d and %d are counted", holding, waiting, holders, awaited)
	}
}

// finish lets everything end. Each request has an answer then, and whoever asks again has a batch.
func (sim *simulation) finish() {
	sim.makeAll()
	sim.rest("has no answer")
	for rank := range sim.requests {
		time.Sleep(recent + time.Second)
		for number := range sim.requests[rank] {
			if r := &sim.requests[rank][number]; r.m == nil {
				for try := 0; try == 0 || try <= sim.rooms && r.err == errMade; try++ { // which a lane has from before
					sim.ask(rank, number)
					sim.rest("has no answer when it comes again")
				}
				if r.m == nil {
					sim.wrong("request %d of rank %d comes again: %v", number, rank, r.err)
				}
				break
			}
		}
	}
}

// makeAll lets all batches be made at once from now on.
func (sim *simulation) makeAll() {
	sim.mu.Lock()
	defer sim.mu.Unlock()
	sim.open = true
	for _, c := range sim.loops {
		if len(c) == 0 {
			c <- true
		}
	}
}

// rest ends the use of all batches, for which other requests may wait.
func (sim *simulation) rest(complaint string) {
	for range sim.each {
		synctest.Wait()
		for rank := range sim.requests {
			for number := range sim.requests[rank] {
				if r := &sim.requests[rank][number]; r.holds() {
					r.done()
					r.done = nil
				}
			}
		}
	}
	synctest.Wait()
	for rank := range sim.requests {
		for number := range sim.requests[rank] {
			if r := &sim.requests[rank][number]; r.waits() {
				sim.wrong("request %d of rank %d %s", number, rank, complaint)
			}
		}
	}
}

// close closes the pool. Requests that wait have an answer, and when those that hold batches end there
// is neither memory in use nor a goroutine.
func (sim *simulation) close() {
	sim.makeAll()
	closed := false
	go func() {
		if err := sim.s.lanes.close(); err != nil {
			sim.wrong("close: %v", err)
		}
		closed = true
	}()
	sim.rest("has no answer from a pool that is closed")
	if !closed {
		sim.wrong("the pool does not close")
	}
	for _, n := range sim.memory {
		if n != 0 {
			sim.wrong("%d batches are in use", n)
		}
	}
	for rank := range sim.requests {
		for number := range sim.requests[rank] {
			if r := &sim.requests[rank][number]; r.waits() {
				r.cancel()
			}
		}
	}
	synctest.Wait()
}
