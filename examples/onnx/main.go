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
	"os"
	"os/signal"
	"runtime"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/internal/usage"
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
	o := options{dir: "examples/images/photos"} // of this project, seen from its root
	usage.Folder(&o.dir, "dir", "`folder` of images, at any depth")
	flag.StringVar(&o.model, "model", model.Folder(), "`folder` that examples/onnx/install filled")
	usage.Int(&o.batch, "batch", 32, 1, "`images` that the net sees at once")
	usage.Int(&o.workers, "workers", runtime.GOMAXPROCS(0), 0, "`goroutines` that assemble batches")
	usage.Int(&o.threads, "threads", 0, 0, "`threads` of the net; 0 is one for each processor")
	usage.Int(&o.top, "top", 5, 1, "`classes` to print of each image")
	usage.Parse("Onnx names what is on images with EfficientNet-Lite0 in ONNX Runtime.")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt does not wait
	err := run(ctx, os.Stdout, o)
	if ctx.Err() != nil {
		err = errors.New("interrupted; the images after the last line have no class")
	}
	if err != nil {
		usage.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer, o options) (err error) {
	files, err := model.Find(o.model)
	if err != nil {
		return err
	}
	photos, err := dataset.ImageFolder(os.DirFS(o.dir), dataset.NoClasses())
	if err != nil {
		return usage.Errorf("-dir %s: %w", o.dir, err)
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
