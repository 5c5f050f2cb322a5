// Images loads a folder of images as batches for a model, and shows how fast that is
// and where the time goes. It draws the first batch in batch.png. With its own images it
// takes less than a second.
//
//	go run ./examples/images [-dir DIR] [-workers N|auto] [-batch N] [-epochs N] [-train] [-sheet FILE] [-trace FILE]
//
// With -workers auto the loader finds the number of workers itself, and says what it has
// chosen; that takes some seconds, so give it -epochs 200.
//
// DIR has a folder per class. Without it, the images are the project's own; one
// of them is damaged on purpose, to show that it is left out and named.
//
// With -sheet "" nothing is drawn. With -trace it writes a timeline, to be opened in https://ui.perfetto.dev, and lists
// the slowest images. What the loader does while it works is in examples/live.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/usage"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/trace"
)

// options are what the flags say.
type options struct {
	dir             string
	workers         count
	batch, epochs   int
	train           bool
	sheet, timeline string
}

func main() {
	o := options{workers: count(runtime.GOMAXPROCS(0))}
	usage.Folder(&o.dir, "dir", "`folder` of images, with a folder per class; the project's own by default")
	flag.Var(&o.workers, "workers", "`goroutines` that assemble batches, or auto: the loader finds their number")
	usage.Int(&o.batch, "batch", 16, 1, "`images` per batch")
	usage.Int(&o.epochs, "epochs", 3, 1, "how many `times` to load all images")
	flag.BoolVar(&o.train, "train", false, "the training preset: random crops and flips")
	usage.Output(&o.sheet, "sheet", "batch.png", "PNG `file` for a drawing of the first batch; none if empty", ".png", "")
	usage.Output(&o.timeline, "trace", "", "`file` for a timeline for https://ui.perfetto.dev; none by default")
	usage.Parse("Images loads a folder of images as batches for a model, and shows how fast that is and where the time goes.")

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		usage.Fatal(err)
	}
}

// run loads the images, and then says where the time went.
func run(ctx context.Context, o options) (err error) {
	photos, ds, err := open(o.dir, o.train)
	if err != nil {
		return err
	}
	options, slow := o.loading(), trace.Slowest(5)
	if o.timeline != "" {
		f, err := os.Create(o.timeline)
		if err != nil {
			return err
		}
		defer f.Close()
		options = append(options, loader.Observe(trace.File(f)), loader.Observe(slow.Trace()))
	}
	l, err := loader.New(ds, options...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }() // which ends the timeline
	fmt.Printf("%s in %s\n%v\n\n", figures.Count(photos.Len(), "image", "images"), figures.Count(len(photos.Classes()), "class", "classes"), ds)

	first, release, took, err := load(ctx, l, o.epochs, photos.Len())
	defer release()
	if err != nil {
		return err
	}
	report(os.Stdout, l.Stats(), took, o.dir == "")
	if o.timeline != "" {
		fmt.Printf("\nthe timeline is in %s; the slowest images were\n\n%v\n", o.timeline, slow)
	}
	if ctx.Err() != nil {
		s := l.Stats()
		return fmt.Errorf("interrupted after %d of %d images", s.Samples+s.Dropped, o.epochs*photos.Len())
	}
	if o.sheet == "" || first == nil {
		return nil
	}
	if err := drawSheet(o.sheet, first, photos.Classes()); err != nil {
		return err
	}
	fmt.Println("the first batch is drawn in", o.sheet)
	return nil
}
