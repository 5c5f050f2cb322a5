package sampler

import (
	"container/heap"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"
	"sync"
)

// A Source is a part of a mixture (see [Mix]).
type Source struct {
	// Samples is the length of the source's dataset.
	Samples int

	// Sampler draws from this dataset alone, whose samples count from 0. Pass p over the
	// source has the order of epoch p.
	Sampler Sampler
}

// A Stage says in which proportions a mixture draws from its sources, and for how long. A
// curriculum has several stages. Each has either Proportions or Weights, with a number for
// every source; no sample comes from a source whose number is 0.
type Stage struct {
	// Proportions repeat a pattern that has as many draws as their sum, divided by their
	// greatest common divisor, at most 2²². After any number k of draws of the stage, a source
	// has given its share of k, rounded up or down. So batches of the sum, or of a multiple,
	// have exact counts. The pattern takes 6 bytes per draw, however long the stage is.
	Proportions []int

	// Weights are those of Megatron-LM, which has the same order of sources for its option
	// --data-path. They need not sum to 1. Draw k, from 0 on, takes the source with the largest
	// w·max(k, 1) - n, or the first of them; n is how many samples the source has given in the
	// stage. Making a stage takes draws × sources steps, and 6 bytes for each of its draws,
	// which are at most 2³⁰.
	Weights []float64

	// Draws is the number of samples. If it is 0, the stage ends as soon as one source has
	// given, in the whole epoch, as many samples as a pass over it has.
	Draws int

	// AllExhausted lets a stage without Draws go on until all sources have given as many
	// samples as a pass over them has. Those that have sooner repeat.
	AllExhausted bool
}

// Mix draws from several sources, in given proportions. The dataset of its samples is
// dataset.Concat of the sources' datasets, in the same order. An epoch goes through the
// stages once.
//
// Nothing is drawn at random but by the samplers of the sources. Every source gives the
// samples of one pass after the other, so each comes once before any comes again, also where
// one epoch ends and the next begins. [Shard] goes around the mixture.
//
// To change the proportions in the first epoch of a run, make a mixture whose first stage is
// the old one with Draws set to where it ends, and whose second has the new proportions. Its
// first epoch begins with the same samples, so a loader's Position in the old mixture becomes
// one in the new mixture by setting its Order to the new Identity. New sources go at the end
// of the list, and have the number 0 in the old stage; then Samples of the Position changes,
// too. In a later epoch the sources of the new mixture stand elsewhere than those of the old.
//
// At takes constant time apart from that of a source's sampler, whose orders of the last two
// passes are kept. It is an error if a source has no samples, no end, or is one rank's share,
// or if the numbers of a stage are wrong.
func Mix(sources []Source, stages ...Stage) (*Mixture, error) {
	m := &Mixture{sources: make([]mixed, len(sources)), drawn: make([]int, len(sources))}
	if len(sources) == 0 || len(sources) > maxSources {
		return nil, fmt.Errorf("sampler: Mix: %d sources: want 1 to %d", len(sources), maxSources)
	}
	if len(stages) == 0 {
		return nil, errors.New("sampler: Mix: no stages")
	}
	first := 0
	for i, s := range sources {
		n, err := s.pass()
		if err != nil {
			return nil, fmt.Errorf("sampler: Mix: source %d: %w", i, err)
		}
		if s.Samples > math.MaxInt-first {
			return nil, fmt.Errorf("sampler: Mix: source %d: with its %d samples there are more than %d", i, s.Samples, math.MaxInt)
		}
		m.sources[i].set(i, s, first, n)
		first += s.Samples
	}
	for i, s := range stages {
		if err := m.add(s); err != nil {
			return nil, fmt.Errorf("sampler: Mix: stage %d: %w", i, err)
		}
	}
	m.id = sync.OnceValue(m.identity)
	return m, nil
}

const (
	maxSources = 1 << 16
	maxPattern = 1 << 22 // draws of a pattern that repeats
	maxBlend   = 1 << 30 // draws of a stage of Weights
)

// A Mixture is the [Sampler] that [Mix] makes.
type Mixture struct {
	sources []mixed
	stages  []stage
	draws   int   // per epoch
	drawn   []int // per epoch, of every source
	id      func() string
}

// Epoch is the order of an epoch. The sources go on where the epoch before has left them.
func (m *Mixture) Epoch(epoch int) Order { return &mixOrder{m, epoch} }

// Identity names hashes of the sources and stages. See [Identified].
func (m *Mixture) Identity() string { return m.id() }

// Drawn is how many samples every source has given before a draw of an epoch, those of
// earlier epochs included. With the Epoch and the Draw of a loader's Position it says where
// each source stands. It panics unless draw is from 0 to the length of the epoch.
func (m *Mixture) Drawn(epoch, draw int) []int {
	drawn := slices.Clone(m.drawn)
	if draw < 0 || draw > m.draws {
		panic(fmt.Sprintf("sampler: Drawn(%d, %d): want a draw from 0 to %d", epoch, draw, m.draws))
	}
	if draw < m.draws {
		s := m.stage(draw)
		repeats, rest := (draw-s.begin)/len(s.source), (draw-s.begin)%len(s.source)
		for i := range drawn {
			drawn[i] = s.drawn[i] + repeats*s.counts[i]
		}
		for _, source := range s.source[:rest] {
			drawn[source]++
		}
	}
	for i := range drawn {
		drawn[i] += epoch * m.drawn[i]
	}
	return drawn
}

type mixOrder struct {
	*Mixture
	epoch int
}

func (o *mixOrder) Len() int { return o.draws }

func (o *mixOrder) At(k int) int {
	mustPlace(k, o.draws)
	s := o.stage(k)
	repeats, slot := (k-s.begin)/len(s.source), (k-s.begin)%len(s.source)
	i := s.source[slot]
	return o.sources[i].at(o.epoch, o.drawn[i], s.drawn[i]+repeats*s.counts[i]+int(s.nth[slot]))
}

// stage is the one that has draw k.
func (m *Mixture) stage(k int) *stage {
	after := sort.Search(len(m.stages), func(i int) bool { return m.stages[i].begin > k })
	return &m.stages[after-1]
}

// pass is the number of samples of a pass over the source.
func (s Source) pass() (n int, err error) {
	if s.Sampler == nil {
		return 0, errors.New("the sampler is nil")
	}
	order := s.Sampler.Epoch(0)
	if _, is := order.(EndlessOrder); is {
		return 0, errors.New("its order has no end")
	}
	if _, is := order.(Part); is {
		return 0, errors.New("its sampler has one rank's share: put the Shard around the mixture")
	}
	if n = order.Len(); n == 0 || s.Samples < 1 {
		return 0, fmt.Errorf("%d samples, and a pass of %d: want 1 or more of each", s.Samples, n)
	}
	return n, nil
}

// mixed is a source of a mixture.
type mixed struct {
	Source
	number int
	first  int // its first sample in the mixture's dataset
	n      int // samples of a pass
	order  func(pass int) Order
	passes recent[Order]
}

func (s *mixed) set(number int, source Source, first, n int) {
	s.Source, s.number, s.first, s.n = source, number, first, n
	s.order = func(pass int) Order {
		order := source.Sampler.Epoch(pass)
		if order.Len() != n {
			panic(fmt.Sprintf("sampler: Mix: source %d: its epoch %d has %d samples, and epoch 0 has %d", number, pass, order.Len(), n))
		}
		return order
	}
}

// at is the sample number epoch·perEpoch + drawn of the source, over all its passes.
func (s *mixed) at(epoch, perEpoch, drawn int) int {
	// The number itself may be larger than an int. After epochs that no program reaches the
	// passes count from 0 again.
	n := uint64(s.n)
	high, low := bits.Mul64(uint64(epoch), uint64(perEpoch)%n)
	pass, place := bits.Div64(high, low, n)
	place += uint64(drawn)
	pass += uint64(epoch)*(uint64(perEpoch)/n) + place/n
	epochOfSource := int(pass & math.MaxInt)
	sample := s.passes.of(epochOfSource, s.order).At(int(place % n))
	if uint(sample) >= uint(s.Samples) {
		panic(fmt.Sprintf("sampler: Mix: source %d: its sampler drew sample %d of %d in epoch %d", s.number, sample, s.Samples, epochOfSource))
	}
	return s.first + sample
}

// stage is a Stage of a mixture. It repeats a pattern.
type stage struct {
	pattern
	begin int      // the first draw
	draws int      // number of them
	kind  int      // 0 with Proportions, 1 with Weights
	drawn []int    // of every source, in earlier stages
	rule  []uint64 // the proportions or weights, for the identity
}

// A pattern is a sequence of sources.
type pattern struct {
	source []uint16
	nth    []uint32 // how many of the same source come before it
	counts []int    // of every source
}

func newPattern(sources, length int) pattern {
	return pattern{make([]uint16, 0, length), make([]uint32, 0, length), make([]int, sources)}
}

func (p *pattern) append(source int) {
	p.source = append(p.source, uint16(source))
	p.nth = append(p.nth, uint32(p.counts[source]))
	p.counts[source]++
}

// add appends a stage.
func (m *Mixture) add(s Stage) error {
	st := stage{begin: m.draws, drawn: slices.Clone(m.drawn)}
	left := make([]int, len(m.sources)) // of the first pass; 0 or less for one that is exhausted
	for i := range left {
		left[i] = m.sources[i].n - m.drawn[i]
	}
	var err error
	switch {
	case s.Draws < 0:
		return fmt.Errorf("Draws is %d: want 0 or more", s.Draws)
	case s.Draws > 0 && s.AllExhausted:
		return fmt.Errorf("Draws is %d and AllExhausted is set: want one of them", s.Draws)
	case (s.Proportions == nil) == (s.Weights == nil):
		return errors.New("want either Proportions or Weights")
	case s.Proportions != nil:
		err = st.spread(s, left)
	default:
		err = st.blend(s, left)
	}
	if err != nil {
		return err
	}
	if st.draws > math.MaxInt-m.draws {
		return fmt.Errorf("its %d draws make more than %d per epoch", st.draws, math.MaxInt)
	}
	m.draws += st.draws
	repeats, rest := st.draws/len(st.source), st.draws%len(st.source)
	for i, n := range st.counts {
		m.drawn[i] += repeats * n
	}
	for _, source := range st.source[:rest] {
		m.drawn[source]++
	}
	m.stages = append(m.stages, st)
	return nil
}

// spread makes the stage one of Proportions.
func (st *stage) spread(s Stage, left []int) error {
	if len(s.Proportions) != len(left) {
		return fmt.Errorf("%d Proportions for %d sources", len(s.Proportions), len(left))
	}
	divisor := 0
	for i, n := range s.Proportions {
		if n < 0 {
			return fmt.Errorf("proportion %d is %d: want 0 or more", i, n)
		}
		for b := n; b != 0; {
			divisor, b = b, divisor%b
		}
	}
	if divisor == 0 {
		return fmt.Errorf("none of %d proportions is positive", len(s.Proportions))
	}
	proportions := slices.Clone(s.Proportions)
	length := 0
	for i := range proportions {
		proportions[i] /= divisor
		if proportions[i] > maxPattern-length {
			return fmt.Errorf("the proportions, divided by %d, their greatest common divisor, sum to more than %d", divisor, maxPattern)
		}
		length += proportions[i]
		st.rule = append(st.rule, uint64(proportions[i]))
	}
	st.pattern, st.draws = evenly(proportions, length), s.Draws
	if s.Draws > 0 {
		return nil
	}
	return st.exhaust(left, s.AllExhausted)
}

// exhaust sets the number of draws of a pattern that repeats until one source, or all, have
// given what they have left.
func (st *stage) exhaust(left []int, all bool) error {
	last := make([]int, len(left)) // the place in the pattern of the last draw needed, plus 1
	for slot, source := range st.source {
		if n := left[source]; n > 0 && int(st.nth[slot]) == (n-1)%st.counts[source] {
			last[source] = slot + 1
		}
	}
	for i, n := range left {
		switch {
		case st.counts[i] == 0 || n <= 0 && all:
			continue
		case n <= 0:
			return fmt.Errorf("source %d is exhausted before: want Draws", i)
		}
		repeats := (n - 1) / st.counts[i]
		draws := math.MaxInt
		if repeats <= (math.MaxInt-last[i])/len(st.source) {
			draws = repeats*len(st.source) + last[i]
		}
		switch {
		case st.draws == 0:
			st.draws = draws
		case all:
			st.draws = max(st.draws, draws)
		default:
			st.draws = min(st.draws, draws)
		}
	}
	switch st.draws {
	case 0:
		return errors.New("all sources are exhausted before: want Draws")
	case math.MaxInt:
		return fmt.Errorf("the stage takes %d draws or more: want Draws", math.MaxInt)
	}
	return nil
}

// evenly makes a pattern where every source has given its share of any number of draws,
// rounded up or down. The pattern has length places, the sum of the proportions. Place j of a
// source's own p lies from ⌊j·length/p⌋ on and before ⌈(j+1)·length/p⌉. Taking the source
// whose place must come soonest meets all these limits. Source: Baruah, Cohen, Plaxton,
// Varvel, "Proportionate progress", 1996.
func evenly(proportions []int, length int) pattern {
	p := newPattern(len(proportions), length)
	released := make([]int32, length)     // the first source whose next place may lie from here on, plus 1
	after := make([]int32, len(p.counts)) // the following one
	from := make([]uint64, len(p.counts)) // of a source's next place
	release := func(source, earliest int) {
		at := uint64(p.counts[source]) * uint64(length) / uint64(proportions[source])
		from[source] = at
		at = max(at, uint64(earliest))
		after[source], released[at] = released[at], int32(source)+1
	}
	for source, n := range proportions {
		if n > 0 {
			release(source, 0)
		}
	}
	var due deadlines
	for slot := range length {
		for next := released[slot]; next != 0; next = after[next-1] {
			source := uint64(next - 1)
			n := uint64(proportions[source])
			end := ((uint64(p.counts[source])+1)*uint64(length) + n - 1) / n
			heap.Push(&due, end<<40|from[source]<<16|source) // end ≤ 2²², from < 2²², source < 2¹⁶
		}
		source := int(heap.Pop(&due).(uint64) & (maxSources - 1))
		p.append(source)
		if p.counts[source] < proportions[source] {
			release(source, slot+1)
		}
	}
	return p
}

// deadlines are a heap of places that may come now. The one that must come soonest is the
// first; of those, the one that may come for the longest time, then that of the first source.
type deadlines []uint64

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i] < d[j] }
func (d deadlines) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *deadlines) Push(x any)        { *d = append(*d, x.(uint64)) }

func (d *deadlines) Pop() any {
	last := len(*d) - 1
	x := (*d)[last]
	*d = (*d)[:last]
	return x
}

// blend makes the stage one of Weights, whose pattern comes once.
func (st *stage) blend(s Stage, left []int) error {
	if len(s.Weights) != len(left) {
		return fmt.Errorf("%d Weights for %d sources", len(s.Weights), len(left))
	}
	if _, err := countWeights(s.Weights); err != nil {
		return err
	}
	weights := slices.Clone(s.Weights)
	for range 2 { // as BlendedMegatronDatasetBuilder does, and then BlendedDataset
		sum := numpySum(slices.DeleteFunc(slices.Clone(weights), func(w float64) bool { return w == 0 })) // zeros would change the rounding
		if math.IsInf(sum, 1) {
			return errors.New("the sum of the weights is infinite")
		}
		for i := range weights {
			weights[i] /= sum
		}
	}
	for _, w := range weights {
		st.rule = append(st.rule, math.Float64bits(w))
	}
	open, about, err := draws(s, weights, left)
	if err != nil {
		return err
	}
	if about > maxBlend {
		return fmt.Errorf("the stage takes about %.3g draws, and Weights can have %d: use Proportions", about, maxBlend)
	}
	st.kind, st.pattern = 1, newPattern(len(weights), int(about)+len(weights))
	for open > 0 {
		if len(st.source) == maxBlend {
			return fmt.Errorf("the stage takes more than %d draws: use Proportions", maxBlend)
		}
		source := mostBehind(weights, st.counts, len(st.source))
		st.append(source)
		if s.Draws > 0 || st.counts[source] == left[source] {
			open--
		}
	}
	st.draws = len(st.source)
	return nil
}

// mostBehind is Megatron-LM's choice of a source, after k draws of which every source has
// given counts.
func mostBehind(weights []float64, counts []int, k int) int {
	most, behind := 0, math.Inf(-1)
	for i, w := range weights {
		d := float64(w*max(float64(k), 1)) - float64(counts[i]) // two roundings on every machine
		if w > 0 && d > behind {
			most, behind = i, d
		}
	}
	return most
}

// draws says how a stage of Weights ends: after the event number open, where an event is a
// draw, or that a source is exhausted. That is after about so many draws.
func draws(s Stage, weights []float64, left []int) (open int, about float64, err error) {
	if s.Draws > 0 {
		return s.Draws, float64(s.Draws), nil
	}
	for i, w := range weights {
		switch n := float64(left[i]) / w; {
		case w == 0 || left[i] <= 0 && s.AllExhausted:
		case left[i] <= 0:
			return 0, 0, fmt.Errorf("source %d is exhausted before: want Draws", i)
		case open == 0:
			open, about = 1, n
		case s.AllExhausted:
			open, about = open+1, max(about, n)
		default:
			about = min(about, n)
		}
	}
	if open == 0 {
		return 0, 0, errors.New("all sources are exhausted before: want Draws")
	}
	return open, about, nil
}

// numpySum adds in the order of numpy.sum, whose rounding the weights of Megatron-LM have.
func numpySum(list []float64) float64 {
	n := len(list)
	if n > 128 {
		half := n / 2
		half -= half % 8
		return numpySum(list[:half]) + numpySum(list[half:])
	}
	sum := 0.0
	if n >= 8 {
		var r [8]float64
		copy(r[:], list)
		for list = list[8:]; len(list) >= 8; list = list[8:] {
			for i := range r {
				r[i] += list[i]
			}
		}
		sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
	}
	for _, x := range list {
		sum += x
	}
	return sum
}

func (m *Mixture) identity() string {
	var sources, stages []uint64
	for i := range m.sources {
		s := &m.sources[i]
		id := identity(s.Sampler)
		if id == "" {
			return ""
		}
		sources = append(sources, uint64(s.Samples), uint64(len(id)))
		for _, b := range []byte(id) {
			sources = append(sources, uint64(b))
		}
	}
	for _, s := range m.stages {
		stages = append(append(stages, uint64(s.draws), uint64(s.kind)), s.rule...)
	}
	number := func(add func(uint64), n uint64) { add(n) }
	return fmt.Sprintf("Mix(%d sources %s, %d stages %s, draws %d)", len(m.sources), hash(sources, number), len(m.stages), hash(stages, number), m.draws)
}
