// Gomlx trains a small convolutional net with GoMLX: batches of uint8 images, which the net normalises itself, on the
// backend in Go or on XLA. A fifth of the images is held out. It prints the accuracy, and writes nothing.
//
//	go run ./examples/gomlx [-epochs N] [-dir DIR] [-batch N]
//
// DIR has a folder per class. README.md says how to run it on XLA.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/loss"
	"github.com/gomlx/gomlx/ml/train/metric"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/gomlx"
	"github.com/penstock-go/penstock/transform"
)

func main() {
	log.SetFlags(0)
	dir := flag.String("dir", "examples/images/photos", "`folder` of images, with a folder per class")
	epochs := flag.Int("epochs", 16, "`epochs` to train")
	batch := flag.Int("batch", 32, "`images` per step")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%q is no flag: see -h", flag.Arg(0))
	}
	backend, err := newBackend()
	if err != nil {
		log.Fatal(err)
	}
	if _, err := run(backend, *dir, *epochs, *batch); err != nil {
		log.Fatal(err)
	}
	backend.Finalize()
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
func run(backend compute.Backend, dir string, epochs, batch int) (accuracy float64, err error) {
	photos, err := dataset.ImageFolder(os.DirFS(dir))
	if err != nil {
		return 0, err
	}
	parts, err := dataset.RandomSplit(photos, []float64{0.8, 0.2}, 1)
	if err != nil {
		return 0, err
	}
	if parts[0].Len() == 0 || parts[1].Len() == 0 {
		return 0, fmt.Errorf("%s: %d images: want some to learn from and some to hold out", dir, photos.Len())
	}
	// A short batch is another shape to compile: the last one is left out.
	learn, trainSet, err := images(backend, parts[0], []transform.Item{transform.Resize(36), transform.RandomCrop(32), transform.RandomHorizontalFlip(0.5)},
		loader.BatchSize(min(batch, parts[0].Len())), loader.Shuffle(true), loader.DropLast(true), loader.Skip(loader.NoLimit))
	if err != nil {
		return 0, err
	}
	defer learn.Close()
	judge, validSet, err := images(backend, parts[1], []transform.Item{transform.Resize(36), transform.CenterCrop(32)},
		loader.BatchSize(batch), loader.Skip(loader.NoLimit))
	if err != nil {
		return 0, err
	}
	defer judge.Close()

	store := model.NewStore()
	store.SetParam(model.ParamInitialSeed, int64(1))
	trainer := train.NewTrainer(backend, store, net{classes: len(photos.Classes())}.graph, loss.SparseCategoricalCrossEntropyLogits,
		optimizer.Adam().LearningRate(0.01).Done(), nil, []metric.Interface{metric.NewSparseCategoricalAccuracy("accuracy", "acc")})
	loop := train.NewLoop(trainer)
	fmt.Printf("%s: %d images to learn from, %d held out, %d classes, on %s\n", dir, parts[0].Len(), parts[1].Len(), len(photos.Classes()), backend.Description())
	for epoch := range epochs {
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
			tensors.ToScalar[float32](metrics[1]), 100*accuracy, float64(spent.Samples)/took.Seconds(), 100*spent.Wait.Seconds()/took.Seconds())
	}
	return accuracy, nil
}

// images loads what the steps make of images: uint8 (32, 32, 3).
func images(backend compute.Backend, photos dataset.Dataset, steps []transform.Item, options ...loader.Option) (*loader.Loader, train.Dataset, error) {
	ds, err := transform.Images(photos, append(steps, transform.Layout(transform.HWC))...)
	if err != nil {
		return nil, nil, err
	}
	l, err := loader.New(ds, options...)
	if err != nil {
		return nil, nil, err
	}
	batches, err := gomlx.New(backend, l, gomlx.Inputs("image"), gomlx.Labels("label"))
	return l, batches, err
}

// A net is three convolutions of stride 2, their mean over the image, and a dense layer.
type net struct{ classes int }

// graph takes uint8 images (batch, height, width, 3).
func (n net) graph(scope *model.Scope, _ any, inputs []*graph.Node) []*graph.Node {
	x := normalized(inputs[0])
	for i, channels := range []int{8, 16, 32} {
		x = layers.Convolution(scope.In("conv%d", i), x).Channels(channels).KernelSize(3).Strides(2).PadSame().Done()
		x = activation.Relu(x)
	}
	return []*graph.Node{layers.DenseWithBias(scope, graph.ReduceMean(x, 1, 2), n.classes)}
}

// normalized is what ToTensor and Normalize do, as part of the graph: the batch is copied as uint8, a quarter of the bytes.
func normalized(x *graph.Node) *graph.Node {
	scale, shift := make([]float32, 3), make([]float32, 3)
	for c := range scale {
		scale[c] = 1 / (255 * transform.ImageNetStd[c])
		shift[c] = -transform.ImageNetMean[c] / transform.ImageNetStd[c]
	}
	constant := func(v []float32) *graph.Node { return graph.ExpandLeftToRank(graph.Const(x.Graph(), v), x.Rank()) }
	return graph.Add(graph.Mul(graph.ConvertDType(x, dtypes.Float32), constant(scale)), constant(shift))
}
