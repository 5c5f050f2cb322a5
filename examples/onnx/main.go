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

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/onnx/model"
	"github.com/penstock-go/penstock/examples/onnx/ort"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
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
	flag.StringVar(&o.dir, "dir", "examples/images/photos", "`folder` of images, at any depth; the project's own, seen from its root")
	flag.StringVar(&o.model, "model", model.Folder(), "`folder` that examples/onnx/install filled")
	flag.IntVar(&o.batch, "batch", 32, "`images` that the net sees at once")
	flag.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "`goroutines` that assemble batches")
	flag.IntVar(&o.threads, "threads", 0, "`threads` of the net; 0 is one for each processor")
	flag.IntVar(&o.top, "top", 5, "`classes` to print of each image")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%q is no flag: see -h", flag.Arg(0))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt does not wait
	if err := run(ctx, os.Stdout, o); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer, o options) (err error) {
	if o.top < 1 {
		return errors.New("-top: want 1 or more")
	}
	files, err := model.Find(o.model)
	if err != nil {
		return err
	}
	photos, err := dataset.ImageFolder(os.DirFS(o.dir), dataset.NoClasses())
	if err != nil {
		return fmt.Errorf("-dir %s: %w", o.dir, err)
	}
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
	stats, err := classify(ctx, photos, session, o, func(name string, logits []float32) {
		fmt.Fprintf(out, "%s:", name)
		for _, c := range model.Top(logits, files.Classes, o.top) {
			fmt.Fprintf(out, " %s %.1f %%,", c.Name, 100*c.Probability)
		}
		fmt.Fprintln(out)
	})
	if err != nil {
		return err
	}
	for _, err := range stats.Failures {
		fmt.Fprintf(out, "%s cannot be read: %v\n", err.Name, err.Err)
	}
	fmt.Fprintf(out, "\n%v\n", stats)
	return nil
}

// classify calls use with every image's logits, in the order of the images. Those
// that cannot be read are left out, and listed in the statistics.
func classify(ctx context.Context, photos *dataset.Folder, session *ort.Session, o options, use func(name string, logits []float32)) (stats loader.Stats, err error) {
	ds, err := transform.Images(photos, model.Steps()...)
	if err != nil {
		return stats, err
	}
	l, err := loader.New(ds, loader.BatchSize(o.batch), loader.Workers(o.workers), loader.Skip(loader.NoLimit))
	if err != nil {
		return stats, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	classes := session.Classes()
	logits := make([]float32, o.batch*classes)
	for batch, err := range l.Epoch(ctx, 0) {
		if err != nil {
			return stats, err
		}
		n := batch.Len()
		if err := session.Run(loader.Values[float32](batch, "image"), logits[:n*classes], n); err != nil {
			return stats, err
		}
		for row, image := range batch.Indices() {
			use(photos.Name(image), logits[row*classes:][:classes])
		}
	}
	return l.Stats(), nil
}
