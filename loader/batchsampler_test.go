package loader_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// pairs is a batch sampler of n samples, with batches of 1, 2, 3, … samples. Every
// epoch begins one sample later.
type pairs int

func (n pairs) Epoch(epoch int) sampler.Batches { return growing{int(n), epoch} }

type growing struct{ n, epoch int }

func (g growing) Len() int {
	k := 0
	for first := 0; first < g.n; first += k {
		k++
	}
	return k
}

func (g growing) At(k int, dst []int) []int {
	first := k * (k + 1) / 2
	for i := first; i < min(first+k+1, g.n); i++ {
		dst = append(dst, (i+g.epoch)%g.n)
	}
	return dst
}

func TestBatchSamplerChoosesTheBatches(t *testing.T) {
	want := [][]int64{{0}, {1, 2}, {3, 4, 5}, {6, 7}, {1}, {2, 3}, {4, 5, 6}, {7, 0}}
	for _, workers := range []int{0, 1, 4} {
		l := loadertest.New(t, &fake{n: 8}, loader.Workers(workers), loader.BatchSampler(pairs(8)))
		if n, err := l.Len(l.Position(0)); n != 4 || err != nil {
			t.Errorf("Len %d, %v, want 4", n, err)
		}
		if got := collect(t, l, 0, 2); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%d workers: got %v, want %v", workers, got, want)
		}
		for b, err := range l.From(t.Context(), loader.Position{Version: 1, Epoch: 1, Draw: 2, Samples: 8}, 2) {
			if err != nil {
				t.Fatal(err)
			}
			if got := b.Indices(); !slices.Equal(got, []int{4, 5, 6}) || b.Number() != 2 {
				t.Errorf("resumed with batch %d: %v", b.Number(), got)
			}
			break
		}
	}
}

// fixedBatches is a batch sampler with the same batches in every epoch.
type fixedBatches [][]int

func (f fixedBatches) Epoch(int) sampler.Batches { return f }
func (f fixedBatches) Len() int                  { return len(f) }
func (f fixedBatches) At(k int, dst []int) []int { return append(dst, f[k]...) }

// TestAnEmptyBatchEndsItsLoopAlone: the next loop goes on.
func TestAnEmptyBatchEndsItsLoopAlone(t *testing.T) {
	l := loadertest.New(t, &fake{n: 4}, loader.Workers(1), loader.BatchSampler(batchesOf{{{0}, {}, {1}}, {{0}, {1}, {2}, {3}}}))
	got, last := 0, error(nil)
	for _, err := range l.Epoch(t.Context(), 0) {
		if last = err; err == nil {
			got++
		}
	}
	if got != 1 || last == nil || !strings.Contains(last.Error(), "empty batch") {
		t.Errorf("%d batches, then %v, want one and the error of an empty batch", got, last)
	}
	if got := len(collect(t, l, 1, 2)); got != 4 {
		t.Errorf("%d batches of the next epoch, want 4", got)
	}
}

// A batchesOf is a batch sampler with the batches of every epoch.
type batchesOf []fixedBatches

func (b batchesOf) Epoch(epoch int) sampler.Batches { return b[epoch] }
