package sampler

import "fmt"

// Grouped takes every sample once per epoch, in a random order that goes through
// few groups at a time: the groups are shuffled, every [Together] of them in a
// row form a party, and the samples of a party are shuffled. What is expensive to
// have at hand, such as a patient's decoded volumes, is so needed once per epoch
// where there is room for one party, or two while the loader crosses from one
// party to the next.
//
// Ends are where the samples of every group end: group g has samples ends[g-1]
// to ends[g]-1, the first from 0 on. Ends in falling order panic. With Together(1)
// batches are of one group or two; with all groups, the order is a shuffle like
// any other. An order takes 8 bytes per sample; the sampler keeps those of the
// last two epochs.
func Grouped(ends []int, seed uint64, options ...GroupOption) Sampler {
	c := newGroupConfig("Grouped", options)
	g := &grouped{starts: make([]int, 1, len(ends)+1), together: c.together, seed: seed}
	for i, end := range ends {
		if end < g.starts[i] {
			panic(fmt.Sprintf("sampler: Grouped: group %d ends at %d, before its beginning at %d", i, end, g.starts[i]))
		}
		g.starts = append(g.starts, end)
	}
	return g
}

type grouped struct {
	starts   []int // of every group, and the number of samples
	together int
	seed     uint64
	orders   recent[written]
}

func (g *grouped) Epoch(epoch int) Order { return g.orders.of(epoch, g.order) }

func (g *grouped) order(epoch int) written {
	random := stream(epochKey(forGroups, g.seed, epoch))
	groups := make([]int, len(g.starts)-1)
	for i := range groups {
		groups[i] = i
	}
	shuffle(&random, groups)
	order := make(written, 0, g.starts[len(groups)])
	for len(groups) > 0 {
		n := min(g.together, len(groups))
		begin := len(order)
		for _, group := range groups[:n] {
			for i := g.starts[group]; i < g.starts[group+1]; i++ {
				order = append(order, i)
			}
		}
		shuffle(&random, order[begin:])
		groups = groups[n:]
	}
	return order
}
