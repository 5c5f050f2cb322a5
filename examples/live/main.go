// Live shows what a loader does while it works: in the terminal, and on a page with its rate over the last
// minutes. Both name the sample that every worker works on, and say what the loop waits for.
//
//	go run ./examples/live [-dir DIR] [-workers N] [-epochs N] [-http ADDRESS]
//
// It prints the page's address. It loads the images of DIR, which has a folder per class, again and again, for half a
// minute on two processors if they are the project's own, as they are without DIR. -epochs 1000000 goes on until it is
// interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/images/photos"
	"github.com/penstock-go/penstock/internal/usage"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/live"
	"github.com/penstock-go/penstock/transform"
)

// options are what the flags say.
type options struct {
	dir             string
	workers, epochs int
	address         string
}

func main() {
	o := options{address: "127.0.0.1:0"}
	usage.Folder(&o.dir, "dir", "`folder` of images, with a folder per class; the project's own by default")
	usage.Int(&o.workers, "workers", runtime.GOMAXPROCS(0), 0, "`goroutines` that assemble batches")
	usage.Int(&o.epochs, "epochs", 2000, 1, "how many `times` to load all images")
	flag.Func("http", "`address` of the page; port 0 takes a free one (default 127.0.0.1:0)", o.setAddress)
	usage.Parse("Live shows what a loader does while it works: in the terminal, and on a page.")

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		usage.Fatal(err)
	}
}

// run loads the images until ctx ends, and shows the loader meanwhile.
func run(ctx context.Context, o options) (err error) {
	ds, err := open(o.dir)
	if err != nil {
		return err
	}
	var view live.View
	l, err := loader.New(ds, loader.Workers(o.workers), loader.BatchSize(16), loader.Shuffle(true),
		loader.OnError(loader.Skip, loader.NoLimit), loader.Observe(view.Trace("images")))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	stopPage, err := showPage(&view, o.address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopPage()) }()

	stopTerminal := view.Terminal(os.Stderr, 500*time.Millisecond)
	for _, err = range l.Epochs(ctx, 0, o.epochs) {
		if err != nil {
			break
		}
	}
	stopTerminal() // or it would draw over what follows
	fmt.Print("\n", l.Stats())
	if ctx.Err() != nil {
		return nil // the usual end
	}
	return err
}

// open finds the images of a folder, or the project's own, and prepares them for a model, as for a training.
func open(dir string) (dataset.Dataset, error) {
	files := fs.FS(photos.Files)
	if dir != "" {
		files = os.DirFS(dir)
	}
	images, err := dataset.ImageFolder(files)
	if err != nil {
		return nil, err
	}
	return transform.Images(images, transform.Train(224))
}
