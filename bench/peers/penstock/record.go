package main

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"time"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// A told is a record, and what shows that a peer does the same: the mean of a
// field of the first epoch's middle batch, or how many parameters its model has.
type told struct {
	Record     result.Record `json:"record"`
	Mean       *float64      `json:"mean,omitempty"`
	Parameters int           `json:"parameters,omitempty"`
}

// records measures the work for a study, an epoch after the other, and writes a
// record of each. Epoch 0 begins with the making of the loader.
func records(ctx context.Context, o options, w io.Writer) error {
	ds, field, err := readable(o)
	if err != nil {
		return err
	}
	if ds, err = repeated(ds, o.samples); err != nil {
		return err
	}
	blank, err := bench.Blank(ctx)
	if err != nil {
		return err
	}
	r := recorder{o: o, ds: ds, field: field}
	for _, f := range ds.Spec() {
		r.sample += f.Bytes()
	}
	defer func() {
		if r.l != nil {
			r.l.Close()
		}
	}()
	lines := json.NewEncoder(w)
	for epoch := range o.epochs + 1 {
		one := told{Record: blank}
		if err := r.measure(ctx, epoch, &one); err != nil {
			return err
		}
		if err := lines.Encode(one); err != nil {
			return err
		}
	}
	return nil
}

// readable is the work's data, in the page cache, and the field that tells.
func readable(o options) (dataset.Dataset, string, error) {
	if f, ok := formats[o.work]; ok {
		if err := readAll(o.folder); err != nil {
			return nil, "", err
		}
		ds, err := f.open(o.folder)
		return ds, f.tell, err
	}
	ds, err := prepared(o)
	return ds, "image", err
}

type recorder struct {
	o     options
	ds    dataset.Dataset
	field string         // that tells
	l     *loader.Loader // of all epochs, made by the first

	sample   int           // bytes of all fields
	transfer time.Duration // to the simulated device, in this epoch
}

func (r *recorder) measure(ctx context.Context, epoch int, to *told) error {
	c := result.Config{
		Batch: r.o.batch, Workers: r.o.workers, ConsumerSeconds: r.o.consumer, Data: r.o.data,
		Help: r.o.help, Model: r.o.model, Simulated: r.o.simulated,
	}
	study := result.Study(r.o.study)
	r.transfer = 0
	stop := func() []result.Usage { return nil }
	if study == result.Volumes && epoch > 0 {
		stop = bench.Watch(ctx, 100*time.Millisecond)
	}
	body := r.consume
	switch {
	case study == result.Profile:
		c.Device, c.Span = "cpu", result.FirstBatch
		if epoch > 0 {
			c.Span = result.Epoch
		}
		body = copyTo(make([]float32, r.o.batch*r.ds.Spec()[0].Shape.TotalSize()))
	case epoch == 0:
		body = r.look(to, body)
	}
	var before loader.Stats
	if r.l != nil {
		before = r.l.Stats()
	}
	m, err := bench.Epoch(ctx, r.batches(ctx, epoch, c.Span == result.FirstBatch), body)
	m.Usage = append(to.Record.Measured.Usage, stop()...)
	if err != nil {
		return err
	}
	switch study {
	case result.Profile:
		m = bench.Profiled(m, c.Span, r.l.Stats().Sub(before))
		m.Waits = nil
	case result.EndToEnd:
		m.EndToEnd, m.Transfer = m.Seconds, r.transfer.Seconds()
		m.Compute -= m.Transfer
	}
	to.Record.Study, to.Record.Epoch, to.Record.Config, to.Record.Measured = study, epoch, c, m
	return nil
}

// batches are an epoch's, or its first. The making of the loader belongs to the first epoch.
func (r *recorder) batches(ctx context.Context, epoch int, one bool) iter.Seq2[*loader.Batch, error] {
	return func(yield func(*loader.Batch, error) bool) {
		if r.l == nil {
			l, err := loader.New(r.ds, loader.Workers(r.o.workers), loader.BatchSize(r.o.batch), loader.Shuffle(r.o.shuffle),
				loader.Help(r.o.help == result.HelpOn))
			if err != nil {
				yield(nil, err)
				return
			}
			r.l = l
		}
		for b, err := range r.l.Epoch(ctx, epoch) {
			if !yield(b, err) || one {
				return
			}
		}
	}
}

// consume takes as long as the consumer of a batch, or a device as that of
// BenchmarkSimulated.
func (r *recorder) consume(ctx context.Context, b *loader.Batch) error {
	if r.o.speed > 0 {
		device := bench.Device{SamplesPerSecond: r.o.speed, PerBatch: time.Millisecond, BytesPerSecond: 6e9}
		transfer, _, err := device.Run(ctx, b, b.Len()*r.sample)
		r.transfer += transfer
		return err
	}
	if body := bench.Busy(time.Duration(r.o.consumer * float64(time.Second))); body != nil {
		return body(ctx, b)
	}
	return nil
}

// look is body, which looks at the middle batch and at the process's memory before.
func (r *recorder) look(to *told, body func(context.Context, *loader.Batch) error) func(context.Context, *loader.Batch) error {
	return func(ctx context.Context, b *loader.Batch) error {
		batches, err := r.l.Len(b.Epoch())
		if err != nil {
			return err
		}
		if b.Number() == batches/2 {
			mb, err := memoryMB()
			if err != nil {
				return err
			}
			to.Record.Measured.Usage = []result.Usage{{RSS: int64(mb * 1e6)}}
			values := loader.Values[float32](b, r.field)
			sum := 0.0
			for _, v := range values {
				sum += float64(v)
			}
			sum /= float64(len(values))
			to.Mean = &sum
		}
		return body(ctx, b)
	}
}

// copyTo copies the first field's values, as to a device.
func copyTo(device []float32) func(context.Context, *loader.Batch) error {
	clear(device) // the system gives the memory now, not within
	return func(_ context.Context, b *loader.Batch) error {
		copy(device, loader.Values[float32](b, "image"))
		return nil
	}
}
