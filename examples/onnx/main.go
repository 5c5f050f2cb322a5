//go:build cgo

// Onnx names what is on images: EfficientNet-Lite0 runs in ONNX Runtime on the
// memory that the loader assembles its batches in. It prints the classes of every image, and
// writes nothing. With the project's own images it takes a few seconds.
//
//	examples/onnx/install
//	go run ./examples/onnx [-dir DIR] …
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime"

	"github.com/penstock-go/penstock/examples/onnx/model"
	"github.com/penstock-go/penstock/examples/onnx/ort"
)

// options are what the flags say.
type options struct {
	dir     string
	model   string
	batch   int
	workers int
	threads int
	top     int
}

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.dir, "dir", "examples/images/photos", "folder of images, at any depth; this project's own, seen from its root, by default")
	flag.StringVar(&o.model, "model", model.Folder(), "folder that examples/onnx/install filled")
	flag.IntVar(&o.batch, "batch", 32, "images that the net sees at once")
	flag.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "goroutines that assemble batches")
	flag.IntVar(&o.threads, "threads", 0, "threads of the net; 0 is one for each processor")
	flag.IntVar(&o.top, "top", 5, "classes to print of each image")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "Onnx names what is on images with EfficientNet-Lite0 in ONNX Runtime.\n\nFlags:")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := o.check(flag.Args()); err != nil {
		log.Print(err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt does not wait
	if err := run(ctx, os.Stdout, o); err != nil {
		log.Fatal(err)
	}
}

// check reports what is wrong in the command line.
func (o options) check(args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q is not a flag; a folder of images is given as -dir", args[0])
	}
	if o.batch < 1 || o.top < 1 || o.threads < 0 || o.workers < 0 {
		return fmt.Errorf("-batch %d, -top %d, -threads %d, -workers %d: want at least 1, 1, 0 and 0", o.batch, o.top, o.threads, o.workers)
	}
	if _, err := os.ReadDir(o.dir); err != nil {
		return fmt.Errorf("-dir: %w", err)
	}
	return nil
}

func run(ctx context.Context, out io.Writer, o options) (err error) {
	files, err := model.Find(o.model)
	if err != nil {
		return err
	}
	photos, err := openImages(os.DirFS(o.dir))
	if err != nil {
		return fmt.Errorf("-dir %s: %w", o.dir, err)
	}
	o.batch = min(o.batch, photos.Len())
	stop, err := ort.Start(files.Library)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	session, err := ort.Open(files.Net, o.threads)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	fmt.Fprintf(out, "%d images, EfficientNet-Lite0 of %d classes in ONNX Runtime %s\n\n", photos.Len(), session.Classes(), ort.Version())

	report, err := classify(ctx, photos, session, o, func(name string, logits []float32) {
		fmt.Fprintf(out, "%s:", name)
		for _, c := range model.Top(logits, files.Classes, o.top) {
			fmt.Fprintf(out, " %s %.1f %%,", c.Name, 100*c.Probability)
		}
		fmt.Fprintln(out)
	})
	if err != nil {
		return err
	}
	report.print(out)
	return nil
}
