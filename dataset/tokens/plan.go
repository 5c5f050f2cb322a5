package tokens

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/penstock-go/penstock/internal/fit"
	"github.com/penstock-go/penstock/sampler"
)

// A piece is a part of a document in a row.
type piece struct {
	document int
	from, n  int // in tokens
}

// A plan says which pieces each row has. It is safe for concurrent use.
type plan interface {
	Len() int
	// At appends the pieces of row k to dst.
	At(k int, dst []piece) []piece
}

// passes is some epochs of a sampler, one after the other, as one order.
type passes struct {
	orders []sampler.Order
	ends   []int
}

func newPasses(s sampler.Sampler, n int) (p passes, err error) {
	end := 0
	for epoch := range n {
		order := s.Epoch(epoch)
		if end += order.Len(); uint64(end) >= none {
			return p, fmt.Errorf("%d passes have more than %d documents", n, uint32(none))
		}
		p.orders, p.ends = append(p.orders, order), append(p.ends, end)
	}
	return p, nil
}

func passesOf(o sampler.Order) passes { return passes{[]sampler.Order{o}, []int{o.Len()}} }

func (p passes) Len() int { return p.ends[len(p.ends)-1] }

func (p passes) At(k int) int {
	e := sort.SearchInts(p.ends, k+1)
	if e > 0 {
		k -= p.ends[e-1]
	}
	return p.orders[e].At(k)
}

// each calls do for every place and its document. An order of other documents is an error.
func (p passes) each(documents int, do func(place, document int)) error {
	for place := range p.Len() {
		document := p.At(place)
		if document < 0 || document >= documents {
			return fmt.Errorf("the order has document %d at place %d: want one from 0 to %d", document, place, documents-1)
		}
		do(place, document)
	}
	return nil
}

// every is how many documents lie between two of the sums that a plan keeps, so that these take little memory. On average half as many
// lengths are looked up for a row.
const every = 16

// sums are how many units the documents before each place of an order have together, for every 16th place.
type sums struct {
	order  passes
	units  func(document int) int
	before []int64
	all    int64 // the units of all documents
}

// add adds the document at the next place.
func (s *sums) add(place, document int) {
	if place%every == 0 {
		s.before = append(s.before, s.all)
	}
	s.all += int64(s.units(document))
}

// find returns the place of the order with the document that has unit u, and the number of the unit in it.
func (s sums) find(u int64) (place, unit int) {
	b := sort.Search(len(s.before), func(i int) bool { return s.before[i] > u }) - 1
	place, rest := b*every, u-s.before[b]
	for {
		n := int64(s.units(s.order.At(place)))
		if rest < n {
			return place, int(rest)
		}
		rest -= n
		place++
	}
}

// A wrapped plan has all documents one after the other, cut into rows.
type wrapped struct {
	sums
	row, step int // tokens that a row reads, and from the beginning of a row to that of the next one
}

func newWrapped(order passes, lengths []int32, row, step int) (*wrapped, error) {
	w := &wrapped{sums{order: order, units: func(document int) int { return int(lengths[document]) }}, row, step}
	return w, order.each(len(lengths), w.add)
}

// Len is the number of rows that have a token of their own: the last token of a row that reads one more is the next row's first.
func (w *wrapped) Len() int {
	own := w.all - int64(w.row-w.step)
	return int((max(own, 0) + int64(w.step) - 1) / int64(w.step))
}

func (w *wrapped) At(k int, dst []piece) []piece {
	begin := int64(k) * int64(w.step)
	left := int(min(int64(w.row), w.all-begin))
	place, from := w.find(begin)
	for ; left > 0; place++ {
		document := w.order.At(place)
		if n := min(w.units(document)-from, left); n > 0 {
			dst = append(dst, piece{document, from, n})
			left -= n
		}
		from = 0
	}
	return dst
}

// A fitted plan has whole documents in its rows. Of a document that is longer than a row, as many rows as it fills come
// first; what is left of it is treated as a document.
type fitted struct {
	full    sums // rows that one document fills, by document
	lengths []int32
	row     int
	split   bool // or what is left of a long document is dropped
	order   passes

	first []uint32 // the first document of every other row, as a place of order
	next  []uint32 // the document that follows a place in its row, or none
}

const none = math.MaxUint32

// newFitted also returns how many tokens each place has for the rows that documents share.
func newFitted(order passes, lengths []int32, row int, split bool) (f *fitted, rests []uint32, err error) {
	f = &fitted{lengths: lengths, row: row, split: split, order: order, next: make([]uint32, order.Len())}
	f.full = sums{order: order, units: func(document int) int {
		if !split {
			return 0
		}
		return int(lengths[document]) / row
	}}
	rests = make([]uint32, order.Len())
	return f, rests, order.each(len(lengths), func(place, document int) {
		f.full.add(place, document)
		f.next[place], rests[place] = none, uint32(f.rest(document))
	})
}

// rest is how many tokens of a document share a row with other documents.
func (f *fitted) rest(document int) int {
	n := int(f.lengths[document])
	if f.split {
		return n % f.row
	}
	return min(n, f.row)
}

func (f *fitted) Len() int { return int(f.full.all) + len(f.first) }

func (f *fitted) At(k int, dst []piece) []piece {
	if int64(k) < f.full.all {
		place, unit := f.full.find(int64(k))
		return append(dst, piece{f.order.At(place), unit * f.row, f.row})
	}
	for place := f.first[k-int(f.full.all)]; place != none; place = f.next[place] {
		document := f.order.At(int(place))
		n := f.rest(document)
		from := 0
		if f.split {
			from = int(f.lengths[document]) - n
		}
		dst = append(dst, piece{document, from, n})
	}
	return dst
}

// firstFit puts every document into the oldest of the open rows that has room for it. If none has, it opens one more, and
// closes the oldest if more than window are open.
func (f *fitted) firstFit(rests []uint32, window int) {
	spaces := newMaxima(window)
	last := make([]uint32, window) // the last document of every open row
	oldest, open := 0, 0
	for k, n := range rests {
		n := int(n)
		if n == 0 {
			continue
		}
		at, ok := spaces.first(oldest, n)
		if ok {
			f.next[last[at]] = uint32(k)
			spaces.set(at, spaces.at(at)-n)
		} else {
			if open < window {
				at = (oldest + open) % window
				open++
			} else {
				at, oldest = oldest, (oldest+1)%window
			}
			f.first = append(f.first, uint32(k))
			spaces.set(at, f.row-n)
		}
		last[at] = uint32(k)
	}
}

// maxima is a binary tree over a ring of numbers, which finds the first one that is large enough.
type maxima struct {
	n, leaves int
	tree      []int // the greater one of two children; leaf i is at leaves+i
}

func newMaxima(n int) maxima {
	leaves := 1 << bits.Len(uint(n-1))
	return maxima{n, leaves, make([]int, 2*leaves)}
}

func (m maxima) at(i int) int { return m.tree[m.leaves+i] }

func (m maxima) set(i, v int) {
	i += m.leaves
	for m.tree[i] = v; i > 1; {
		i /= 2
		m.tree[i] = max(m.tree[2*i], m.tree[2*i+1])
	}
}

// first is the first place with at least v, counted from a place on and around the ring.
func (m maxima) first(from, v int) (int, bool) {
	if i, ok := m.within(1, 0, m.leaves, from, v); ok {
		return i, true
	}
	i, ok := m.within(1, 0, m.leaves, 0, v)
	return i, ok && i < from
}

// within searches the places of a node, which are low to high-1, that are not before from.
func (m maxima) within(node, low, high, from, v int) (int, bool) {
	if high <= from || m.tree[node] < v {
		return 0, false
	}
	if high-low == 1 {
		return low, true
	}
	middle := (low + high) / 2
	if i, ok := m.within(2*node, low, middle, from, v); ok {
		return i, true
	}
	return m.within(2*node+1, middle, high, from, v)
}

// bestFit takes window documents at a time, from the longest to the shortest, and puts each into the row with the least
// space that suffices: of several, into the one that has had this space for the longest time. Source: strategy bfd of TRL,
// https://github.com/huggingface/trl, trl/data_utils.py.
func (f *fitted) bestFit(rests []uint32, window int) {
	rows := fit.NewRows(f.row)
	var last []uint32 // the last place of every row of the window
	for begin := 0; begin < len(rests); begin += window {
		rows.Reset()
		last = last[:0]
		for _, k := range longestFirst(rests, begin, min(begin+window, len(rests)), f.row) {
			row, space := rows.Take(int(rests[k]))
			rows.Give(row, space-int(rests[k]))
			if row == len(last) {
				f.first, last = append(f.first, k), append(last, k)
			} else {
				f.next[last[row]], last[row] = k, k
			}
		}
	}
}

// longestFirst sorts the places from begin to end-1. Those without tokens are left out.
func longestFirst(rests []uint32, begin, end, longest int) []uint32 {
	if end-begin < longest { // to count how many have each length takes longer
		var sorted []uint32
		for k, n := range rests[begin:end] {
			if n > 0 {
				sorted = append(sorted, uint32(begin+k))
			}
		}
		slices.SortFunc(sorted, func(a, b uint32) int { return cmp.Or(cmp.Compare(rests[b], rests[a]), cmp.Compare(a, b)) })
		return sorted
	}
	at := make([]int, longest+1) // where the next place of a length goes
	for _, n := range rests[begin:end] {
		at[n]++
	}
	sum := 0
	for n := longest; n > 0; n-- {
		at[n], sum = sum, sum+at[n]
	}
	sorted := make([]uint32, sum)
	for k, n := range rests[begin:end] {
		if n > 0 {
			sorted[at[n]] = uint32(begin + k)
			at[n]++
		}
	}
	return sorted
}
