package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/gpu/cuda"
	"github.com/penstock-go/penstock/gpu/feed"
	"github.com/penstock-go/penstock/loader"
)

// classes is the number of outputs of the perceptron.
const classes = 10

func (b *benchmark) model() string {
	return fmt.Sprintf("perceptron of %d hidden units in gorgonia", b.hidden)
}

// addKernels gives gorgonia its kernels once.
func (b *benchmark) addKernels() error {
	if b.added {
		return nil
	}
	b.added = true
	return cuda.AddKernels(os.DirFS(b.kernels))
}

// perceptron builds the graph over images x: a matrix product, tanh, and a matrix product.
func (b *benchmark) perceptron(g *gorgonia.ExprGraph, x *gorgonia.Node) (_ *gorgonia.Node, err error) {
	rows, width := x.Shape()[0], x.Shape()[1:].TotalSize()
	if x, err = gorgonia.Reshape(x, tensor.Shape{rows, width}); err != nil {
		return nil, err
	}
	for _, units := range []int{b.hidden, classes} {
		in := x.Shape()[1]
		w := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(in, units),
			gorgonia.WithName(fmt.Sprintf("w%d", units)), gorgonia.WithInit(gorgonia.Gaussian(0, 0.01)))
		if x, err = gorgonia.Mul(x, w); err != nil {
			return nil, err
		}
		if x, err = gorgonia.Tanh(x); err != nil {
			return nil, err
		}
	}
	return x, nil
}

func (b *benchmark) vmPart(ctx context.Context) error {
	if err := b.addKernels(); err != nil {
		return err
	}
	return b.table(ctx, b.model(), []way{
		{"penstock, VM bound to Go's memory", func(ctx context.Context, batch, workers int) (result.Measured, error) {
			return b.bound(ctx, batch, workers, loader.Heap{})
		}},
		{"penstock, VM bound to page-locked memory", func(ctx context.Context, batch, workers int) (result.Measured, error) {
			return b.bound(ctx, batch, workers, b.pinned)
		}},
		{"penstock, VM over a Stage", b.overStage},
	})
}

// bound measures a loop in which gorgonia copies the batches. All time of the VM counts as
// computing, including these copies.
func (b *benchmark) bound(ctx context.Context, batch, workers int, memory loader.Allocator) (m result.Measured, err error) {
	g := gorgonia.NewGraph()
	x := gorgonia.NewTensor(g, tensor.Float32, 4, gorgonia.WithShape(batch, 3, b.side, b.side), gorgonia.WithName("image"))
	if _, err := b.perceptron(g, x); err != nil {
		return m, err
	}
	vm, err := cuda.New(g)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, vm.Close()) }()
	l, err := b.newLoader(batch, workers, memory)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	c := newClock()
	timed := &timedVM{VM: vm, clock: c, measured: &m}
	f, err := feed.New(timed, feed.Bind("image", x))
	if err != nil {
		return m, err
	}
	for batch, err := range f.Run(l.Epoch(ctx, 0)) {
		if err != nil {
			return m, err
		}
		m.Samples += int64(batch.Len())
	}
	c.end(&m)
	return m, nil
}

// A timedVM counts the time before RunAll as waiting, and the time of RunAll as computing.
type timedVM struct {
	gorgonia.VM
	clock    *clock
	measured *result.Measured
}

func (t *timedVM) RunAll() error {
	t.clock.arrived(t.measured)
	err := t.VM.RunAll()
	t.clock.ran(t.measured, 0)
	return err
}

// overStage measures a loop in which a Stage copies the next batches while the VM runs over one.
func (b *benchmark) overStage(ctx context.Context, batch, workers int) (m result.Measured, err error) {
	g := gorgonia.NewGraph()
	x, err := cuda.NewInput(g, "image", tensor.Float32, batch, 3, b.side, b.side)
	if err != nil {
		return m, err
	}
	if _, err := b.perceptron(g, x.Node()); err != nil {
		return m, err
	}
	vm, err := cuda.New(g)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, vm.Close()) }()
	device, err := vm.Device(b.opening()...)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, device.Close()) }()
	l, err := b.newLoader(batch, workers, b.pinned)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	s, err := gpu.NewStage(device, l, gpu.Buffers(3))
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	c := newClock()
	for batch, err := range s.Epoch(ctx, 0) { // the same as VM.Run, with a clock
		c.arrived(&m)
		if err == nil {
			err = errors.Join(x.Set(batch.Column("image")), vm.RunAll())
		}
		if err != nil {
			return m, err
		}
		c.ran(&m, batch.Len())
		vm.Reset()
	}
	c.end(&m)
	stats := s.Stats()
	m.Transfer, m.HiddenShare = stats.Upload.Seconds(), stats.HiddenShare()
	return m, nil
}

// itemPart measures the VM alone, over a batch that stays in device memory.
func (b *benchmark) itemPart(ctx context.Context) error {
	if err := b.addKernels(); err != nil {
		return err
	}
	fmt.Printf("\n%s, images of %d×%d\n%8s %18s %14s\n", b.model(), b.side, b.side, "batch", "ms per batch", "µs per item")
	for _, batch := range slices.Compact(slices.Sorted(slices.Values(append([]int{1, 8}, b.batch...)))) {
		var times []float64
		for round := range b.rounds {
			m, err := b.items(ctx, batch)
			if err != nil {
				return fmt.Errorf("batches of %d: %w", batch, err)
			}
			times = append(times, m.PerItem)
			err = b.keep(result.Record{Study: result.Inference, Side: "penstock, VM", Round: round, Measured: m,
				Config: result.Config{Batch: batch, Data: fmt.Sprintf("made-up %d", b.side), Model: b.model(), Device: "cuda"}})
			if err != nil {
				return err
			}
		}
		fmt.Printf("%8d %18.3f %14.2f\n", batch, 1e3*median(times)*float64(batch), 1e6*median(times))
	}
	return nil
}

func (b *benchmark) items(ctx context.Context, batch int) (m result.Measured, err error) {
	g := gorgonia.NewGraph()
	image := tensor.New(tensor.Of(tensor.Float32), tensor.WithShape(batch, 3, b.side, b.side))
	x := gorgonia.NewTensor(g, tensor.Float32, 4, gorgonia.WithShape(batch, 3, b.side, b.side),
		gorgonia.WithName("image"), gorgonia.WithValue(image))
	if _, err := b.perceptron(g, x); err != nil {
		return m, err
	}
	vm, err := cuda.New(g)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, vm.Close()) }()
	for i := range b.batches + 1 {
		if err := ctx.Err(); err != nil {
			return m, err
		}
		begun := time.Now()
		if err := vm.RunAll(); err != nil {
			return m, err
		}
		vm.Reset()
		if i > 0 { // the first run warms up
			m.Compute += time.Since(begun).Seconds()
			m.Samples += int64(batch)
		}
	}
	m.Seconds = max(m.Compute, 1e-9)
	m.PerItem = m.Seconds / float64(m.Samples)
	return m, nil
}
