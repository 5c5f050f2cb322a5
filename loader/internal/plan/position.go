package plan

import (
	"errors"
	"fmt"
	"math"

	"github.com/penstock-go/penstock/dataset"
)

// A Position is a place between two batches of an epoch: the public type of package loader, which documents it.
type Position struct {
	Version int
	Epoch   int
	Draw    int
	Seed    uint64
	Samples int
	Order   string
	Ahead   []int
	Step    int
}

// version is the format of positions.
const version = 1

func (p Position) unknown() bool { return p.Samples == dataset.Unknown }

// Position is the place before the first batch of an epoch.
func (p *Planner) Position(epoch int) Position {
	from := p.Start(epoch)
	from.Order = p.identity()
	return from
}

// Start is the beginning of an epoch, without its order.
func (p *Planner) Start(epoch int) Position { return p.start(epoch, p.Len()) }

func (p *Planner) start(epoch, samples int) Position {
	return Position{Version: version, Epoch: epoch, Seed: p.Seed, Samples: samples}
}

// Check reports why a loop cannot resume at a position. It plans no epoch, so it does not compare the position with the
// epoch's order.
func (p *Planner) Check(from Position) error {
	switch {
	case from.Version == 0:
		return errors.New("loader: From: not a position of a loader: it has no version")
	case from.Version != version:
		return fmt.Errorf("loader: From: the position has version %d, this program reads %d", from.Version, version)
	case from.Epoch < 0 || from.Draw < 0:
		return fmt.Errorf("loader: From: not a position: epoch %d, draw %d", from.Epoch, from.Draw)
	case from.Epoch == math.MaxInt: // the end of a loop, from+1, could not be told
		return fmt.Errorf("loader: From: not a position: epoch %d, want %d at most", from.Epoch, math.MaxInt-1)
	case !ascending(from.Ahead):
		return fmt.Errorf("loader: From: not a position: ahead is %v", from.Ahead)
	case from.Step < 0 || (from.Step == 0) != (len(from.Ahead) == 0):
		return fmt.Errorf("loader: From: not a position: %d batches ahead in steps of %d draws", len(from.Ahead), from.Step)
	case from.Seed != p.Seed:
		return fmt.Errorf("loader: From: the position was taken with Seed(%d), this loader has Seed(%d)", from.Seed, p.Seed)
	case from.Samples != p.Len():
		return fmt.Errorf("loader: From: the position was taken with %d samples, this dataset has %d", from.Samples, p.Len())
	}
	if order := p.identity(); from.Order != "" && order != "" && from.Order != order {
		return otherOrder(from.Order, order)
	}
	return nil
}

// ascending reports whether the numbers are 0 or more and increase.
func ascending(numbers []int) bool {
	last := -1
	for _, n := range numbers {
		if n <= last {
			return false
		}
		last = n
	}
	return true
}
