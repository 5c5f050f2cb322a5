package loader

import (
	"context"
	"math"
	"testing"

	"github.com/penstock-go/penstock/dataset"
)

func TestDefaultSlabsAreBoundedInBytes(t *testing.T) {
	for _, test := range []struct {
		options []Option
		bytes   int
		want    int
	}{
		{[]Option{Workers(64)}, 127 << 20, 16},
		{[]Option{Workers(64)}, math.MaxInt32, 3},
		{[]Option{Workers(64)}, 0, 129},
		{[]Option{Workers(64), InFlight(129)}, 127 << 20, 129}, // an explicit number is not bounded
		{[]Option{Workers(64), Budget(1 << 30)}, 127 << 20, 8},
		{[]Option{Workers(64), Budget(1 << 30)}, 1 << 30, 1},
	} {
		c := newConfig(test.options)
		if got := c.slabs(test.bytes); got != test.want {
			t.Errorf("%d bytes per slab: %d slabs, want %d", test.bytes, got, test.want)
		}
	}
}

// TestRaggedBatchesStayWithinTheDefault loads batches of 80 KB within 400 KB.
func TestRaggedBatchesStayWithinTheDefault(t *testing.T) {
	ready := 0
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Uint8, Ragged: true}}
	ds := dataset.Func(800, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		dataset.Grow[uint8](dst, 0, 10_000)
		return nil
	})
	l, err := New(ds, Workers(10), BatchSize(8), Option{func(c *config) { c.budget = 400_000 }})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 2 {
		n := 0
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			n += b.Len()
			ready = max(ready, l.Stats().Ready)
		}
		if n != 800 {
			t.Errorf("%d samples, want 800", n)
		}
	}
	if ready > 4 { // so many batches of 80 KB and an eighth fit
		t.Errorf("%d batches ready, want at most 4", ready)
	}
	if got := l.Stats().Slabs; got != 21 {
		t.Errorf("%d slabs", got)
	}
}
