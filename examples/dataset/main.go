// Dataset shows how to write your own dataset: points of two spirals, computed when they are
// loaded. It prints the batches of two epochs and the loader's statistics, and writes nothing.
// It takes less than a second.
//
//	go run ./examples/dataset
package main

import (
	"context"
	"fmt"
	"math"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/usage"
	"github.com/penstock-go/penstock/loader"
)

// spirals is a dataset of n noisy points on two spirals.
type spirals struct{ n int }

func (s spirals) Len() int { return s.n }

// Spec says that a sample is a point (2) and the number of its spiral.
func (s spirals) Spec() dataset.Spec {
	return dataset.Spec{
		{Name: "point", Dtype: dataset.Float32, Shape: dataset.Shape{2}},
		{Name: "spiral", Dtype: dataset.Int64},
	}
}

// Open makes a reader for one worker. A reader of files would open them here.
func (s spirals) Open() (dataset.Reader, error) { return reader(s), nil }

// Name is what error messages call a sample.
func (s spirals) Name(i int) string { return fmt.Sprintf("point %d of spiral %d", i/2, i%2) }

type reader struct{ n int }

// Place writes sample i where the batch will be read. The noise comes from
// dst.Rand, so it differs in every epoch and is the same for any number of
// workers.
func (r reader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	if err := dataset.CheckIndex(i, r.n); err != nil {
		return err
	}
	spiral := i % 2
	turn := 3 * math.Pi * float64(i) / float64(r.n)
	angle := turn + math.Pi*float64(spiral)
	noise := dst.Rand()

	point := dataset.Row[float32](dst, 0)
	point[0] = float32(turn*math.Cos(angle) + 0.1*noise.NormFloat64())
	point[1] = float32(turn*math.Sin(angle) + 0.1*noise.NormFloat64())
	dataset.Set(dst, 1, int64(spiral))
	return nil
}

func (r reader) Close() error { return nil }

func main() {
	usage.Parse("Dataset shows how to write your own dataset: points of two spirals, computed when they are loaded.")
	if err := run(); err != nil {
		usage.Fatal(err)
	}
}

func run() error {
	l, err := loader.New(spirals{1000}, loader.Workers(4), loader.BatchSize(250), loader.Shuffle(true))
	if err != nil {
		return err
	}
	defer l.Close()
	for batch, err := range l.Epochs(context.Background(), 0, 2) {
		if err != nil {
			return err
		}
		x, y := batch.Tensor("point"), batch.Tensor("spiral")
		first := loader.Values[float32](batch, "point")[:2]
		fmt.Printf("epoch %d, batch %d: points %v, spirals %v; the first is %.3f\n",
			batch.Epoch(), batch.Number(), x.Shape(), y.Shape(), first)
	}
	fmt.Printf("\n%v", l.Stats())
	return nil
}
