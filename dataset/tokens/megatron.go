package tokens

import (
	"fmt"

	"github.com/penstock-go/penstock/internal/prng"
)

// list is an order.
type list []uint32

func (l list) Len() int     { return len(l) }
func (l list) At(k int) int { return int(l[k]) }

// count returns the numbers from 0 to n-1.
func count(n int) list {
	l := make(list, n)
	for i := range l {
		l[i] = uint32(i)
	}
	return l
}

func (l list) swap(i, j int) { l[i], l[j] = l[j], l[i] }

// A megatron plan is a wrapped one whose rows are shuffled, and which has no row that would need padding.
type megatron struct {
	*wrapped
	rows list
}

// newMegatron follows GPTDataset of megatron-core 0.16, in megatron/core/datasets/gpt_dataset.py. All passes over the documents are
// shuffled together, and so are all rows. If fewer than 80 % of the last pass are needed, its documents and rows are shuffled
// apart, after the others. lengths have tokens, and samples is 1 or more.
func newMegatron(lengths []int32, row, samples int, seed uint32) (plan, error) {
	pass := int64(0) // tokens
	for _, n := range lengths {
		pass += int64(n)
	}
	if int64(samples) >= none {
		return nil, fmt.Errorf("%d samples of Megatron: want less than 2³²", samples)
	}
	passes := (int64(samples)*int64(row) + pass) / pass // the last row needs one token more
	rows := (passes*pass - 1) / int64(row)
	if passes > none/int64(len(lengths)) || rows >= none {
		return nil, fmt.Errorf("%d samples of Megatron take %d rows and %d passes over %d documents: want less than 2³² rows, and documents of all passes", samples, rows, passes, len(lengths))
	}
	before := int(((passes-1)*pass - 1) / int64(row)) // rows of all passes but the last
	apart := passes > 1 && samples-before < int(0.8*float64((pass-1)/int64(row)))
	random := prng.New(uint64(seed))
	var order list
	if apart {
		order = repeated(random, len(lengths), int(passes)-1)
		order = append(order, repeated(random, len(lengths), 1)...)
	} else {
		order = repeated(random, len(lengths), int(passes))
	}
	w, err := newWrapped(passesOf(order), lengths, row+1, row)
	if err != nil {
		return nil, err
	}
	m := megatron{wrapped: w, rows: count(int(rows))}
	if apart {
		random.Shuffle(before, m.rows.swap)
		random.Shuffle(len(m.rows)-before, m.rows[before:].swap)
	} else {
		random.Shuffle(len(m.rows), m.rows.swap)
	}
	return m, nil
}

// repeated is the numbers of n documents, so many times and shuffled together.
func repeated(random *prng.Generator, n, times int) list {
	var l list
	for range times {
		l = append(l, count(n)...)
	}
	random.Shuffle(len(l), l.swap)
	return l
}

func (m megatron) Len() int                      { return len(m.rows) }
func (m megatron) At(k int, dst []piece) []piece { return m.wrapped.At(m.rows.At(k), dst) }
