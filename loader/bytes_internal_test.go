package loader

import (
	"context"
	"math"
	"runtime"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader/internal/plan"
	"github.com/penstock-go/penstock/loader/internal/tune"
	"github.com/penstock-go/penstock/sampler"
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
	var l *Loader
	var mu sync.Mutex
	most, ready := 0, 0
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Uint8, Ragged: true}}
	ds := dataset.Func(800, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		dataset.Grow[uint8](dst, 0, 10_000)
		mu.Lock()
		defer mu.Unlock()
		most = max(most, l.stocks.used())
		return nil
	})
	var err error
	l, err = New(ds, Workers(10), BatchSize(8), Option{func(c *config) { c.budget = 400_000 }})
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
	// Four batches of 80 KB and an eighth fit. While a batch is joined, its rows are there twice, and
	// chunks of rows may be half as large again.
	if most > 4*90_000*5/2 || ready > 4 {
		t.Errorf("%d bytes in use and %d batches ready, want at most %d and 4", most, ready, 4*90_000*5/2)
	}
	if got := l.Stats().Slabs; got != 21 {
		t.Errorf("%d slabs", got)
	}
}

// TestBudgetHoldsWhereProductsOverflow, as they do early where an int has 32 bits.
func TestBudgetHoldsWhereProductsOverflow(t *testing.T) {
	begun := []*job{new(job), new(job), new(job), new(job)}
	l := &Loader{ragged: true, jobs: make([]*job, 9), free: make([]*job, 5), run: &run{inFlight: begun}}
	l.cfg.budget = math.MaxInt / 2
	l.stocks.slabs.Store(1 << 10)
	l.stocks.largest.Store(math.MaxInt / 4)
	if l.fits() {
		t.Error("there is room for a fifth batch of a quarter of the address space")
	}
	l.stocks.largest.Store(1 << 20)
	if !l.fits() {
		t.Error("there is no room for a fifth batch of 1 MiB")
	}
	l.cfg.workers, l.fixed = 4, 1<<10
	l.stocks.values.note(600 << 20)
	if got, want := l.room(), math.MaxInt > math.MaxInt32; got != want {
		t.Errorf("room for a fifth batch of 600 MiB: %v, want %v", got, want)
	}
	l.tuning = &tuning{slabs: 10, Tuner: tune.New(4)}
	plans := plan.New(plan.Options{Len: func() int { return 4 }, Sampler: sampler.Sequential(4), Size: 1})
	first, err := plans.Plan(t.Context(), plans.Start(0))
	if err != nil {
		t.Fatal(err)
	}
	l.free, l.run.cursor = nil, plans.NewCursor(plans.Start(0), 1)
	l.run.cursor.Planned(first, nil)
	l.run.l = l
	l.cfg.budget = math.MaxInt
	l.stocks.slabs.Store(math.MaxInt - 1<<10)
	l.rows, l.collation.columns = 1, dataset.Spec{{Name: "x", Dtype: dataset.Uint8, Shape: dataset.Shape{1 << 20}}}
	if l.run.lacks() {
		t.Error("there is memory for another slab of 1 MiB")
	}
}

func TestBudgetIsNotZeroWhereNoMemoryIsLeft(t *testing.T) {
	root := fstest.MapFS{"proc/meminfo": &fstest.MapFile{Data: []byte("MemAvailable: 0 kB\n")}}
	if got := quarter(root); got != 1 {
		t.Errorf("%d bytes, want 1", got)
	}
}

// TestWorkersShareBatchesUnlessSamplesAreCheap: then every worker has slabs of its own.
func TestWorkersShareBatchesUnlessSamplesAreCheap(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for _, c := range []struct {
		tiny bool
		want int
	}{{false, 5}, {true, 9}} {
		l := &Loader{cfg: config{help: true, budget: bound}, rows: 64, tuning: &tuning{Tuner: tune.New(2)}}
		l.tuning.Tiny = c.tiny
		if got := l.slabs(4, 1000); got != c.want {
			t.Errorf("cheap samples %v: %d slabs for 4 workers on 2 processors, want %d", c.tiny, got, c.want)
		}
	}
}
