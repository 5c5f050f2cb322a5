package loader_test

import (
	"context"
	"flag"
	"runtime"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

var unscaled = flag.Bool("unscaled", false, "measure ragged memory with samples of 10 KB and 8 MB rather than a tenth of these sizes")

// outliers is a dataset of n samples of small bytes. One in 400 has 800 times as many.
func outliers(n, small int) *fake {
	return &fake{n: n, spec: dataset.Spec{{Name: "x", Dtype: dataset.Uint8, Ragged: true}}, place: func(_ context.Context, i int, dst dataset.Slot) error {
		size := small - i%(small/10)
		if i%400 == 399 {
			size = 800 * small
		}
		row := dataset.Grow[uint8](dst, 0, size)
		row[0], row[size-1] = uint8(i), uint8(i)
		return nil
	}}
}

// TestRaggedMemoryStaysNearWhatBatchesNeed: a large row does not keep its memory. Of nine slabs one or two hold a large row at any time,
// which ones is chance, and each would hold its memory for ever if none were given back.
func TestRaggedMemoryStaysNearWhatBatchesNeed(t *testing.T) {
	small, epochs := 1000, 100
	if testing.Short() {
		epochs = 20
	}
	if *unscaled {
		small *= 10
	}
	for _, padded := range []bool{false, true} {
		before := live()
		l := loadertest.New(t, outliers(4400, small), loader.Workers(4), loader.BatchSize(64), loader.InFlight(9), loader.Shuffle(true))
		epoch := func(e int) {
			for b, err := range l.Epoch(t.Context(), e) {
				if err != nil {
					t.Fatal(err)
				}
				for begun := time.Now(); e == 0 && b.Number() == 0 && l.Stats().Ready < 8; { // until all slabs are in use
					if time.Since(begun) > time.Minute {
						t.Fatalf("%d batches are ready after a minute, want 8", l.Stats().Ready)
					}
					runtime.Gosched()
				}
				if ends := b.Offsets("x"); padded && ends[b.Len()] < 100*small {
					loader.Padded(b, "x", uint8(0))
				}
				for row, i := range b.Indices() {
					values, ends := loader.Values[uint8](b, "x"), b.Offsets("x")
					if v := values[ends[row]:ends[row+1]]; v[0] != uint8(i) || v[len(v)-1] != uint8(i) {
						t.Fatalf("sample %d holds %d and %d", i, v[0], v[len(v)-1])
					}
				}
			}
		}
		epoch(0)
		most := int64(5 * 800 * small)
		for e := 1; e < epochs; e++ {
			epoch(e)
			if e%10 != 9 {
				continue
			}
			heap, counted := live()-before, l.Stats().SlabBytes
			if heap > most {
				t.Errorf("padded %v: %d KB of heap after epoch %d, want at most %d", padded, heap>>10, e, most>>10)
			}
			if heap > counted+1<<20 {
				t.Errorf("padded %v: %d KB of heap after epoch %d, of which Stats counts %d", padded, heap>>10, e, counted>>10)
			}
			t.Logf("padded %v: %d KB after epoch %d; counted %d", padded, heap>>10, e, counted>>10)
		}
		runtime.KeepAlive(l)
	}
}

func TestRaggedBatchesOfSimilarSizesAllocateNothing(t *testing.T) {
	ds := &fake{n: 1 << 12, spec: dataset.Spec{{Name: "x", Dtype: dataset.Float32, Shape: dataset.Shape{2}, Ragged: true}, {Name: "y", Dtype: dataset.Uint8, Ragged: true}}}
	ds.place = func(_ context.Context, i int, dst dataset.Slot) error {
		dataset.Grow[float32](dst, 0, 100+i%40)
		for n := range i % 7 {
			dataset.Grow[uint8](dst, 1, 10*n)
		}
		return nil
	}
	for _, workers := range []int{0, 1, 3} {
		l := loadertest.New(t, ds, loader.Workers(workers), loader.BatchSize(64), loader.Shuffle(true))
		epoch := func(e int) {
			for b, err := range l.Epoch(t.Context(), e) {
				if err != nil {
					t.Fatal(err)
				}
				b.Tensor("x")
			}
		}
		epoch(0)
		epoch(1)
		batches := uint64(10 * ds.n / 64)
		// A batch has 60 KB; the batch itself and the tensor take some hundred bytes.
		most := 3000 * batches
		if got := allocs.Bytes(most, func() {
			for e := range 10 {
				epoch(e)
			}
		}); got > most {
			t.Errorf("%d workers: %d bytes allocated per batch", workers, got/batches)
		}
	}
}
