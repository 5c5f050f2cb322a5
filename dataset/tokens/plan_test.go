package tokens

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/sampler"
)

// planOf is the plan of Pack for documents of these lengths.
func planOf(t *testing.T, lengths []int32, row int, strategy Strategy, options ...PackOption) plan {
	t.Helper()
	ds, err := Pack(documents(lengths), lengths, row, strategy, options...)
	if err != nil {
		t.Fatal(err)
	}
	return ds.(*packed).plan
}

func rowsOf(p plan) (rows [][]piece) {
	for k := range p.Len() {
		rows = append(rows, p.At(k, nil))
	}
	return rows
}

// simple is what a strategy says, in the simplest way: rows of documents that are not longer than a row.
func simple(lengths []int32, order []int, row int, strategy Strategy, window int) (rows [][]piece) {
	var spaces, ages []int // of every row: what is left, and when this came to be
	place := func(i, r int) {
		if r < 0 {
			rows, spaces, ages = append(rows, nil), append(spaces, row), append(ages, 0)
			r = len(rows) - 1
		}
		rows[r] = append(rows[r], piece{i, 0, int(lengths[i])})
		spaces[r] -= int(lengths[i])
		ages[r] = slices.Max(ages) + 1
	}
	for len(order) > 0 {
		some := order[:min(window, len(order))]
		first := len(rows)
		if strategy == FirstFit {
			some, first = order[:1], max(len(rows)-window, 0)
		} else {
			some = slices.Clone(some)
			slices.SortStableFunc(some, func(a, b int) int { return int(lengths[b] - lengths[a]) })
		}
		for _, i := range some {
			if lengths[i] == 0 {
				continue
			}
			best := -1
			for r := first; r < len(rows); r++ {
				fits := spaces[r] >= int(lengths[i])
				switch {
				case !fits || strategy == FirstFit && best >= 0:
				case best < 0 || spaces[r] < spaces[best] || spaces[r] == spaces[best] && ages[r] < ages[best]:
					best = r
				}
			}
			place(i, best)
		}
		order = order[len(some):]
	}
	return rows
}

func TestFittedRowsAreThoseOfTheSimpleRule(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		row := 1 + r.IntN(200)
		lengths := make([]int32, r.IntN(60))
		for i := range lengths {
			lengths[i] = int32(r.IntN(row))
		}
		strategy, window := FirstFit+Strategy(r.IntN(2)), 1+r.IntN(20)
		s := sampler.Shuffle(len(lengths), r.Uint64())
		var order []int
		for k := range len(lengths) {
			order = append(order, s.Epoch(0).At(k))
		}
		got := rowsOf(planOf(t, lengths, row, strategy, Window(window), Order(s)))
		if want := simple(lengths, order, row, strategy, window); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%v, window %d, rows of %d, lengths %v in the order %v:\ngot  %v\nwant %v", strategy, window, row, lengths, order, got, want)
		}
	}
}

// Every token of every document is in the rows once per pass, and in the order of its document; no row is too long.
func TestEveryTokenIsInOneRowPerPass(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		row, n := 1+r.IntN(40), r.IntN(40)
		lengths := make([]int32, n)
		total := 0
		for i := range lengths {
			if r.IntN(4) > 0 {
				lengths[i] = int32(r.IntN(3 * row))
			}
			total += int(lengths[i])
		}
		passes, strategy := 1+r.IntN(3), Strategy(r.IntN(3))
		options := []PackOption{Passes(passes), Order(sampler.Shuffle(n, r.Uint64()))}
		if strategy != Wrap && r.IntN(2) == 0 {
			options = append(options, Window(1+r.IntN(20)))
		}
		p := planOf(t, lengths, row, strategy, options...)
		seen := make([][]int, n)
		for i := range seen {
			seen[i] = make([]int, lengths[i])
		}
		for k := range p.Len() {
			sum := 0
			for _, c := range p.At(k, nil) {
				sum += c.n
				for j := range c.n {
					seen[c.document][c.from+j]++
				}
			}
			if sum == 0 || sum > row || strategy == Wrap && k < p.Len()-1 && sum < row {
				t.Fatalf("%v: row %d of %d has %d tokens, of %d", strategy, k, p.Len(), sum, row)
			}
		}
		for i := range seen {
			for j, times := range seen[i] {
				if times != passes {
					t.Fatalf("%v: token %d of document %d is there %d times in %d passes", strategy, j, i, times, passes)
				}
			}
		}
		if strategy == Wrap && p.Len() != (total*passes+row-1)/row {
			t.Fatalf("%d rows of %d for %d tokens", p.Len(), row, total*passes)
		}
	}
}

// A shifted row reads one token more: the next row's first one. The last token of all has no label, so it has no row of its own.
func TestShiftedRowsOverlapByAToken(t *testing.T) {
	lengths := []int32{3, 0, 2, 4}
	for row, want := range map[int]string{
		2:  "[[{0 0 3}] [{0 2 1} {2 0 2}] [{2 1 1} {3 0 2}] [{3 1 3}]]",
		4:  "[[{0 0 3} {2 0 2}] [{2 1 1} {3 0 4}]]",
		8:  "[[{0 0 3} {2 0 2} {3 0 4}]]",
		9:  "[[{0 0 3} {2 0 2} {3 0 4}]]",
		50: "[[{0 0 3} {2 0 2} {3 0 4}]]",
	} {
		if got := fmt.Sprint(rowsOf(planOf(t, lengths, row, Wrap, Shifted()))); got != want {
			t.Errorf("rows of %d: got %s, want %s", row, got, want)
		}
	}
}

func TestTruncatedDocumentsLoseTheirEnd(t *testing.T) {
	got := fmt.Sprint(rowsOf(planOf(t, []int32{9, 2, 4, 13}, 5, BestFit, Truncate())))
	if want := "[[{0 0 5}] [{3 0 5}] [{2 0 4}] [{1 0 2}]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	got = fmt.Sprint(rowsOf(planOf(t, []int32{9, 2, 4, 13}, 5, BestFit)))
	if want := "[[{0 0 5}] [{3 0 5}] [{3 5 5}] [{0 5 4}] [{2 0 4}] [{3 10 3} {1 0 2}]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// BenchmarkPlan is the time of a plan per document: a billion tokens in a million documents.
func BenchmarkPlan(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	lengths := make([]int32, 1_000_000)
	for i := range lengths {
		lengths[i] = int32(min(r.ExpFloat64()*1000, 30_000))
	}
	order := Order(sampler.Shuffle(len(lengths), 1))
	for _, strategy := range []Strategy{Wrap, FirstFit, BestFit} {
		b.Run(fmt.Sprintf("strategy=%v", strategy), func(b *testing.B) {
			var padding float64
			for b.Loop() {
				ds, err := Pack(documents(lengths), lengths, 2048, strategy, order)
				if err != nil {
					b.Fatal(err)
				}
				sum := 0
				for _, n := range lengths {
					sum += int(n)
				}
				padding = 1 - float64(sum)/float64(2048*ds.Len())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(lengths)), "ns/document")
			b.ReportMetric(100*padding, "padding-%")
		})
	}
}

// testdata/packs.py writes packs.json.
func TestRowsAreThoseOfTRL(t *testing.T) {
	text, err := os.ReadFile("testdata/packs.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Cases []struct {
			Strategy string
			Row      int
			Lengths  []int32
			Rows     [][][3]int
		}
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden.Cases) != 18 {
		t.Fatalf("%d cases, want 18", len(golden.Cases))
	}
	for _, c := range golden.Cases {
		var p plan
		switch c.Strategy {
		case "wrapped":
			p = planOf(t, c.Lengths, c.Row, Wrap)
		case "bfd":
			p = planOf(t, c.Lengths, c.Row, BestFit, Truncate())
		case "bfd_split":
			p = planOf(t, c.Lengths, c.Row, BestFit)
		}
		if p.Len() != len(c.Rows) {
			t.Errorf("%s, rows of %d: %d rows, want %d", c.Strategy, c.Row, p.Len(), len(c.Rows))
			continue
		}
		for k, want := range c.Rows {
			if got := p.At(k, nil); strings.NewReplacer("{", "[", "}", "]").Replace(fmt.Sprint(got)) != fmt.Sprint(want) {
				t.Errorf("%s, rows of %d: row %d is %v, want %v", c.Strategy, c.Row, k, got, want)
				break
			}
		}
	}
}
