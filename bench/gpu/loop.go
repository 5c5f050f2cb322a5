package main

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/loader"
)

// images is a dataset of n made-up images, float32 of shape (3, side, side), each copied from
// memory.
func images(n, side int) dataset.Dataset {
	template := make([]float32, 3*side*side)
	for i := range template {
		template[i] = float32(i%255)/255 - 0.5
	}
	spec := dataset.Spec{{Name: "image", Dtype: dataset.Float32, Shape: dataset.Shape{3, side, side}}}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		copy(dataset.Row[float32](dst, 0), template)
		return nil
	})
}

// A way is one of the ways to bring batches to the device.
type way struct {
	side string
	run  func(ctx context.Context, batch, workers int) (result.Measured, error)
}

func (b *benchmark) loopPart(ctx context.Context) error {
	return b.table(ctx, fmt.Sprintf("kernel of %v per image", b.compute), []way{
		{"penstock, copies from Go's memory", func(ctx context.Context, batch, workers int) (result.Measured, error) {
			return b.copying(ctx, batch, workers, loader.Heap{})
		}},
		{"penstock, copies from page-locked memory", func(ctx context.Context, batch, workers int) (result.Measured, error) {
			return b.copying(ctx, batch, workers, b.pinned)
		}},
		{"penstock, Stage", b.staged},
	})
}

// table measures every way with every batch size and number of workers, and prints a row for
// each.
func (b *benchmark) table(ctx context.Context, model string, ways []way) error {
	fmt.Printf("\n%s, images of %d×%d\n%-46s %6s %8s %12s %8s %8s\n", model, b.side, b.side, "", "batch", "workers", "images/s", "idle %", "hidden %")
	for _, batch := range b.batch {
		for _, workers := range b.workers {
			rates, idle, hidden := make([][]float64, len(ways)), make([][]float64, len(ways)), make([][]float64, len(ways))
			for round := range b.rounds {
				for i, w := range ways {
					m, err := w.run(ctx, batch, workers)
					if err != nil {
						return fmt.Errorf("%s, batches of %d, %d workers: %w", w.side, batch, workers, err)
					}
					rates[i] = append(rates[i], float64(m.Samples)/m.Seconds)
					idle[i] = append(idle[i], 100*(1-m.Compute/m.Seconds))
					hidden[i] = append(hidden[i], 100*m.HiddenShare)
					err = b.keep(result.Record{Study: result.EndToEnd, Side: w.side, Round: round, Measured: m,
						Config: result.Config{Batch: batch, Workers: workers, Data: fmt.Sprintf("made-up %d", b.side), Model: model, Device: "cuda"}})
					if err != nil {
						return err
					}
				}
			}
			for i, w := range ways {
				fmt.Printf("%-46s %6d %8d %12.0f %8.1f %8.1f\n", w.side, batch, workers, median(rates[i]), median(idle[i]), median(hidden[i]))
			}
		}
	}
	return nil
}

// newLoader makes a loader with as many samples as the loops need.
func (b *benchmark) newLoader(batch, workers int, memory loader.Allocator) (*loader.Loader, error) {
	return loader.New(images(batch*b.batches, b.side), loader.BatchSize(batch), loader.Workers(workers), loader.Memory(memory))
}

// copying copies each batch in the loop body, waits for the copy, and then runs the kernel.
func (b *benchmark) copying(ctx context.Context, batch, workers int, memory loader.Allocator) (m result.Measured, err error) {
	l, err := b.newLoader(batch, workers, memory)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	bytes := batch * 3 * b.side * b.side * 4
	target, err := b.driver.alloc(bytes)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, b.driver.free(target)) }()
	c := newClock()
	for batch, err := range l.Epoch(ctx, 0) {
		c.arrived(&m)
		if err != nil {
			return m, err
		}
		image := loader.Values[float32](batch, "image")
		copied, err := b.driver.upload(target, unsafe.Pointer(&image[0]), bytes)
		if err != nil {
			return m, err
		}
		busy, err := b.driver.spin(time.Duration(batch.Len()) * b.compute)
		if err != nil {
			return m, err
		}
		m.Transfer += copied
		c.computed(&m, batch.Len(), busy)
	}
	c.end(&m)
	return m, nil
}

// staged measures a loop in which a Stage copies while the kernel runs.
func (b *benchmark) staged(ctx context.Context, batch, workers int) (m result.Measured, err error) {
	l, err := b.newLoader(batch, workers, b.pinned)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	s, err := gpu.NewStage(b.device, l, gpu.Buffers(3))
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	c := newClock()
	for batch, err := range s.Epoch(ctx, 0) {
		c.arrived(&m)
		if err != nil {
			return m, err
		}
		busy, err := b.driver.spin(time.Duration(batch.Len()) * b.compute)
		if err != nil {
			return m, err
		}
		c.computed(&m, batch.Len(), busy)
	}
	c.end(&m)
	stats := s.Stats()
	m.Transfer, m.HiddenShare = stats.Upload.Seconds(), stats.HiddenShare()
	return m, nil
}

// A clock divides a loop's time into waiting and computing.
type clock struct{ begun, last time.Time }

func newClock() *clock {
	now := time.Now()
	return &clock{now, now}
}

// lap returns the time since the last lap, in seconds.
func (c *clock) lap() float64 {
	now := time.Now()
	d := now.Sub(c.last)
	c.last = now
	return d.Seconds()
}

// arrived notes that the loop has waited for a batch until now.
func (c *clock) arrived(m *result.Measured) {
	wait := c.lap()
	m.Waits = append(m.Waits, wait)
	m.Waiting += wait
	m.FirstBatch = m.Waits[0]
	m.LoadingEnd = c.last.Sub(c.begun).Seconds()
}

// computed notes for how many seconds the device has computed since the last lap.
func (c *clock) computed(m *result.Measured, samples int, seconds float64) {
	c.lap()
	m.Compute += seconds
	m.Samples += int64(samples)
}

// ran notes that a VM has run since the last lap. All of that time counts as computing.
func (c *clock) ran(m *result.Measured, samples int) {
	m.Compute += c.lap()
	m.Samples += int64(samples)
}

func (c *clock) end(m *result.Measured) {
	m.Seconds = max(time.Since(c.begun).Seconds(), 1e-9)
	m.EndToEnd = m.Seconds
}
