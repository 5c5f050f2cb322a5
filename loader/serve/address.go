package serve

import (
	"math"
	"strconv"
	"strings"
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
