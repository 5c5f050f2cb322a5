// Train trains a small convolutional net to classify images, on the processor or
// a CUDA device. It shows loader, gpu/feed and gorgonia together, from image files
// to a checkpoint that survives a kill.
//
//	go run ./examples/train [-epochs N] [-dir DIR] [-batch N] [-lr RATE] [-device auto|cpu|cuda] …
//
// DIR has a folder per class. Without it, the program draws 5,000 images of seven
// shapes and keeps them in the user's cache. A fifth of the images is for validation.
// It writes train.safetensors, the checkpoint. 16 epochs take
// half a minute on two processors.
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
	"math"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/examples/internal/usage"
	"github.com/penstock-go/penstock/examples/train/net"
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
	var o options
	usage.Folder(&o.dir, "dir", "`folder` of images, with a folder per class; drawn shapes by default")
	usage.Int(&o.images, "images", 5000, 2*len(shapes.Names), "how many `shapes` to draw, without -dir")
	flag.IntVar(&o.size, "size", 32, "side of the images that the net sees, in pixels")
	usage.Int(&o.workers, "workers", runtime.GOMAXPROCS(0), 0, "`goroutines` that assemble batches")
	usage.Int(&o.batch, "batch", 32, 1, "`images` per step")
	usage.Int(&o.epochs, "epochs", 16, 1, "`epochs` in all, those of earlier runs included")
	flag.Float64Var(&o.rate, "lr", 0.008, "learning rate of Adam in the first epoch; in epoch n it is divided by √n")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the shapes, the split, the weights, the order and the augmentation")
	usage.Output(&o.checkpoint, "checkpoint", "train.safetensors", "`file` to resume from, and to save to")
	usage.Int(&o.every, "every", 100, 1, "`steps` between checkpoints")
	flag.BoolVar(&o.fresh, "fresh", false, "start a new run, even if there is a checkpoint")
	usage.Choice(&o.device, "device", "auto", "where the net runs: auto, cpu, or cuda in a program built with go build -tags cuda", "auto", "cpu", "cuda")
	flag.StringVar(&o.kernels, "kernels", "kernels", "folder of gorgonia's kernels for cuda, which gpu/cuda/kernels makes")
	usage.Parse("Train trains a small convolutional net to classify images, from files to a checkpoint that survives a kill.")

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt does not wait
	epochs, err := run(ctx, o)
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("interrupted; to resume:\n\t%s", again(flag.CommandLine))
	}
	if err != nil {
		usage.Fatal(err)
	}
	fmt.Printf("to train for more epochs:\n\t%s -epochs %d\n", again(flag.CommandLine, "epochs"), 2*max(o.epochs, epochs))
}

// again is the command that resumes the run, without the flags named in leave.
func again(flags *flag.FlagSet, leave ...string) string {
	command := "go run ./examples/train"
	flags.Visit(func(f *flag.Flag) {
		if f.Name != "fresh" && !slices.Contains(leave, f.Name) {
			value := f.Value.String()
			if value == "" || strings.ContainsAny(value, " \t\"'$\\*?&;|<>()") {
				value = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
			}
			command += " -" + f.Name + " " + value
		}
	})
	return command
}

// validate reports what flags alone do not see.
func (o options) validate() error {
	var errs []error
	if o.size < net.MinSize || o.size > net.MaxSize {
		errs = append(errs, usage.Errorf("-size %d: want %d to %d", o.size, net.MinSize, net.MaxSize))
	}
	if !(o.rate > 0) || math.IsInf(o.rate, 1) {
		errs = append(errs, usage.Errorf("-lr %v: want more than 0, and finite", o.rate))
	}
	return errors.Join(errs...)
}

// run trains and reports, and returns how many epochs are complete. If ctx
// ends, the checkpoint holds the last step.
func run(ctx context.Context, o options) (epochs int, err error) {
	if err := o.validate(); err != nil {
		return 0, err
	}
	dir := o.dir
	if dir == "" {
		if dir, err = shapes.Folder(o.images, o.seed); err != nil {
			return 0, err
		}
	}
	t, err := newTrainer(o, dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	fmt.Printf("%s: %d training images, %d validation images, %d classes\n%d weights in %v; batches in %v\n",
		dir, t.data.train.Len(), t.data.valid.Len(), len(t.data.classes), t.model.Parameters(), t.on, t.on.Memory)
	if t.steps > 0 {
		fmt.Printf("%s: resumed after %d steps, with %d epochs complete\n", o.checkpoint, t.steps, len(t.accuracy))
	}
	p := newProgress(t)
	err = t.train(ctx, func(*loader.Batch, float32) {}, p.epoch)
	if err != nil {
		return 0, err
	}
	p.summary()
	return len(t.accuracy), nil
}
