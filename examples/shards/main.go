// Shards trains a classifier from tar shards on a web server, with a cache on the local
// disk, and goes on after a kill.
//
//	go run ./examples/shards -kill 70   # packs images into shards, and dies after 70 steps
//	go run ./examples/shards            # goes on with the next step
//
// It writes into the folder shards-example (-dir), and takes a few seconds. Remove the folder to
// start anew. The server is in this program, and answers as late as one that is far away. The weights
// are the same bit for bit as without the kill, and for any number of -workers.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/examples/internal/shapes"
	"github.com/penstock-go/penstock/internal/usage"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
	"github.com/penstock-go/penstock/transform"
)

// options are what the flags say.
type options struct {
	dir     string
	images  int
	epochs  int
	workers int
	kill    int
	latency time.Duration
}

func main() {
	var o options
	usage.NewFolder(&o.dir, "dir", "shards-example", "`folder` for the shards, the cache and the state of the training")
	usage.Int(&o.images, "images", 2100, len(shapes.Names), "how many `images` to draw")
	usage.Int(&o.epochs, "epochs", 3, 1, "`epochs` in all")
	usage.Int(&o.workers, "workers", runtime.GOMAXPROCS(0), 0, "`goroutines` that assemble batches")
	usage.Int(&o.kill, "kill", 0, 0, "number of `steps` after which to die; never if 0")
	flag.DurationVar(&o.latency, "latency", 30*time.Millisecond, "median time until the server answers")
	usage.Parse("Shards trains a classifier from tar shards on a web server, and goes on after a kill.")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	_, err := run(ctx, o)
	switch {
	case errors.Is(err, errKilled):
		fmt.Println("killed; run again without -kill")
	case ctx.Err() != nil:
		usage.Fatal(errors.New("interrupted; the same command goes on with the next step"))
	case err != nil:
		usage.Fatal(err)
	}
}

var errKilled = errors.New("killed")

// run packs, serves and trains, and returns the trained weights.
func run(ctx context.Context, o options) (*model, error) {
	if o.latency < 0 {
		return nil, usage.Errorf("-latency %v: want 0s or more", o.latency)
	}
	web := filepath.Join(o.dir, "web")
	if err := pack(ctx, web, o.images); err != nil {
		return nil, err
	}
	server, err := serve(web, o.latency)
	if err != nil {
		return nil, err
	}
	defer server.Close()
	store, err := openStore(server.URL(), filepath.Join(o.dir, "cache"))
	if err != nil {
		return nil, err
	}
	defer store.Close()
	fields := []shards.Field{shards.Bytes("image", "jpg"), shards.Scalar[int64]("label", "cls")}
	ds, err := shards.OpenSaved(ctx, store, shards.WebDataset(), []string{"train-*.tar"}, filepath.Join(o.dir, "index"), fields, shards.BlockSize(256<<10))
	if err != nil {
		return nil, err
	}
	fmt.Printf("%d samples in %d blocks\n", ds.Len(), len(ds.Ends()))
	images, err := transform.Images(ds, transform.Resize([2]int{side, side}), transform.ToTensor(), transform.Normalize(transform.ImageNetMean, transform.ImageNetStd))
	if err != nil {
		return nil, err
	}
	// Eight blocks are mixed at a time, of about 30.
	order := sampler.Grouped(ds.Ends(), 7, sampler.Together(8))
	l, err := loader.New(images, loader.Workers(o.workers), loader.BatchSize(batchSize), loader.Sampler(order))
	if err != nil {
		return nil, err
	}
	defer l.Close()
	m, err := train(ctx, l, o)
	store.report(server)
	return m, err
}

// pack draws images and packs them into shards, unless that is done. It goes on where an
// earlier run was killed.
func pack(ctx context.Context, web string, images int) error {
	done := filepath.Join(web, "index.txt")
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	folder, err := shapes.Folder(images, 1)
	if err != nil {
		return err
	}
	drawn, err := dataset.ImageFolder(os.DirFS(folder))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(web, 0o777); err != nil {
		return err
	}
	order, err := dataset.Subset(drawn, shuffled(drawn.Len()))
	if err != nil {
		return err
	}
	columns := []shards.Column{{Field: "image", Extension: "jpg"}, {Field: "label", Extension: "cls"}}
	if err := shards.WriteTar(ctx, filepath.Join(web, "train-%04d.tar"), order, columns, shards.MaxShardBytes(1<<20), shards.Origin(folder)); err != nil {
		return err
	}
	return writeList(done, web)
}

// shuffled is a random order, so that a block has images of all classes.
func shuffled(n int) []int {
	order := sampler.Shuffle(n, 3).Epoch(0)
	list := make([]int, n)
	for k := range list {
		list[k] = order.At(k)
	}
	return list
}
