package gomlx_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/loss"
	"github.com/gomlx/gomlx/ml/train/metric"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/gomlx"
)

// onBackends runs a test on the backend in Go, and on XLA if its plugin is there.
func onBackends(t *testing.T, test func(t *testing.T, b compute.Backend)) {
	t.Run("go", func(t *testing.T) { test(t, goBackend(t)) })
	t.Run("xla", func(t *testing.T) { test(t, xlaBackend(t)) })
}

// stripes has n images of 8×8 pixels with noise. Those of class 1 have a bright
// column, those of class 0 a bright row, anywhere.
func stripes(n int) dataset.Dataset {
	spec := dataset.Spec{{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{8, 8, 1}}, {Name: "label", Dtype: dataset.Int64}}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		r, class, image := dst.Rand(), i%2, dataset.Row[uint8](dst, 0)
		at := r.IntN(8)
		for k := range image {
			image[k] = uint8(r.IntN(100))
			if class == 1 && k%8 == at || class == 0 && k/8 == at {
				image[k] += 100
			}
		}
		dataset.Row[int64](dst, 1)[0] = int64(class)
		return nil
	})
}

// convNet takes uint8 images and normalises them in the graph.
func convNet(scope *model.Scope, _ any, inputs []*graph.Node) []*graph.Node {
	x := graph.ConvertDType(inputs[0], dtypes.Float32)
	x = graph.MulScalar(graph.AddScalar(x, -64), 1./64)
	x = layers.Convolution(scope.In("conv"), x).Channels(4).KernelSize(3).PadSame().Done()
	x = graph.ReduceMax(graph.Max(x, graph.ZerosLike(x)), 1, 2)
	return []*graph.Node{layers.DenseWithBias(scope.In("dense"), x, 2)}
}

func newTrainer(t testing.TB, b compute.Backend, rate float64) *train.Trainer {
	t.Helper()
	store := model.NewStore()
	store.SetParam(model.ParamInitialSeed, int64(1))
	return train.NewTrainer(b, store, convNet, loss.SparseCategoricalCrossEntropyLogits,
		optimizer.Adam().LearningRate(rate).Done(), nil, []metric.Interface{metric.NewSparseCategoricalAccuracy("accuracy", "acc")})
}

// accuracy evaluates a trainer's model on a dataset.
func accuracy(t testing.TB, trainer *train.Trainer, ds train.Dataset) float64 {
	t.Helper()
	metrics, err := trainer.Eval(ds)
	if err != nil {
		t.Fatal(err)
	}
	return float64(tensors.ToScalar[float32](metrics[1]))
}

func TestATrainerLearns(t *testing.T) {
	onBackends(t, func(t *testing.T, b compute.Backend) {
		l := loadertest.New(t, stripes(512), loader.BatchSize(32), loader.Shuffle(true))
		trainer := newTrainer(t, b, 0.02)
		ds := newDataset(t, b, l, gomlx.Labels("label"))
		if _, err := train.NewLoop(trainer).RunEpochs(ds, 12); err != nil {
			t.Fatal(err)
		}
		judge := loadertest.New(t, stripes(250), loader.BatchSize(32), loader.Seed(9))
		if got := accuracy(t, trainer, newDataset(t, b, judge, gomlx.Labels("label"))); got < 0.95 {
			t.Errorf("accuracy %.3f, want 0.95", got)
		}
		if got, want := ds.Position().Epoch, 11; got != want {
			t.Errorf("trained to epoch %d, want %d", got, want)
		}
	})
}

func TestATrainingResumesBitForBit(t *testing.T) {
	onBackends(t, func(t *testing.T, b compute.Backend) {
		const steps = 30
		run := func(trainer *train.Trainer, n int, options ...gomlx.Option) (losses []float32, at loader.Position) {
			l := loadertest.New(t, stripes(100), loader.BatchSize(8), loader.Shuffle(true), loader.DropLast(true))
			ds := newDataset(t, b, l, append(options, gomlx.Labels("label"), gomlx.Infinite(true))...)
			loop := train.NewLoop(trainer)
			loop.OnStep("losses", 0, func(_ *train.Loop, metrics []*tensors.Tensor) error {
				losses, at = append(losses, tensors.ToScalar[float32](metrics[0])), ds.Position()
				return nil
			})
			if _, err := loop.RunSteps(ds, n); err != nil {
				t.Fatal(err)
			}
			return losses, at
		}
		want, _ := run(newTrainer(t, b, 0.01), steps)
		trainer := newTrainer(t, b, 0.01)
		got, at := run(trainer, 17)
		rest, _ := run(trainer, steps-17, gomlx.From(at))
		if got = append(got, rest...); !slices.Equal(got, want) {
			t.Errorf("losses %v, want %v", got, want)
		}
	})
}

func TestATrainerFreesTheTensors(t *testing.T) {
	onBackends(t, func(t *testing.T, b compute.Backend) {
		trainer := newTrainer(t, b, 0.01)
		ds := newDataset(t, b, loadertest.New(t, stripes(20), loader.BatchSize(8)), gomlx.Labels("label"))
		for batch, err := range ds.Iter() {
			if err != nil {
				t.Fatal(err)
			}
			if !batch.Inputs[0].IsShared() {
				t.Error("the tensor is not in the backend's memory: there would be a second copy")
			}
			if _, err := trainer.TrainStep(batch); err != nil {
				t.Fatal(err)
			}
			if batch.Inputs[0].Ok() || batch.Labels[0].Ok() {
				t.Error("a tensor is left after the step")
			}
		}
	})
}

func TestRowsOfPaddingDoNotCountInLosses(t *testing.T) {
	onBackends(t, func(t *testing.T, b compute.Backend) {
		var losses [2][]float32
		for k, options := range [][]gomlx.Option{{}, {gomlx.PadTo(8)}} {
			trainer := newTrainer(t, b, 0.01)
			ds := newDataset(t, b, loadertest.New(t, stripes(20), loader.BatchSize(8)), append(options, gomlx.Labels("label"))...)
			for batch, err := range ds.Iter() {
				if err != nil {
					t.Fatal(err)
				}
				metrics, err := trainer.TrainStep(batch)
				if err != nil {
					t.Fatal(err)
				}
				losses[k] = append(losses[k], tensors.ToScalar[float32](metrics[0]))
			}
		}
		for i, want := range losses[0] {
			if math.Abs(float64(losses[1][i]-want)) > 1e-5 {
				t.Errorf("losses %v with padding, want %v", losses[1], losses[0])
			}
		}
		if len(losses[1]) != 3 {
			t.Errorf("%d steps, want 3", len(losses[1]))
		}
	})
}

func TestGoMLXReturnsTheLoadersError(t *testing.T) {
	b := goBackend(t)
	broken := dataset.Func(20, stripes(1).Spec(), func(_ context.Context, i int, dst dataset.Slot) error {
		if i == 13 {
			return errBroken
		}
		return nil
	})
	ds := newDataset(t, b, loadertest.New(t, broken, loader.BatchSize(8)), gomlx.Labels("label"))
	_, err := train.NewLoop(newTrainer(t, b, 0.01)).RunEpochs(ds, 2)
	var sample *loader.SampleError
	if !errors.As(err, &sample) || sample.Index != 13 || !errors.Is(err, errBroken) {
		t.Errorf("error %v, want that of sample 13", err)
	}
	if want := "loader: sample 13, epoch 0, batch 1: broken"; fmt.Sprint(sample) != want {
		t.Errorf("error %v, want %s", sample, want)
	}
}
