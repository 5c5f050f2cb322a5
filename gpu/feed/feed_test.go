package feed_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/gpu/feed"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/tensors"
)

const rows, width = 4, 3

// numbers is a dataset of n samples; every value of sample i is i+1.
func numbers(n int) dataset.Dataset {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Float64, Shape: dataset.Shape{width}}, {Name: "y", Dtype: dataset.Float64}, {Name: "label", Dtype: dataset.Int64}}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		x := dataset.Row[float64](dst, 0)
		for k := range x {
			x[k] = float64(i + 1)
		}
		dataset.Set(dst, 1, 2*float64(i+1))
		dataset.Set(dst, 2, int64(i))
		return nil
	})
}

func newLoader(t testing.TB, n int, options ...loader.Option) *loader.Loader {
	t.Helper()
	l, err := loader.New(numbers(n), append([]loader.Option{loader.BatchSize(rows), loader.Workers(2)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// A model is the sum over all samples of their squares, those of padding left out.
type model struct {
	x, mask, sum *gorgonia.Node
	vm           gorgonia.VM
}

func newModel(t testing.TB) *model {
	t.Helper()
	g := gorgonia.NewGraph()
	m := &model{
		x:    gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(rows, width), gorgonia.WithName("x")),
		mask: gorgonia.NewVector(g, tensor.Float64, gorgonia.WithShape(rows), gorgonia.WithName("mask")),
	}
	plusOne := gorgonia.Must(gorgonia.Add(m.x, gorgonia.NewConstant(1.0))) // so that padding counts where nothing masks it
	perRow := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(plusOne)), 1))
	m.sum = gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.HadamardProd(perRow, m.mask))))
	m.vm = gorgonia.NewTapeMachine(g)
	t.Cleanup(func() { m.vm.Close() })
	return m
}

// want is what the model makes of samples.
func want(indices []int) float64 {
	sum := 0.0
	for _, i := range indices {
		sum += width * float64(i+2) * float64(i+2)
	}
	return sum
}

func newFeed(t testing.TB, vm gorgonia.VM, options ...feed.Option) *feed.Feed {
	t.Helper()
	f, err := feed.New(vm, options...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestEveryBatchGivesItsOwnResultAndPaddingNone(t *testing.T) {
	m := newModel(t)
	f := newFeed(t, m.vm, feed.Bind("x", m.x), feed.Pad(m.mask))
	l := newLoader(t, 4*rows-2)
	for epoch := range 3 {
		batches := 0
		for b, err := range f.Run(l.Epoch(t.Context(), epoch)) {
			if err != nil {
				t.Fatal(err)
			}
			if got := m.sum.Value().Data().(float64); got != want(b.Indices()) {
				t.Errorf("epoch %d, batch %d of %d: got %v, want %v", epoch, b.Number(), b.Len(), got, want(b.Indices()))
			}
			batches++
		}
		if batches != 4 {
			t.Errorf("%d batches, want 4", batches)
		}
	}
}

func TestFullBatchesAreBoundWithoutACopy(t *testing.T) {
	m := newModel(t)
	f := newFeed(t, m.vm, feed.Bind("x", m.x), feed.Pad(m.mask))
	for b, err := range f.Run(newLoader(t, 2*rows).Epoch(t.Context(), 0)) {
		if err != nil {
			t.Fatal(err)
		}
		if m.x.Value().Uintptr() != tensors.Of(b, "x").Uintptr() {
			t.Error("the input is a copy")
		}
		for k, v := range loader.Values[float64](b, "x") {
			if v != float64(b.Indices()[k/width]+1) {
				t.Fatalf("the VM wrote to the batch: %v", v)
			}
		}
	}
}

func TestInputsReferToNoBatchAfterTheLoop(t *testing.T) {
	m := newModel(t)
	f := newFeed(t, m.vm, feed.Bind("x", m.x), feed.Pad(m.mask))
	for last := range 2 { // a whole batch, and one that is padded
		slabs := map[uintptr]bool{}
		for b, err := range f.Run(newLoader(t, 2*rows-1).Epoch(t.Context(), 0)) {
			if err != nil {
				t.Fatal(err)
			}
			slabs[tensors.Of(b, "x").Uintptr()] = true
			if b.Number() == last {
				break
			}
		}
		if slabs[m.x.Value().Uintptr()] {
			t.Error("the input still refers to a slab")
		}
		for _, v := range m.x.Value().Data().([]float64) {
			if v != 0 {
				t.Errorf("after batch %d the input holds %v", last, v)
			}
		}
	}
}

func TestAnEarlierRunAllLeavesNoOldResult(t *testing.T) {
	m := newModel(t)
	gorgonia.Let(m.x, tensor.Ones(tensor.Float64, rows, width))
	gorgonia.Let(m.mask, tensor.Ones(tensor.Float64, rows))
	if err := m.vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	f := newFeed(t, m.vm, feed.Bind("x", m.x), feed.Pad(m.mask))
	for b, err := range f.Run(newLoader(t, rows).Epoch(t.Context(), 0)) {
		if err != nil {
			t.Fatal(err)
		}
		if got := m.sum.Value().Data().(float64); got != want(b.Indices()) {
			t.Errorf("got %v, want %v", got, want(b.Indices()))
		}
	}
}

// A broken VM fails at its second run.
type broken struct {
	gorgonia.VM
	runs, resets int
}

var errBroken = errors.New("broken")

func (v *broken) Reset() { v.resets++; v.VM.Reset() }

func (v *broken) RunAll() error {
	if v.runs++; v.runs == 2 {
		return errBroken
	}
	return v.VM.RunAll()
}

func TestErrorsOfTheVMEndTheLoopAndTheNextLoopIsComplete(t *testing.T) {
	m := newModel(t)
	vm := &broken{VM: m.vm}
	f := newFeed(t, vm, feed.Bind("x", m.x), feed.Pad(m.mask))
	l := newLoader(t, 4*rows)
	var last error
	batches := 0
	for _, err := range f.Run(l.Epoch(t.Context(), 0)) {
		if last = err; err == nil {
			batches++
		}
	}
	if batches != 1 || !errors.Is(last, errBroken) || !strings.Contains(last.Error(), "batch 1 of epoch 0") {
		t.Errorf("%d batches, then %v", batches, last)
	}
	for b, err := range f.Run(l.Epoch(t.Context(), 0)) {
		if err != nil {
			t.Fatal(err)
		}
		if got := m.sum.Value().Data().(float64); got != want(b.Indices()) {
			t.Errorf("got %v, want %v", got, want(b.Indices()))
		}
	}
	if vm.resets != 1+2+1+4 { // before each loop and after each run
		t.Errorf("%d resets", vm.resets)
	}
}

func TestLoopsGoOnAfterSkippedBatches(t *testing.T) {
	good := numbers(4 * rows)
	ds := dataset.Func(good.Len(), good.Spec(), func(_ context.Context, i int, dst dataset.Slot) error {
		if i/rows == 1 {
			return errors.New("bad sample")
		}
		for k := range dataset.Row[float64](dst, 0) {
			dataset.Row[float64](dst, 0)[k] = float64(i + 1)
		}
		dataset.Set(dst, 1, 0.0)
		dataset.Set(dst, 2, int64(0))
		return nil
	})
	l, err := loader.New(ds, loader.BatchSize(rows), loader.Skip(loader.NoLimit))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	m := newModel(t)
	f := newFeed(t, m.vm, feed.Bind("x", m.x), feed.Pad(m.mask))
	var came []int
	for b, err := range f.Run(l.Epoch(t.Context(), 0)) {
		if err != nil {
			t.Fatal(err)
		}
		came = append(came, b.Number())
		if got := m.result(); got != want(b.Indices()) {
			t.Errorf("batch %d: got %v, want %v", b.Number(), got, want(b.Indices()))
		}
	}
	if want := []int{0, 2, 3}; !slices.Equal(came, want) {
		t.Errorf("got batches %v, want %v", came, want)
	}
}

func TestOneLoopAtATime(t *testing.T) {
	m := newModel(t)
	f := newFeed(t, m.vm, feed.Bind("x", m.x), feed.Pad(m.mask))
	l := newLoader(t, 2*rows)
	for range f.Run(l.Epoch(t.Context(), 0)) {
		for _, err := range f.Run(l.Epoch(t.Context(), 0)) {
			if err == nil || err.Error() != "feed: another loop runs over the VM" {
				t.Errorf("got %v", err)
			}
		}
	}
}

func TestAGraphPerGoroutineGivesRightResults(t *testing.T) {
	var group sync.WaitGroup
	for range 4 {
		m := newModel(t)
		f := newFeed(t, m.vm, feed.Bind("x", m.x), feed.Pad(m.mask))
		l := newLoader(t, 50*rows+1, loader.Shuffle(true))
		group.Go(func() {
			for b, err := range f.Run(l.Epoch(t.Context(), 0)) {
				if err != nil {
					t.Error(err)
				} else if got := m.sum.Value().Data().(float64); math.Abs(got-want(b.Indices())) > 1e-6 {
					t.Errorf("got %v, want %v", got, want(b.Indices()))
				}
			}
		})
	}
	group.Wait()
}
