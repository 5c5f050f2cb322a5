package main

import (
	"context"

	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/share"
)

// serve gives the work's batches to a loop in Python.
func serve(ctx context.Context, o options) error {
	ds, err := opened(o.work, o.serve, o.size, o.samples)
	if err != nil {
		return err
	}
	var memory share.Memory
	l, err := loader.New(ds, loader.Workers(o.config.Workers), loader.BatchSize(o.config.Batch), loader.Shuffle(o.shuffle), loader.Memory(&memory))
	if err != nil {
		return err
	}
	defer l.Close()
	return share.Serve(ctx, l, &memory)
}
