// Train trains a small convolutional net to classify images, on the processor or
// a CUDA device. It shows loader, gpu/feed and gorgonia together, from image files
// to a checkpoint that survives a kill.
//
//	go run ./examples/train [-epochs N] [-dir DIR] [-batch N] [-lr RATE] [-device auto|cpu|cuda] …
//
// DIR has a folder per class. Without it, the program draws 5,000 images of seven
// shapes and keeps them in the user's cache. A fifth of the images is for validation.
// It writes train.checkpoint. 16 epochs take half a minute on two processors.
//
// A run that was interrupted or killed resumes from its checkpoint when the same
// command is given again. It ends with the same weights bit for bit, for any number
// of workers.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/signal"
	"runtime"
	"time"

	"github.com/penstock-go/penstock/examples/train/shapes"
	"github.com/penstock-go/penstock/loader"
)

// options are what the flags say.
type options struct {
	dir        string
	images     int
	size       int
	workers    int
	batch      int
	epochs     int
	rate       float64
	seed       uint64
	checkpoint string
	every      int
	fresh      bool
	device     string
	kernels    string
	poison     bool // set by tests: see loader.Poison
}

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.dir, "dir", "", "`folder` of images, with a folder per class; drawn shapes by default")
	flag.IntVar(&o.images, "images", 5000, "how many `shapes` to draw, without -dir")
	flag.IntVar(&o.size, "size", 32, "side of the images that the net sees, in pixels")
	flag.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "`goroutines` that assemble batches")
	flag.IntVar(&o.batch, "batch", 32, "`images` per step")
	flag.IntVar(&o.epochs, "epochs", 16, "`epochs` in all, those of earlier runs included")
	flag.Float64Var(&o.rate, "lr", 0.008, "learning rate of Adam in the first epoch; in epoch n it is divided by √n")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the shapes, the split, the weights, the order and the augmentation")
	flag.StringVar(&o.checkpoint, "checkpoint", "train.checkpoint", "`file` to resume from, and to save to")
	flag.IntVar(&o.every, "every", 100, "`steps` between checkpoints")
	flag.BoolVar(&o.fresh, "fresh", false, "start a new run, even if there is a checkpoint")
	flag.StringVar(&o.device, "device", "auto", "where the net runs: auto, cpu, or cuda in a program built with go build -tags cuda")
	flag.StringVar(&o.kernels, "kernels", "kernels", "folder of gorgonia's kernels for cuda, which gpu/cuda/kernels makes")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%q is no flag: see -h", flag.Arg(0))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt does not wait
	err := run(ctx, o)
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted; the same command goes on, without -fresh")
	}
	if err != nil {
		log.Fatal(err)
	}
}

// run trains and reports. If ctx ends, the checkpoint holds the last step.
func run(ctx context.Context, o options) (err error) {
	if o.batch < 1 || o.epochs < 1 || o.every < 1 || !(o.rate > 0) || math.IsInf(o.rate, 1) {
		return errors.New("-batch, -epochs, -every and -lr: want more than 0, and finite")
	}
	dir := o.dir
	if dir == "" {
		if dir, err = shapes.Folder(o.images, o.seed); err != nil {
			return err
		}
	}
	t, err := newTrainer(o, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	fmt.Printf("%s: %d training images, %d validation images, %d classes\n%d weights in %v; batches in %v\n",
		dir, t.data.train.Len(), t.data.valid.Len(), len(t.data.classes), t.Model.Parameters(), t.on, t.on.Memory)
	if t.Adam.Steps > 0 {
		fmt.Printf("%s: resumed after %d steps, with %d epochs complete\n", o.checkpoint, t.Adam.Steps, len(t.Epochs))
	}
	begun, before := time.Now(), loader.Stats{}
	err = t.train(ctx, func(last bool) {
		if !last {
			return
		}
		e, stats, took := t.Epochs[len(t.Epochs)-1], t.trainLoader.Stats(), time.Since(begun)
		spent := stats.Sub(before)
		fmt.Printf("epoch %2d of %d: loss %.3f; validation: loss %.3f, accuracy %.1f %%; %.1f s, %.0f images/s, %.1f %% of it waiting for data\n",
			len(t.Epochs), o.epochs, e.Loss, e.ValidLoss, 100*e.Accuracy,
			took.Seconds(), float64(spent.Samples)/took.Seconds(), 100*spent.Wait.Seconds()/took.Seconds())
		begun, before = time.Now(), stats
	})
	if err != nil {
		return err
	}
	fmt.Println("checkpoint:", o.checkpoint)
	return nil
}
