//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/onnx/model"
	"github.com/penstock-go/penstock/examples/onnx/ort"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// A report says where the time went.
type report struct {
	took  time.Duration
	inNet time.Duration
	stats loader.Stats
}

// classify calls use with every image's logits, in the order of the images. Those
// that cannot be read are left out, and listed in the report.
func classify(ctx context.Context, photos *dataset.Folder, session *ort.Session, o options, use func(name string, logits []float32)) (r *report, err error) {
	ds, err := transform.Images(photos, model.Steps()...)
	if err != nil {
		return nil, err
	}
	l, err := loader.New(ds, loader.BatchSize(o.batch), loader.Workers(o.workers), loader.OnError(loader.Skip, loader.NoLimit))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()

	classes := session.Classes()
	logits := make([]float32, o.batch*classes)
	r = &report{}
	begun := time.Now()
	for batch, err := range l.Epoch(ctx, 0) {
		if err != nil {
			return nil, err
		}
		n := batch.Len()
		running := time.Now()
		if err := session.Run(loader.Values[float32](batch, "image"), logits[:n*classes], n); err != nil {
			return nil, err
		}
		r.inNet += time.Since(running)
		for row, image := range batch.Indices() {
			use(photos.Name(image), logits[row*classes:][:classes])
		}
	}
	r.took, r.stats = time.Since(begun), l.Stats()
	return r, nil
}

func (r *report) print(w io.Writer) {
	for _, err := range r.stats.Failures {
		fmt.Fprintf(w, "%s cannot be read: %v\n", err.Name, err.Err)
	}
	percent := func(d time.Duration) float64 { return 100 * d.Seconds() / r.took.Seconds() }
	waited := r.stats.Wait.Total
	fmt.Fprintf(w, "\n%d images in %.2f s, %.0f images/s\n", r.stats.Samples, r.took.Seconds(), float64(r.stats.Samples)/r.took.Seconds())
	fmt.Fprintf(w, "time: %.1f %% waiting for images, %.1f %% in the net, %.1f %% printing\n\n%v\n",
		percent(waited), percent(r.inNet), percent(r.took-waited-r.inNet), r.stats)
}
