package loader

import (
	"fmt"
	"io/fs"
	"math"
	"os"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/machine"
)

// Auto as the number of [Workers] lets the loader find the number itself, and change it while it runs.
//
// It starts with a worker per processor. If workers wait rather than compute, more of them help, and how many follows
// from how much they wait: as many as keep the processors or the loop body busy, and two fifths more, up to 256, or as
// many as an epoch has samples. How much they compute is known from the processor time of the program and, on Linux,
// from how long its threads wait for processors that other programs have; where the system does not tell it, from the
// dataset's stages. It takes about three samples per worker to know, and some more to see whether storage serves so
// many reads at once: if not, the workers that it does not serve are parked. From then on Auto leaves the number alone
// until the load has clearly changed: the speed by a third, or reads to half of their time. If the loop body is the
// limit, it parks the workers that are not needed. Parked workers keep their Readers.
//
// The number of slabs follows the workers, within the [Budget], and doubles if workers wait for memory while the loop
// waits for them, as long as that loads more. Slabs are only freed when a loop ends, because page-locked memory is
// expensive to get. Options that are given explicitly stay fixed: [InFlight], for one. The data is the same as with any
// number of workers.
//
// [Stats.Tuning] says what the loader has chosen, and why. What it has learned is kept from loop to loop.
const Auto = math.MinInt32

// Budget sets how many bytes the batches may take: all slabs and ragged fields, as [Stats].SlabBytes counts them. What
// Readers allocate does not count. By default it is 2 GiB, or three slabs if these are larger. With [Auto] it is a
// quarter of the memory that the system, and the container if there is one, have available when the loader is made.
//
// It bounds the number of slabs. Ragged fields count with the size of the largest batch so far. So a larger batch may
// exceed the budget by the difference. A budget for one slab only makes workers wait while a batch is in the loop body.
// With one for more slabs, a batch can always be assembled meanwhile, however large ragged fields are. It is an error
// if the slabs of [InFlight], or a single slab, take more than the budget.
func Budget(bytes int) Option {
	return Option{func(c *config) { c.budget = bytes; c.set.budget = true }}
}

// Tuning is what a loader with [Auto] has chosen.
type Tuning struct {
	Workers  int    // that are active; others are parked
	InFlight int    // batches in memory, as in [InFlight]; some may not be allocated yet
	Budget   int64  // bytes, as in [Budget]
	Changes  int    // how often it has changed the number of workers, trials included
	Reason   string // why, in words; empty without Auto

	gained int    // the workers that loaded much more than fewer did; 0 if none
	deeper string // what gives more batches in flight, in words
}

// String is a sentence such as "8 workers, 17 batches in flight within 2.0 GiB: 16 workers load no more than 8". It is
// empty without [Auto].
func (t Tuning) String() string {
	if t.Reason == "" {
		return ""
	}
	return fmt.Sprintf("%s, %s in flight within %s: %s", figures.Count(t.Workers, "worker", "workers"),
		figures.Count(t.InFlight, "batch", "batches"), figures.Bytes(t.Budget), t.Reason)
}

// automatic fills in what Auto implies.
func (c *config) automatic(processors int) {
	if c.workers != Auto {
		return
	}
	c.auto, c.workers = true, processors
	if !c.set.budget {
		c.budget = quarter(os.DirFS("/"))
	}
}

// quarter is a quarter of the memory that is available, at least a byte, or the usual bound where that is not known.
func quarter(root fs.FS) int {
	if room, known := machine.Available(root); known {
		return int(min(max(room.Bytes/4, 1), math.MaxInt))
	}
	return bound
}
