package sampler

import (
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/internal/splitmix"
)

// Grouped takes every sample once per epoch, in a random order that goes through
// few groups at a time: the groups are shuffled, every [Together] of them in a
// row form a party, and the samples of a party are shuffled. What is expensive to
// have at hand, such as a patient's decoded volumes or a block of a record shard,
// is so needed once per epoch where there is room for one party, or two while the
// loader crosses from one party to the next.
//
// With [Lanes] the shuffled groups are cut into as many equal parts, in which
// parties are formed; place k of the order is of lane k mod lanes. A rank whose
// world size divides the lanes reads groups of its own, but for those that a cut
// divides; groups should be many more than lanes. The lanes change parties at
// different places, so that they do not all need new groups at once.
//
// Ends are where the samples of every group end: group g has samples ends[g-1]
// to ends[g]-1, the first from 0 on. Ends in falling order panic. With Together(1)
// batches are of one group or two per lane; with all groups, the order is a
// shuffle like any other. An order takes up to 32 bytes per group, and At time
// that grows with the logarithm of their number; the sampler keeps the orders of
// the last two epochs.
func Grouped(ends []int, seed uint64, options ...GroupOption) *GroupSampler {
	g := &GroupSampler{groupConfig: newGroupConfig("Grouped", options), seed: seed}
	g.starts = make([]int, 1, len(ends)+1)
	for i, end := range ends {
		if end < g.starts[i] {
			panic(fmt.Sprintf("sampler: Grouped: group %d ends at %d, before its beginning at %d", i, end, g.starts[i]))
		}
		g.starts = append(g.starts, end)
	}
	return g
}

// A GroupSampler is a [Sampler] made by [Grouped].
type GroupSampler struct {
	groupConfig
	starts []int // of every group, and the number of samples
	seed   uint64
	orders recent[*groupOrder]
}

// Epoch gives every epoch its own order.
func (g *GroupSampler) Epoch(epoch int) Order { return g.orders.of(epoch, g.order) }

// groupOrder lays the shuffled groups on a line of all samples, of which lanes are
// equal parts and parties are parts of lanes.
type groupOrder struct {
	n, lanes int
	starts   []int // of the groups in the data set
	groups   []int // as they lie on the line
	ends     []int // of groups on the line
	key      uint64

	partyEnds   []int // on the line
	partyGroups []int // the first of every party, in groups
}

func (g *GroupSampler) order(epoch int) *groupOrder {
	key := epochKey(forGroups, g.seed, epoch)
	random := stream(key)
	o := &groupOrder{n: g.starts[len(g.starts)-1], lanes: g.lanes, starts: g.starts, key: random.next()}
	for i, start := range g.starts[:len(g.starts)-1] {
		if start < g.starts[i+1] {
			o.groups = append(o.groups, i)
		}
	}
	shuffle(&random, o.groups)
	o.ends = make([]int, len(o.groups))
	end := 0
	for i, group := range o.groups {
		end += g.starts[group+1] - g.starts[group]
		o.ends[i] = end
	}
	o.form(min(g.together, max(1, len(o.groups))))
	return o
}

// form makes parties of so many groups together. The first party of a lane is
// shorter by its share of them.
func (o *groupOrder) form(together int) {
	group := 0
	for lane := range min(o.lanes, o.n) {
		end := o.laneStart(lane + 1)
		last, _ := slices.BinarySearch(o.ends, end) // the lane's last group
		room := together - lane*together/o.lanes
		for begin := o.laneStart(lane); begin < end; room = together {
			o.partyGroups = append(o.partyGroups, group)
			group = min(group+room-1, last)
			begin = min(o.ends[group], end)
			o.partyEnds = append(o.partyEnds, begin)
			if o.ends[group] <= end { // else it goes on in the next lane
				group++
			}
		}
	}
}

// laneStart is where a lane begins on the line. The first lanes have a sample
// more where the lanes do not divide them.
func (o *groupOrder) laneStart(lane int) int {
	return o.n/o.lanes*lane + min(lane, o.n%o.lanes)
}

func (o *groupOrder) Len() int { return o.n }

func (o *groupOrder) At(k int) int {
	mustPlace(k, o.n)
	place := o.laneStart(k%o.lanes) + k/o.lanes
	p, _ := slices.BinarySearch(o.partyEnds, place+1)
	begin, end := 0, o.partyEnds[p]
	if p > 0 {
		begin = o.partyEnds[p-1]
	}
	first, last := o.partyGroups[p], len(o.groups)
	if p+1 < len(o.partyGroups) {
		last = o.partyGroups[p+1] // found if it is none of the others: a lane's end cuts it
	}
	place = begin + permuted(place-begin, end-begin, splitmix.Mix(o.key^uint64(p)))
	i, _ := slices.BinarySearch(o.ends[first:last], place+1)
	group := o.groups[first+i]
	return o.starts[group+1] - (o.ends[first+i] - place)
}
