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
// lengths has the tokens of every sample, or another cost, such as the square of its length. A sample of length 0 counts as 1. Every
// epoch takes each sample once, in new batches: some hundred batches' worth of samples in random order are packed by best fit decreasing.
//
// With [Padded] the tokens of a batch are those of its longest sample times their number, and samples of similar length form a batch, as
// with [ByLength].
//
// The sampler takes 8 bytes per sample, and 8 more for the batches of each of the last two epochs, which it keeps. It is an error if
// limit is below 1 or above 2⁵⁰, or a length below 0 or above limit.
func ByTokens[L int | int32 | int64](lengths []L, limit int, seed uint64, options ...TokenOption) (BatchSampler, error) {
	if limit < 1 || int64(limit) > 1<<50 {
		return nil, fmt.Errorf("sampler: ByTokens: a limit of %d tokens: want 1 to 2⁵⁰", limit)
	}
	b := &byTokens{lengths: make([]int, len(lengths)), seed: seed, limit: limit}
	for _, o := range options {
		if o.set != nil {
			o.set(b)
		}
	}
	for i, n := range lengths {
		if n < 0 || int64(n) > int64(limit) {
			return nil, fmt.Errorf("sampler: ByTokens: sample %d has %d tokens: want 0 to %d", i, n, limit)
		}
		b.lengths[i] = max(1, int(n))
	}
	return b, nil
}

// A TokenOption is an option of [ByTokens].
type TokenOption struct{ set func(*byTokens) }

// Padded counts the padding of shorter samples, too.
func Padded() TokenOption { return TokenOption{func(b *byTokens) { b.padded = true }} }

type byTokens struct {
	lengths []int // 1 or more
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
	out    *tokenBatches
	window []int // samples that are to become batches next

	rows *fit.Rows
	unit int // tokens: the spaces of batches are told apart by whole units, so that they take little memory

	last  []tokenBatch // those that are not full
	carry []int        // the samples of the window before that filled no batch
}

// A tokenBatch is a batch that is being filled.
type tokenBatch struct {
	samples []int
	tokens  int
}

// units is how many units of space a batch may have.
const units = 1 << 20

func (b *byTokens) plan(epoch int) *tokenBatches {
	key := epochKey(forTokens, b.seed, epoch)
	order := Shuffle(len(b.lengths), key).Epoch(0)
	p := packing{byTokens: b, out: &tokenBatches{samples: make([]int, 0, len(b.lengths))}, unit: (b.limit-1)/units + 1}
	if !b.padded {
		p.rows = fit.NewRows((b.limit-1)/p.unit + 1)
	}
	sum := int64(0)
	for k := range order.Len() {
		i := order.At(k)
		p.window = append(p.window, i)
		if sum += int64(b.lengths[i]); sum >= windowBatches*int64(b.limit) {
			p.divide(false)
			sum = 0
		}
	}
	p.divide(true)
	p.out.full = Shuffle(len(p.out.ends), key+1).Epoch(0)
	slices.SortStableFunc(p.last, func(x, y tokenBatch) int { return cmp.Compare(y.tokens, x.tokens) })
	for _, batch := range p.last {
		p.emit(batch.samples)
	}
	return p.out
}

// windowBatches is how many batches' worth of samples become batches at a time.
const windowBatches = 256

// divide makes batches of the window. end says whether it is the last one.
func (p *packing) divide(end bool) {
	longestFirst := func(x, y int) int { return cmp.Compare(p.lengths[y], p.lengths[x]) }
	if p.padded {
		slices.SortStableFunc(p.window, longestFirst)
		p.cut()
	} else {
		p.window = append(p.window, p.carry...)
		slices.SortStableFunc(p.window, longestFirst)
		p.pack(end)
	}
	p.window = p.window[:0]
}

func (p *packing) emit(batch []int) {
	p.out.samples = append(p.out.samples, batch...)
	p.out.ends = append(p.out.ends, len(p.out.samples))
}

// pack makes batches of any samples. Those in batches that are not full wait for the next window, unless this is the last one, or
// samples are so large that few batches are full.
func (p *packing) pack(end bool) {
	p.rows.Reset()
	var batches []tokenBatch
	for _, i := range p.window {
		n := p.lengths[i]
		row, _ := p.rows.Take((n-1)/p.unit + 1)
		if row == len(batches) {
			batches = append(batches, tokenBatch{})
		}
		b := &batches[row]
		b.samples, b.tokens = append(b.samples, i), b.tokens+n
		p.rows.Give(row, (p.limit-b.tokens)/p.unit)
	}
	full := func(b tokenBatch) bool { return 1000*int64(b.tokens) >= 995*int64(p.limit) }
	n := 0
	for _, b := range batches {
		if full(b) {
			n++
		}
	}
	p.carry = p.carry[:0]
	for _, b := range batches {
		switch {
		case full(b):
			p.emit(b.samples)
		case end || 2*n < len(batches):
			p.last = append(p.last, b)
		default:
			p.carry = append(p.carry, b.samples...)
		}
	}
}

// cut makes batches of samples of similar length: the longest one times their number is at most the limit.
func (p *packing) cut() {
	for rest := p.window; len(rest) > 0; {
		n := min(p.limit/p.lengths[rest[0]], len(rest))
		p.emit(rest[:n])
		rest = rest[n:]
	}
}

func (b *byTokens) Identity() string {
	padded := ""
	if b.padded {
		padded = ", padded"
	}
	return fmt.Sprintf("ByTokens(%d lengths %s, limit %d%s, seed %d)", len(b.lengths), hashInts(b.lengths), b.limit, padded, b.seed)
}
