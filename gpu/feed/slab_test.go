package feed_test

import (
	"runtime"
	"slices"
	"testing"

	"gorgonia.org/gorgonia"

	"github.com/penstock-go/penstock/gpu/feed"
	"github.com/penstock-go/penstock/loader"
)

// A patient VM runs only once the workers have nothing left to do, and reports
// inputs that they have changed meanwhile.
type patient struct {
	gorgonia.VM
	t      *testing.T
	loader *loader.Loader
	x      *gorgonia.Node
	runs   int
	all    int
}

func (v *patient) RunAll() error {
	input := v.x.Value().Data().([]float64)
	before := slices.Clone(input)
	v.runs++
	full := min(v.loader.Stats().Slabs-1, v.all-v.runs)
	for v.loader.Stats().Ready < full {
		runtime.Gosched()
	}
	err := v.VM.RunAll()
	if !slices.Equal(input, before) {
		v.t.Errorf("run %d: the input changed from %v to %v", v.runs, before, input)
	}
	return err
}

// TestSlabsAreNotReusedBeforeTheVMHasRun: 8 workers fill every slab that they can
// get while a batch is in the VM.
func TestSlabsAreNotReusedBeforeTheVMHasRun(t *testing.T) {
	m := newModel(t)
	l := newLoader(t, 60*rows, loader.Workers(8), loader.InFlight(33), loader.Shuffle(true))
	all, err := l.Len(l.Position(0))
	if err != nil {
		t.Fatal(err)
	}
	vm := &patient{VM: m.vm, t: t, loader: l, x: m.x, all: all}
	f := newFeed(t, vm, feed.Bind("x", m.x), feed.Pad(m.mask))
	for b, err := range f.Run(l.Epoch(t.Context(), 0)) {
		if err != nil {
			t.Fatal(err)
		}
		if got := m.result(); got != want(b.Indices()) {
			t.Errorf("batch %d: got %v, want %v", b.Number(), got, want(b.Indices()))
		}
	}
	if vm.runs != all {
		t.Errorf("%d runs, want %d", vm.runs, all)
	}
}
