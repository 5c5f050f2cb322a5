package sampler

import (
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/internal/prng"
)

// Grouped takes every sample once per epoch, in a random order that reads few groups at a
// time. The groups are shuffled, [Together] consecutive ones form a pool, and the samples of
// each pool are shuffled.
//
// A group is what is expensive to load, such as a patient's volumes or a block of a record
// shard. ends says where each ends: group g has the samples from ends[g-1] to ends[g]-1. If
// memory has room for two pools in each lane, each group is loaded once per epoch.
//
// [Lanes] cuts the shuffled groups into equal parts, and place k of the order is in lane k
// mod lanes. If the world size divides their number, two ranks share a group only where it
// lies on the cut between their lanes.
//
// An order takes up to 32 bytes per group. The sampler keeps the orders of the last two
// epochs. Grouped panics if ends decrease or are negative.
func Grouped(ends []int, seed uint64, options ...GroupOption) Sampler {
	g := &grouped{groupConfig: newGroupConfig("Grouped", options), seed: seed}
	g.starts = make([]int, 1, len(ends)+1)
	for i, end := range ends {
		if end < g.starts[i] {
			panic(fmt.Sprintf("sampler: Grouped: group %d ends at %d, before its beginning at %d", i, end, g.starts[i]))
		}
		g.starts = append(g.starts, end)
	}
	return g
}

type grouped struct {
	groupConfig
	starts []int // of the groups, then the number of samples
	seed   uint64
	orders recent[*groupOrder]
}

func (g *grouped) Epoch(epoch int) Order { return g.orders.of(epoch, g.order) }

// groupOrder lays the shuffled groups on a line of all samples. Lanes are equal
// parts of the line, and pools are parts of lanes.
type groupOrder struct {
	n, lanes int
	starts   []int // of the groups in the dataset
	groups   []int // in their order on the line
	ends     []int // of groups, on the line
	key      uint64

	poolEnds   []int // on the line
	poolGroups []int // the first group of every pool, as an index in groups
}

func (g *grouped) order(epoch int) *groupOrder {
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

// form makes pools of together groups. The first pool of lane i is smaller by
// i·together/lanes groups, so that lanes change pools at different places.
func (o *groupOrder) form(together int) {
	group := 0
	for lane := range min(o.lanes, o.n) {
		end := o.laneStart(lane + 1)
		last, _ := slices.BinarySearch(o.ends, end) // the lane's last group
		room := together - int(int64(lane)*int64(together)/int64(o.lanes))
		for begin := o.laneStart(lane); begin < end; room = together {
			o.poolGroups = append(o.poolGroups, group)
			group = min(group+room-1, last)
			begin = min(o.ends[group], end)
			o.poolEnds = append(o.poolEnds, begin)
			if o.ends[group] <= end { // otherwise it continues in the next lane
				group++
			}
		}
	}
}

// laneStart is where a lane begins on the line. If the number of lanes does not
// divide the number of samples, the first lanes have one sample more.
func (o *groupOrder) laneStart(lane int) int {
	return o.n/o.lanes*lane + min(lane, o.n%o.lanes)
}

func (o *groupOrder) Len() int { return o.n }

func (o *groupOrder) At(k int) int {
	mustPlace(k, o.n)
	place := o.laneStart(k%o.lanes) + k/o.lanes
	p, _ := slices.BinarySearch(o.poolEnds, place+1)
	begin, end := 0, o.poolEnds[p]
	if p > 0 {
		begin = o.poolEnds[p-1]
	}
	first, last := o.poolGroups[p], len(o.groups)
	if p+1 < len(o.poolGroups) {
		last = o.poolGroups[p+1] // the pool may have a part of this group too: found if no group before it has the sample
	}
	place = begin + permuted(place-begin, end-begin, prng.Mix(o.key^uint64(p)))
	i, _ := slices.BinarySearch(o.ends[first:last], place+1)
	group := o.groups[first+i]
	return o.starts[group+1] - (o.ends[first+i] - place)
}
