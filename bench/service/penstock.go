package main

import (
	"context"
	"net"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/remote"
	"github.com/penstock-go/penstock/loader/serve"
)

func servePenstock(ctx context.Context, l load, listening func(net.Addr)) error {
	return serveBatches(ctx, l, serve.Listening(listening))
}

// serveBatches serves batches without content.
func serveBatches(ctx context.Context, l load, options ...serve.ListenOption) error {
	ds := dataset.Func(l.rows*l.batches, dataset.Spec{
		{Name: "image", Dtype: dataset.Float32, Shape: dataset.Shape{3, l.side, l.side}},
		{Name: "label", Dtype: dataset.Int64},
	}, func(context.Context, int, dataset.Slot) error { return nil })
	s, err := serve.New(ctx, ds, serve.Loader(loader.BatchSize(l.rows)))
	if err != nil {
		return err
	}
	return serve.ListenAndServe(ctx, "localhost:0", s, options...)
}

type penstockClient struct {
	*loader.Loader
	epochs int
}

func openPenstock(ctx context.Context, _ load, address string) (client, error) {
	l, err := remote.Open(ctx, []string{"http://" + address})
	return &penstockClient{Loader: l}, err
}

func (c *penstockClient) epoch(ctx context.Context, got func(...[]byte)) error {
	for b, err := range c.Epoch(ctx, c.epochs) {
		if err != nil {
			return err
		}
		got(b.Bytes("image"), b.Bytes("label"))
	}
	c.epochs++
	return nil
}

func (c *penstockClient) close() error { return c.Close() }
