package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/train/net"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// A report holds the results and times of an inference.
type report struct {
	table      *table
	classified int
	took       time.Duration
	first      time.Duration // until the first batch was classified
	writing    time.Duration // writing rows
	stats      loader.Stats
}

// infer writes the classes of all images to out. After every batch it calls step with
// the number of images so far. If ctx ends, out holds the rows up to there.
func infer(ctx context.Context, m *net.Model, photos *dataset.Folder, out io.Writer, o options, step func(int)) (r *report, err error) {
	ds, err := transform.Images(photos, net.Plain(m.Size))
	if err != nil {
		return nil, err
	}
	r = &report{}
	if r.table, err = newTable(out, photos, m.Classes, o.all); err != nil {
		return nil, err
	}
	on, err := net.Open(o.device, o.kernels)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	memory := loader.Allocator(on.Memory)
	if o.poison {
		memory = loader.Poison(memory)
	}
	l, err := loader.New(ds, loader.Workers(o.workers), loader.BatchSize(o.batch), loader.Memory(memory),
		loader.OnError(loader.Skip, loader.NoLimit), loader.Observe(loader.Trace{SampleFailed: r.table.fail}))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	graph, err := m.Eval(on, o.batch)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, graph.Close()) }()

	begun := time.Now()
	for batch, err := range graph.Feed.Run(l.Epoch(ctx, 0)) {
		if err != nil {
			return nil, errors.Join(err, r.table.flush(r.table.next))
		}
		ready := time.Now()
		if r.classified == 0 {
			r.first = ready.Sub(begun)
		}
		logs := graph.LogProbabilities()
		for row, image := range batch.Indices() {
			if err := r.table.classified(image, logs[row*len(m.Classes):][:len(m.Classes)]); err != nil {
				return nil, err
			}
		}
		r.classified += batch.Len()
		step(r.table.next)
		r.writing += time.Since(ready)
	}
	r.took, r.stats = time.Since(begun), l.Stats()
	return r, r.table.flush(photos.Len())
}

// print says how fast it was and where the time went.
func (r *report) print(w io.Writer) {
	s := r.stats
	inNet := r.took - s.Wait.Total - r.writing
	percent := func(d time.Duration) float64 { return 100 * d.Seconds() / max(r.took.Seconds(), 1e-9) }
	if r.classified == 0 {
		fmt.Fprintf(w, "none of the %d images can be read (the column error of the table says why)\n", r.table.photos.Len())
		return
	}
	fmt.Fprintf(w, "%d images in %.2f s, %.0f images/s; first batch loaded after %v, classified after %v\n",
		r.classified, r.took.Seconds(), float64(r.classified)/max(r.took.Seconds(), 1e-9),
		s.Wait.First.Round(time.Microsecond), r.first.Round(time.Microsecond))
	fmt.Fprintf(w, "time: %.1f %% waiting for images, %.1f %% in the net, %.1f %% writing the table\n\n%v\n",
		percent(s.Wait.Total), percent(inNet), percent(r.writing), s)
	if t := r.table; t.named > 0 {
		fmt.Fprintf(w, "%d images are in folders named like a class; %.1f %% of them were given that class\n",
			t.named, 100*float64(t.agreed)/float64(t.named))
	}
	if n := r.table.failures; n > 0 {
		fmt.Fprintf(w, "images that cannot be read: %d (the column error of the table says why)\n", n)
	}
}
