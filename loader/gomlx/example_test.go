package gomlx_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/loss"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/gomlx"
)

// line has samples on the line y = 3x - 1.
func line() dataset.Dataset {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Float32}, {Name: "y", Dtype: dataset.Float32}}
	return dataset.Func(100, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		x := float32(i) / 100
		dataset.Row[float32](dst, 0)[0] = x
		dataset.Row[float32](dst, 1)[0] = 3*x - 1
		return nil
	})
}

func Example() {
	l, err := loader.New(line(), loader.BatchSize(10), loader.Shuffle(true))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	backend, err := gobackend.New("") // or compute.New(), which reads GOMLX_BACKEND
	if err != nil {
		log.Fatal(err)
	}
	defer backend.Finalize()
	ds, err := gomlx.New(backend, l, gomlx.Inputs("x"), gomlx.Labels("y"))
	if err != nil {
		log.Fatal(err)
	}
	linear := func(scope *model.Scope, _ any, inputs []*graph.Node) []*graph.Node {
		return []*graph.Node{layers.DenseWithBias(scope, inputs[0], 1)}
	}
	trainer := train.NewTrainer(backend, model.NewStore(), linear, loss.MeanSquaredError,
		optimizer.Adam().LearningRate(0.05).Done(), nil, nil)
	metrics, err := train.NewLoop(trainer).RunEpochs(ds, 60)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("loss below 0.001:", tensors.ToScalar[float32](metrics[0]) < 0.001)
	// Output: loss below 0.001: true
}

// A run saves its position with every checkpoint of its weights. Another one goes
// on with the samples that are left.
func ExampleFrom() {
	l, err := loader.New(line(), loader.BatchSize(40))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	show := func(ds *gomlx.Dataset, batches int) {
		for batch, err := range ds.Iter() {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(batch.Inputs[0].Shape())
			if err := batch.Finalize(); err != nil { // as a trainer does
				log.Fatal(err)
			}
			if batches--; batches == 0 {
				break
			}
		}
	}
	ds, err := gomlx.New(nil, l, gomlx.Inputs("x"))
	if err != nil {
		log.Fatal(err)
	}
	show(ds, 1)
	saved := ds.Position()
	again, err := gomlx.New(nil, l, gomlx.Inputs("x"), gomlx.From(saved))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("resumed after", saved.Draw, "samples")
	show(again, -1)
	// Output:
	// (Float32)[40, 1]
	// resumed after 40 samples
	// (Float32)[40, 1]
	// (Float32)[20, 1]
}

// Images as uint8 are a quarter of the bytes to copy. The graph normalises them.
func ExampleNew_uint8() {
	spec := dataset.Spec{{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{3, 1, 2}}}
	ds := dataset.Func(2, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		copy(dataset.Row[uint8](dst, 0), []uint8{0, 255, 0, 255, 0, 255})
		return nil
	})
	l, err := loader.New(ds, loader.BatchSize(1))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	backend, err := gobackend.New("")
	if err != nil {
		log.Fatal(err)
	}
	defer backend.Finalize()
	normalize, err := graph.NewExec(backend, func(x *graph.Node) *graph.Node {
		mean := graph.Const(x.Graph(), [][][]float32{{{123.675}}, {{116.28}}, {{103.53}}})
		std := graph.Const(x.Graph(), [][][]float32{{{58.395}}, {{57.12}}, {{57.375}}})
		x = graph.ConvertDType(x, dtypes.Float32)
		return graph.Div(graph.Sub(x, graph.ExpandAxes(mean, 0)), graph.ExpandAxes(std, 0))
	})
	if err != nil {
		log.Fatal(err)
	}
	batches, err := gomlx.New(backend, l)
	if err != nil {
		log.Fatal(err)
	}
	for batch, err := range batches.Iter() {
		if err != nil {
			log.Fatal(err)
		}
		x, err := normalize.Call1(batch.Inputs[0])
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v becomes %v: %.3f\n", batch.Inputs[0].Shape(), x.Shape(), x.Value())
		break
	}
	// Output: (Uint8)[1, 3, 1, 2] becomes (Float32)[1, 3, 1, 2]: [[[[-2.118 2.249]] [[-2.036 2.429]] [[-1.804 2.640]]]]
}
