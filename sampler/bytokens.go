package sampler

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/internal/fit"
)

// ByTokens puts as many samples into a batch as have limit tokens together, for batches without padding: ragged fields, which attention
// of varying length takes. All batches but the last ones have 99 % of limit or more, if the samples are small enough for it, so ranks
// that take batches in turn ([ShardBatches]) have the same work. The last batches of an epoch come from the fullest one to the emptiest.
//
// lengths has the tokens of every sample, or another cost, such as the square of its length. Every epoch takes each sample
// once, in new batches: some hundred batches' worth of samples in random order are packed by best fit decreasing.
//
// With [Padded] the tokens of a batch are those of its longest sample times their number, and samples of similar length form a batch, as
// with [ByLength].
//
// The batches of an epoch take 8 bytes per sample. The sampler keeps the batches of the last two epochs. It is an error if limit is below 1, or
// a length below 0 or above limit.
func ByTokens[L int | int32 | int64](lengths []L, limit int, seed uint64, options ...TokenOption) (BatchSampler, error) {
	if limit < 1 {
		return nil, fmt.Errorf("sampler: ByTokens: a limit of %d tokens: want 1 or more", limit)
	}
	b := &byTokens{lengths: make([]uint32, len(lengths)), seed: seed, limit: limit}
	for _, o := range options {
		if o.set != nil {
			o.set(b)
		}
	}
	// Lengths are rounded up to units of a millionth of the limit, so that the spaces of batches take little memory.
	unit := (limit-1)/most + 1
	b.units = limit / unit
	for i, n := range lengths {
		if n < 0 || int64(n) > int64(limit) {
			return nil, fmt.Errorf("sampler: ByTokens: sample %d has %d tokens: want 0 to %d", i, n, limit)
		}
		b.lengths[i] = uint32(max(1, min((int64(n)+int64(unit)-1)/int64(unit), int64(b.units))))
	}
	return b, nil
}

// A TokenOption is an option of [ByTokens].
type TokenOption struct{ set func(*byTokens) }

// Padded counts the padding of shorter samples, too.
func Padded() TokenOption { return TokenOption{func(b *byTokens) { b.padded = true }} }

// most is the largest number of units in a batch. Many short samples lose little by being rounded up to such a unit.
const most = 1 << 20

type byTokens struct {
	lengths []uint32 // in units, 1 or more
	units   int      // of a batch
	limit   int
	seed    uint64
	padded  bool
	batches recent[*tokenBatches]
}

func (b *byTokens) Epoch(epoch int) Batches { return b.batches.of(epoch, b.plan) }

// tokenBatches are batches whose samples follow each other. The first full ones are shuffled.
type tokenBatches struct {
	samples []int
	ends    []int
	full    Order
}

func (t *tokenBatches) Len() int { return len(t.ends) }

func (t *tokenBatches) At(k int, dst []int) []int {
	if k < t.full.Len() {
		k = t.full.At(k)
	}
	start := 0
	if k > 0 {
		start = t.ends[k-1]
	}
	return append(dst, t.samples[start:t.ends[k]]...)
}

// A packing makes the batches of an epoch.
type packing struct {
	*byTokens
	rows   *fit.Rows
	out    tokenBatches
	last   [][]int // batches that are not full
	window []int   // samples that are to be packed next
	carry  []int   // those of the window before that filled no batch
}

func (b *byTokens) plan(epoch int) *tokenBatches {
	key := epochKey(forTokens, b.seed, epoch)
	order := Shuffle(len(b.lengths), key).Epoch(0)
	p := packing{byTokens: b, rows: fit.NewRows(b.units)}
	if b.padded {
		p.cut(order, key)
		return &p.out
	}
	sum := 0
	for k := range order.Len() {
		i := order.At(k)
		p.window = append(p.window, i)
		if sum += int(b.lengths[i]); sum >= windowBatches*b.units {
			p.pack(false)
			sum = 0
		}
	}
	p.pack(true)
	slices.SortStableFunc(p.last, func(x, y []int) int { return cmp.Compare(p.cost(y), p.cost(x)) })
	p.out.full = Shuffle(len(p.out.ends), key+1).Epoch(0)
	for _, batch := range p.last {
		p.emit(batch)
	}
	return &p.out
}

// windowBatches is how many batches' worth of samples are packed at a time.
const windowBatches = 256

func (p *packing) emit(batch []int) {
	p.out.samples = append(p.out.samples, batch...)
	p.out.ends = append(p.out.ends, len(p.out.samples))
}

func (p *packing) cost(batch []int) (units int) {
	for _, i := range batch {
		units += int(p.lengths[i])
	}
	return units
}

// pack makes batches of the window. Samples in batches that are not full wait for the next window, unless this is the
// last one, or samples are so large that few batches are full.
func (p *packing) pack(end bool) {
	p.window = append(p.window, p.carry...)
	slices.SortStableFunc(p.window, func(x, y int) int { return cmp.Compare(p.lengths[y], p.lengths[x]) })
	p.rows.Reset()
	var batches [][]int
	for _, i := range p.window {
		row := p.rows.Put(int(p.lengths[i]))
		if row == len(batches) {
			batches = append(batches, nil)
		}
		batches[row] = append(batches[row], i)
	}
	full := func(batch []int) bool { return 1000*p.cost(batch) >= 995*p.units } // 99 % before lengths were rounded up
	n := 0
	for _, batch := range batches {
		if full(batch) {
			n++
		}
	}
	p.window, p.carry = p.window[:0], p.carry[:0]
	for _, batch := range batches {
		switch {
		case full(batch):
			p.emit(batch)
		case end || 2*n < len(batches):
			p.last = append(p.last, batch)
		default:
			p.carry = append(p.carry, batch...)
		}
	}
}

// cut makes batches of samples of similar length: the longest one times their number is at most the limit. A window is sorted, cut
// into batches, and these are shuffled.
func (p *packing) cut(order Order, key uint64) {
	sum := 0
	for k := range order.Len() {
		i := order.At(k)
		p.window = append(p.window, i)
		if sum += int(p.lengths[i]); sum < windowBatches*p.units && k < order.Len()-1 {
			continue
		}
		slices.SortStableFunc(p.window, func(x, y int) int { return cmp.Compare(p.lengths[y], p.lengths[x]) })
		for start, j := 0, 1; j <= len(p.window); j++ {
			if j == len(p.window) || (j-start+1)*int(p.lengths[p.window[start]]) > p.units {
				p.emit(p.window[start:j])
				start = j
			}
		}
		p.window, sum = p.window[:0], 0
	}
	p.out.full = Shuffle(len(p.out.ends), key+1).Epoch(0)
}

func (b *byTokens) Identity() string {
	padded := ""
	if b.padded {
		padded = ", padded"
	}
	return fmt.Sprintf("ByTokens(%d lengths %s, limit %d%s, seed %d)", len(b.lengths), hash(b.lengths, func(add func(uint64), n uint32) { add(uint64(n)) }), b.limit, padded, b.seed)
}
