package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

func openPacked(name string) (*packed.File, error) {
	return packed.Open(os.DirFS(filepath.Dir(name)), filepath.Base(name))
}

// load loads the file twice, as training would, and returns the images per second of
// both epochs. It leaves out damaged images if the job does.
func load(ctx context.Context, j job) (first, second float64, err error) {
	packed, err := openPacked(j.out)
	if err != nil {
		return 0, 0, err
	}
	ds := dataset.Dataset(packed)
	if f := packed.Spec()[0]; f.Ragged { // whole photos
		steps := j
		steps.dtype = "float32"
		ds, _, err = steps.tensors(packed)
	} else if f.Bytes() == f.Elements() { // pixels
		ds, err = transform.Images(packed, transform.ToTensor(),
			transform.Normalize(transform.ImageNetMean, transform.ImageNetStd))
	}
	if err != nil {
		return 0, 0, err
	}
	fmt.Printf("%d samples of %d classes: %v\n", packed.Len(), len(packed.Classes()), packed.Spec())
	l, err := loader.New(ds, loader.Workers(j.workers), loader.BatchSize(j.batch), loader.Shuffle(true), j.onError())
	if err != nil {
		return 0, 0, err
	}
	defer l.Close()
	var rates [2]float64
	for epoch := range rates {
		begun := time.Now()
		for _, err := range l.Epoch(ctx, epoch) {
			if err != nil {
				return 0, 0, err
			}
		}
		rates[epoch] = float64(ds.Len()) / time.Since(begun).Seconds()
		if epoch == 0 {
			for _, failure := range l.Stats().Failures {
				fmt.Printf("left out: %s: %v\n", failure.Name, failure.Err)
			}
		}
	}
	return rates[0], rates[1], nil
}

// verify reads the whole file and names every damaged sample.
func verify(ctx context.Context, name string, workers, batch int) error {
	packed, err := openPacked(name)
	if err != nil {
		return err
	}
	l, err := loader.New(packed, loader.Workers(workers), loader.BatchSize(batch),
		loader.OnError(loader.Skip, loader.NoLimit))
	if err != nil {
		return err
	}
	defer l.Close()
	for _, err := range l.Epoch(ctx, 0) {
		if err != nil {
			return err
		}
	}
	s := l.Stats()
	for _, failure := range s.Failures {
		fmt.Printf("%s: %v\n", failure.Name, failure.Err)
	}
	if s.Dropped > 0 {
		return fmt.Errorf("%s: %d of %d samples are damaged", name, s.Dropped, packed.Len())
	}
	fmt.Printf("%s: all %d samples are intact\n", name, packed.Len())
	return nil
}
