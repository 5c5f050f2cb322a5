package loader_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// run goes over epochs 0 to 2 and returns the contents and the positions as JSON.
func runWithPositions(t *testing.T, l *loader.Loader) (batches, positions []string) {
	t.Helper()
	for b, err := range l.Epochs(t.Context(), 0, 2) {
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, content(b))
		p, err := json.Marshal(b.Position())
		if err != nil {
			t.Fatal(err)
		}
		positions = append(positions, string(p))
	}
	return batches, positions
}

func resume(t *testing.T, l *loader.Loader, position string) (batches []string) {
	t.Helper()
	var p loader.Position
	if err := json.Unmarshal([]byte(position), &p); err != nil {
		t.Fatal(err)
	}
	for b, err := range l.From(t.Context(), p, 2) {
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, content(b))
	}
	return batches
}

func TestResumeContinuesAfterEveryBatch(t *testing.T) {
	options := func(workers int, dropLast bool) []loader.Option {
		return []loader.Option{loader.Workers(workers), loader.BatchSize(7), loader.Shuffle(true), loader.Seed(3), loader.DropLast(dropLast)}
	}
	for _, dropLast := range []bool{false, true} {
		batches, positions := runWithPositions(t, loadertest.New(t, augmented(45), options(2, dropLast)...))
		for _, workers := range []int{0, 3} {
			l := loadertest.New(t, augmented(45), options(workers, dropLast)...)
			for k, p := range positions {
				if got := resume(t, l, p); !slices.Equal(got, batches[k+1:]) {
					t.Errorf("%d workers, drop last %v: resumed at %s: got %d batches that differ from the %d uninterrupted ones", workers, dropLast, p, len(got), len(batches)-k-1)
				}
			}
		}
	}
}

func TestResumeOnAnotherBatchSizeContinuesTheOrder(t *testing.T) {
	order := func(batches [][]int64) []int64 { return slices.Concat(batches...) }
	five := loadertest.New(t, &fake{n: 40}, loader.Workers(2), loader.BatchSize(5), loader.Shuffle(true))
	three := loadertest.New(t, &fake{n: 40}, loader.Workers(1), loader.BatchSize(3), loader.Shuffle(true))
	all := order(collect(t, five, 0, 1))
	for b, err := range five.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		p := b.Position()
		var rest []int64
		for b, err := range three.From(t.Context(), p, 1) {
			if err != nil {
				t.Fatal(err)
			}
			rest = append(rest, loader.Values[int64](b, "x")...)
		}
		if !slices.Equal(rest, all[p.Draw:]) {
			t.Errorf("after draw %d: got %v, want %v", p.Draw, rest, all[p.Draw:])
		}
	}
}

func TestStateAfterTheLastBatchLeavesNothing(t *testing.T) {
	l := loadertest.New(t, &fake{n: 8}, loader.Workers(2), loader.BatchSize(4))
	var last loader.Position
	for b := range l.Epoch(t.Context(), 3) {
		last = b.Position()
	}
	for _, until := range []int{4, 3, 0, -1} {
		for b, err := range l.From(t.Context(), last, until) {
			t.Errorf("until %d: got %v, %v after the last batch", until, b, err)
		}
	}
	// With more epochs to come, the next one follows.
	for _, p := range []loader.Position{last, l.Position(4)} {
		n := 0
		for b, err := range l.From(t.Context(), p, 5) {
			if err != nil || b.Epoch() != 4 {
				t.Errorf("got %v, %v", b, err)
			}
			n++
		}
		if n != 2 {
			t.Errorf("%d batches in the next epoch, want 2", n)
		}
	}
}

func TestUnorderedResumeLosesAndRepeatsNothing(t *testing.T) {
	options := []loader.Option{loader.Workers(4), loader.BatchSize(3), loader.Shuffle(true), loader.Unordered(true)}
	whole := loadertest.New(t, augmented(50), options...)
	all, _ := runWithPositions(t, whole)
	slices.Sort(all)
	again := loadertest.New(t, augmented(50), options...)
	for stop := range len(all) {
		var got []string
		var position string
		for b, err := range whole.Epochs(t.Context(), 0, 2) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, content(b))
			if len(got) > stop {
				p, err := json.Marshal(b.Position())
				if err != nil {
					t.Fatal(err)
				}
				position = string(p)
				break
			}
		}
		got = append(got, resume(t, again, position)...)
		slices.Sort(got)
		if !slices.Equal(got, all) {
			t.Fatalf("interrupted at %s: %d batches in all, want %d", position, len(got), len(all))
		}
	}
}

func TestForeignPositionIsAnError(t *testing.T) {
	l := loadertest.New(t, &fake{n: 10}, loader.Workers(1), loader.BatchSize(2), loader.Seed(4))
	good := l.Position(0)
	for want, change := range map[string]func(*loader.Position){
		"taken with Seed(5), this loader has Seed(4)": func(p *loader.Position) { p.Seed = 5 },
		"taken with 11 samples, this dataset has 10":  func(p *loader.Position) { p.Samples = 11 },
		"it has no version":                           func(p *loader.Position) { *p = loader.Position{} },
		"has version 2, this program reads 1":         func(p *loader.Position) { p.Version = 2 },
		"not a position: epoch 0, draw -1":            func(p *loader.Position) { p.Draw = -1 },
		"not a position: epoch -2, draw 0":            func(p *loader.Position) { p.Epoch = -2 },
		"not a position: ahead is [2 1]":              func(p *loader.Position) { p.Ahead, p.Step = []int{2, 1}, 2 },
		"not a position: ahead is [2 2]":              func(p *loader.Position) { p.Ahead, p.Step = []int{2, 2}, 2 },
		"not a position: ahead is [-1 2]":             func(p *loader.Position) { p.Ahead, p.Step = []int{-1, 2}, 2 },
		"1 batches ahead in steps of 0 draws":         func(p *loader.Position) { p.Ahead = []int{1} },
		"0 batches ahead in steps of 2 draws":         func(p *loader.Position) { p.Step = 2 },
		"it has 6 draws per step, this loader has 2":  func(p *loader.Position) { p.Ahead, p.Step = []int{1}, 6 },
		"lies at draw 12 of epoch 0, which has 10":    func(p *loader.Position) { p.Draw = 12 },
		"taken in the order Shuffle(10 samples, seed 4), this loader's is Sequential(10 samples)": func(p *loader.Position) {
			p.Order = "Shuffle(10 samples, seed 4)"
		},
	} {
		p := good
		change(&p)
		if _, err := l.Len(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Left: got %v, want %q", err, want)
		}
		n := 0
		for _, err := range l.From(t.Context(), p, 1) {
			n++
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
		if n != 1 {
			t.Errorf("%d yields, want the error alone", n)
		}
	}
}

func TestOrderedResumeAfterUnorderedRepeatsNothing(t *testing.T) {
	l := loadertest.New(t, &fake{n: 12}, loader.Workers(2), loader.BatchSize(2))
	p := l.Position(0)
	p.Ahead, p.Step = []int{1, 2, 4}, 2
	var got []int64
	for {
		before := len(got)
		for b, err := range l.From(t.Context(), p, 1) {
			if err != nil {
				t.Fatal(err)
			}
			got, p = append(got, loader.Values[int64](b, "x")...), b.Position()
			break // and resume after every batch
		}
		if len(got) == before {
			break
		}
	}
	if want := []int64{0, 1, 6, 7, 10, 11}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestBatchNumbersGoOnAfterResume(t *testing.T) {
	for _, world := range []int{1, 3} {
		s, err := sampler.Shard(sampler.Sequential(40), world-1, world, sampler.KeepExact)
		if err != nil {
			t.Fatal(err)
		}
		l := loadertest.New(t, &fake{n: 40}, loader.Workers(2), loader.BatchSize(2), loader.Sampler(s))
		var p loader.Position
		for b := range l.Epoch(t.Context(), 0) {
			if p = b.Position(); b.Number() == 1 {
				break
			}
		}
		for b := range l.From(t.Context(), p, 1) {
			if b.Number() != 2 {
				t.Errorf("%d ranks: the batch after number 1 has number %d", world, b.Number())
			}
			break
		}
	}
}
