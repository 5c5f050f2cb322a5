// Live shows what a loader does while it works: in lines, and on a page like those of net/http/pprof.
//
//	go run ./examples/live [-dir DIR] [-http ADDRESS] [-epochs N]
//
// It ends after an interrupt, or after all epochs.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/live"
	"github.com/penstock-go/penstock/transform"
)

func main() {
	log.SetFlags(0)
	dir := flag.String("dir", "examples/images/photos", "`folder` of images, with a folder per class")
	address := flag.String("http", "127.0.0.1:0", "`address` of the page; port 0 takes a free one")
	epochs := flag.Int("epochs", 2000, "how many `times` to load all images")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%q is no flag: see -h", flag.Arg(0))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *dir, *address, *epochs); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dir, address string, epochs int) error {
	photos, err := dataset.ImageFolder(os.DirFS(dir))
	if err != nil {
		return fmt.Errorf("-dir %s: %w", dir, err)
	}
	ds, err := transform.Images(photos, transform.Train(224))
	if err != nil {
		return err
	}
	var view live.View // shows any number of loaders
	l, err := loader.New(ds, loader.BatchSize(16), loader.Shuffle(true),
		loader.Skip(loader.NoLimit), loader.Observe(view.Trace("images")))
	if err != nil {
		return err
	}
	defer l.Close()

	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("-http: %w", err)
	}
	fmt.Printf("the loader is shown on http://%v/ until it is done\n", listener.Addr())
	page := &http.Server{Handler: &view, ReadHeaderTimeout: 10 * time.Second}
	go page.Serve(listener)
	defer page.Close()

	stop := view.Lines(os.Stderr, time.Second)
	for _, failed := range l.Epochs(ctx, 0, epochs) {
		if failed != nil {
			err = failed
			break
		}
	}
	stop()
	fmt.Print("\n", l.Stats())
	if ctx.Err() != nil {
		return nil // an interrupt is the usual end
	}
	return err
}
