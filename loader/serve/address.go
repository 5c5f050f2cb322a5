package serve

import (
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/penstock-go/penstock/loader"
)

// A share is a rank of a world.
type share struct{ rank, world int }

// An address says which batch of a share it is: its number, counted from a place of the
// epoch's global order. The place is 0 wherever the batch can be counted from there.
type address struct{ epoch, draw, number int }

// before reports whether a loop that comes to both comes to a first.
func (a address) before(b address) bool {
	return a.epoch < b.epoch || a.epoch == b.epoch && a.number < b.number
}

// parseShare parses "rank-world".
func parseShare(text string) (s share, ok bool) {
	rank, world, _ := strings.Cut(text, "-")
	var ok2 bool
	s.rank, ok = parseNumber(rank, mostNumber)
	s.world, ok2 = parseNumber(world, mostNumber)
	return s, ok && ok2 && s.rank < s.world
}

// mostNumber is the greatest epoch, batch and world size. The epoch after it is an int, too.
const mostNumber = math.MaxInt32 - 1

// parseNumber parses a number up to most as this package writes it, so that a batch has one
// path.
func parseNumber(text string, most int) (n int, ok bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && n <= most && strconv.Itoa(n) == text
}

// rests remembers what schedules have computed.
type rests struct {
	s  *Server
	mu sync.Mutex
	m  map[restKey]loader.Rest
}

type restKey struct {
	share
	epoch, draw int
}

// most is the number of entries that rests keeps.
const most = 1024

// of is what remains of an epoch after a draw.
func (r *rests) of(of share, epoch, draw int) (loader.Rest, error) {
	key := restKey{of, epoch, draw}
	r.mu.Lock()
	rest, ok := r.m[key]
	r.mu.Unlock()
	if ok {
		return rest, nil
	}
	schedule, err := r.s.schedule(of)
	if err != nil {
		return rest, err
	}
	p := schedule.Position(epoch)
	p.Draw = draw
	if rest, err = schedule.Rest(p); err != nil {
		return rest, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.m) >= most || r.m == nil {
		r.m = make(map[restKey]loader.Rest)
	}
	r.m[key] = rest
	return rest, nil
}
