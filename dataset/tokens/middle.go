package tokens

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/penstock-go/penstock/internal/dense"
)

// FillInTheMiddle moves a random piece of a document to its end, for models that complete code. It treats every document's part of a row
// as a document, with probability rate, and cuts it at two random places into three pieces, of which some may be empty. With
// probability spm they then are
//
//	prefix suffix SUFFIX middle PREFIX MIDDLE
//
// and otherwise
//
//	prefix PREFIX suffix SUFFIX middle MIDDLE
//
// where the small words are the special tokens, such as 1, 2 and 3 for prefix, middle and suffix of StarCoder. A last token that is end
// stays at the end. Rows get longer by these tokens, and what is then too long is cut off at the end of the row.
//
// These are the rules of GPTFIMDataset of Megatron, of which StarCoder's come, but for the places: there, they lie between characters,
// here, between tokens. They depend on the seed of the loader, the epoch and the row's place in the order alone, so they are the same for
// any number of workers and ranks and after a resume, and differ between epochs.
func FillInTheMiddle(rate, spm float64, prefix, middle, suffix, end int) PackOption {
	return PackOption{func(p *packed) { p.middle = &filling{rate, spm, prefix, middle, suffix, end} }}
}

type filling struct {
	rate, spm                   float64
	prefix, middle, suffix, end int
}

// check calls wrong for every mistake.
func (f *filling) check(wrong func(string, ...any)) {
	for _, rate := range []float64{f.rate, f.spm} {
		if !(rate >= 0 && rate <= 1) {
			wrong("FillInTheMiddle: rate %g: want 0 to 1", rate)
		}
	}
	for _, token := range []int{f.prefix, f.middle, f.suffix, f.end} {
		if token < 0 || token > math.MaxInt32 {
			wrong("FillInTheMiddle: token %d: want 0 to %d", token, math.MaxInt32)
		}
	}
}

// fillIn applies FillInTheMiddle to the row, and to the lengths of its pieces.
func fillIn[T int32 | int64](r *packReader, random *rand.Rand) {
	room := r.length
	if r.shifted && r.strategy == Wrap {
		room++ // for the token that follows the row
	}
	all := 0
	for _, c := range r.pieces {
		all += c.n + 3
	}
	r.filled = slices.Grow(r.filled[:0], all*r.size)[:all*r.size]
	row, filled := dense.Values[T](r.row), dense.Values[T](r.filled)[:0]
	text := row
	for k, c := range r.pieces {
		before := min(len(filled), room)
		filled = appendFilled(r.middle, filled, text[:c.n], random)
		text = text[c.n:]
		r.pieces[k].n = min(len(filled), room) - before
	}
	copy(row, filled[:min(len(filled), room)])
}

// appendFilled appends a document, which then has three more tokens or none.
func appendFilled[T int32 | int64](f *filling, to, text []T, random *rand.Rand) []T {
	n := len(text)
	if int64(text[n-1]) == int64(f.end) {
		n--
	}
	text, end := text[:n], text[n:]
	if n == 0 || random.Float64() >= f.rate {
		return append(append(to, text...), end...)
	}
	a, b := random.IntN(n+1), random.IntN(n+1)
	a, b = min(a, b), max(a, b)
	prefix, middle, suffix := text[:a], text[a:b], text[b:]
	if random.Float64() < f.spm {
		to = append(to, T(f.prefix), T(f.suffix))
		to = append(append(to, suffix...), T(f.middle))
		to = append(append(to, prefix...), middle...)
	} else {
		to = append(append(to, T(f.prefix)), prefix...)
		to = append(append(to, T(f.suffix)), suffix...)
		to = append(append(to, T(f.middle)), middle...)
	}
	return append(to, end...)
}
