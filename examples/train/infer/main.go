// Infer classifies the images of a folder with a net from the example train, and
// writes a table, infer.csv: an image per row, with its class and probability, or with the
// reason why it cannot be read.
//
//	go run ./examples/train/infer [-checkpoint FILE] [-dir DIR] [-out FILE] [-device auto|cpu|cuda] …
//
// Without a checkpoint it uses the example's own, whose classes are seven shapes.
// Without a folder it draws images of these shapes. One of them ends too early on
// purpose.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/csv"
	"encoding/gob"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/train/net"
	"github.com/penstock-go/penstock/examples/train/shapes"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// own is the model of a checkpoint made by go run ./examples/train.
//
//go:embed shapes.checkpoint
var own []byte

// options are what the flags say.
type options struct {
	checkpoint string
	dir        string
	out        string
	workers    int
	batch      int
	device     string
	kernels    string
}

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.checkpoint, "checkpoint", "", "`file` that the example train has written; the example's own by default")
	flag.StringVar(&o.dir, "dir", "", "`folder` of images, at any depth; drawn shapes by default")
	flag.StringVar(&o.out, "out", "infer.csv", "`file` for the table, as CSV")
	flag.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "`goroutines` that assemble batches")
	flag.IntVar(&o.batch, "batch", 32, "`images` per batch")
	flag.StringVar(&o.device, "device", "auto", "where the net runs: auto, cpu, or cuda in a program built with that tag")
	flag.StringVar(&o.kernels, "kernels", "kernels", "folder of gorgonia's kernels for cuda, which gpu/cuda/kernels makes")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%q is no flag: see -h", flag.Arg(0))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, o options) (err error) {
	var saved struct{ Model *net.Model }
	if o.checkpoint == "" {
		err = gob.NewDecoder(bytes.NewReader(own)).Decode(&saved)
	} else {
		err = net.Load(o.checkpoint, &saved)
	}
	if err == nil && saved.Model.Check() != nil {
		err = fmt.Errorf("%s: %w", o.checkpoint, saved.Model.Check())
	}
	if err != nil {
		return err
	}
	if o.dir == "" {
		if o.dir, err = drawn(); err != nil {
			return err
		}
		defer os.RemoveAll(o.dir)
	}
	photos, err := dataset.ImageFolder(os.DirFS(o.dir), dataset.NoClasses())
	if err != nil {
		return fmt.Errorf("-dir %s: %w", o.dir, err)
	}
	f, err := os.Create(o.out)
	if err != nil {
		return err
	}
	stats, err := infer(ctx, saved.Model, photos, f, o)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	fmt.Printf("%v\n%d images in %s\n", stats, photos.Len(), o.out)
	return nil
}

// infer writes a row for every image to out, in order. If ctx ends, out has some of them.
func infer(ctx context.Context, m *net.Model, photos *dataset.Folder, out io.Writer, o options) (stats loader.Stats, err error) {
	ds, err := transform.Images(photos, net.Plain(m.Size))
	if err != nil {
		return stats, err
	}
	on, err := net.Open(o.device, o.kernels)
	if err != nil {
		return stats, err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	failed := make([]error, photos.Len()) // a worker writes only those of its own images
	l, err := loader.New(ds, loader.Workers(o.workers), loader.BatchSize(o.batch), loader.Memory(on.Memory),
		loader.Skip(loader.NoLimit),
		loader.Observe(loader.Trace{SampleFailed: func(err *loader.SampleError) { failed[err.Index] = err.Err }}))
	if err != nil {
		return stats, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	graph, err := m.Eval(on, o.batch)
	if err != nil {
		return stats, err
	}
	defer func() { err = errors.Join(err, graph.Close()) }()

	table := csv.NewWriter(out)
	defer func() {
		table.Flush()
		err = errors.Join(err, table.Error())
	}()
	table.Write([]string{"file", "class", "probability", "error"})
	next := 0 // the first image that has no row
	missing := func(before int) {
		for ; next < before; next++ {
			table.Write([]string{photos.Name(next), "", "", fmt.Sprint(failed[next])})
		}
	}
	for batch, err := range graph.Feed.Run(l.Epoch(ctx, 0)) {
		if err != nil {
			return stats, err
		}
		logs := graph.LogProbabilities()
		for row, image := range batch.Indices() {
			missing(image)
			of := logs[row*len(m.Classes):][:len(m.Classes)]
			best := net.Best(of)
			table.Write([]string{photos.Name(image), m.Classes[best], fmt.Sprintf("%.4f", math.Exp(float64(of[best]))), ""})
			next++
		}
	}
	missing(photos.Len())
	return l.Stats(), nil
}

// drawn draws images with another seed than those for training. One of them is cut
// short.
func drawn() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "shapes-"); err != nil {
		return "", err
	}
	if err = shapes.Write(dir, 500, 2); err == nil {
		err = os.Truncate(filepath.Join(dir, "disc", "0008.jpg"), 700)
	}
	if err != nil {
		os.RemoveAll(dir)
	}
	return dir, err
}
