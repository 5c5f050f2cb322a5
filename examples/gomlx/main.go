// Gomlx trains a small convolutional net with GoMLX: batches of uint8 images, which
// the net normalises itself, on the backend in Go or on XLA.
//
//	go run ./examples/gomlx [-epochs N] [-images N] [-dir DIR] [-batch N]
//
// DIR has a folder per class. Without it, the program draws images of seven
// shapes and keeps them in the user's cache. A fifth of the images is held out
// for validation. It prints the accuracy, and writes nothing else. 16 epochs take about a
// minute on two processors. README.md says how to run it on XLA.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/loss"
	"github.com/gomlx/gomlx/ml/train/metric"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/internal/shapes"
	"github.com/penstock-go/penstock/internal/usage"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/gomlx"
	"github.com/penstock-go/penstock/transform"
)

type options struct {
	dir                   string
	images, epochs, batch int
}

func main() {
	var o options
	usage.Folder(&o.dir, "dir", "`folder` of images, with a folder per class; drawn shapes by default")
	usage.Int(&o.images, "images", 2100, 2*len(shapes.Names), "how many `shapes` to draw, without -dir")
	usage.Int(&o.epochs, "epochs", 16, 1, "`epochs` to train")
	usage.Int(&o.batch, "batch", 32, 1, "`images` per step")
	usage.Parse("Gomlx trains a small convolutional net with GoMLX.")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	backend, err := newBackend()
	if err != nil {
		usage.Fatal(err)
	}
	defer backend.Finalize()
	_, err = run(ctx, backend, o)
	if ctx.Err() != nil {
		err = errors.New("interrupted; nothing was saved")
	}
	if err != nil {
		usage.Fatal(err)
	}
}

// newBackend is that of GOMLX_BACKEND, or the one in Go. Without a name GoMLX may
// download XLA.
func newBackend() (compute.Backend, error) {
	if os.Getenv(compute.ConfigEnvVar) == "" {
		return gobackend.New("")
	}
	return compute.New()
}

// run trains and returns the accuracy on the images that are held out.
func run(ctx context.Context, backend compute.Backend, o options) (accuracy float64, err error) {
	dir := o.dir
	if dir == "" {
		if dir, err = shapes.Folder(o.images, 1); err != nil {
			return 0, err
		}
	}
	photos, err := dataset.ImageFolder(os.DirFS(dir))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", dir, err)
	}
	parts, err := dataset.RandomSplit(photos, []float64{0.8, 0.2}, 1)
	if err != nil {
		return 0, err
	}
	if parts[0].Len() == 0 || parts[1].Len() == 0 {
		return 0, fmt.Errorf("%s: %d images: want some to learn from and some to hold out", dir, photos.Len())
	}
	// A short last batch would be a second shape to compile, and every image comes again.
	learn, err := images(parts[0], augmented(), loader.BatchSize(min(o.batch, parts[0].Len())), loader.Shuffle(true), loader.DropLast(true))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, learn.Close()) }()
	judge, err := images(parts[1], plain(), loader.BatchSize(o.batch))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, judge.Close()) }()
	trainSet, err := gomlx.New(backend, learn, gomlx.Name("train"), gomlx.Inputs("image"), gomlx.Labels("label"), gomlx.Context(ctx))
	if err != nil {
		return 0, err
	}
	validSet, err := gomlx.New(backend, judge, gomlx.Name("valid"), gomlx.Inputs("image"), gomlx.Labels("label"), gomlx.Context(ctx))
	if err != nil {
		return 0, err
	}

	store := model.NewStore()
	store.SetParam(model.ParamInitialSeed, int64(1))
	trainer := train.NewTrainer(backend, store, net{classes: len(photos.Classes())}.graph, loss.SparseCategoricalCrossEntropyLogits,
		optimizer.Adam().LearningRate(0.01).Done(), nil, []metric.Interface{metric.NewSparseCategoricalAccuracy("accuracy", "acc")})
	loop := train.NewLoop(trainer)
	fmt.Printf("%s: %d images to learn from, %d held out, %d classes, on %s\n", dir, parts[0].Len(), parts[1].Len(), len(photos.Classes()), backend.Description())
	for epoch := range o.epochs {
		begin, before := time.Now(), learn.Stats()
		metrics, err := loop.RunEpochs(trainSet, 1)
		if err != nil {
			return 0, err
		}
		took, spent := time.Since(begin), learn.Stats().Sub(before)
		judged, err := trainer.Eval(validSet)
		if err != nil {
			return 0, err
		}
		accuracy = float64(tensors.ToScalar[float32](judged[1]))
		fmt.Printf("epoch %2d: loss %.3f, accuracy %.1f %%, %.0f images/s, waited for images %.1f %% of the time\n", epoch+1,
			tensors.ToScalar[float32](metrics[1]), 100*accuracy, float64(spent.Samples)/took.Seconds(), 100*spent.Wait.Total.Seconds()/took.Seconds())
	}
	return accuracy, nil
}

// images loads what the steps make of a folder's images: uint8 (32, 32, 3).
func images(photos dataset.Dataset, steps []transform.Item, options ...loader.Option) (*loader.Loader, error) {
	ds, err := transform.Images(photos, append(steps, transform.Layout(transform.HWC))...)
	if err != nil {
		return nil, err
	}
	return loader.New(ds, options...)
}

func augmented() []transform.Item {
	return []transform.Item{transform.Resize(36), transform.RandomCrop(32), transform.RandomHorizontalFlip(0.5)}
}

func plain() []transform.Item {
	return []transform.Item{transform.Resize(36), transform.CenterCrop(32)}
}
