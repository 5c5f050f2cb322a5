package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// work is what every rank does: it loads its share of the epoch, and records each batch
// after the training step with it. With after it goes on where that run ended.
func work(out, after string, step time.Duration) error {
	rank, world, err := sampler.FromEnv()
	if err != nil {
		return err
	}
	ds := dataset.Func(samples, dataset.Spec{{Name: "x", Dtype: dataset.Int64}},
		func(_ context.Context, i int, dst dataset.Slot) error {
			dataset.Set(dst, 0, int64(i))
			return nil
		})
	l, err := loader.New(ds, loader.Workers(2), loader.BatchSize(batch), loader.Shuffle(true), loader.Seed(1),
		loader.Ranks(rank, world, sampler.KeepExact)) // every rank has the same seed
	if err != nil {
		return err
	}
	defer l.Close()

	from := l.Position(0)
	if after != "" {
		if from, err = commonPosition(after, from); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(out, recordName(rank, world)))
	if err != nil {
		return err
	}
	defer file.Close()
	n := 0
	for b, err := range l.From(context.Background(), from, from.Epoch+1) {
		if err != nil {
			return err
		}
		time.Sleep(step)
		line, err := json.Marshal(record{b.Position(), b.Indices()})
		if err != nil {
			return err
		}
		if _, err := file.Write(append(line, '\n')); err != nil {
			return err
		}
		n += b.Len()
	}
	fmt.Printf("rank %d of %d: %d samples\n", rank, world, n)
	return nil
}
