// Infer classifies the images of a folder with a net from the example train, and
// writes a table, infer.csv: an image per row, with its class and probability. With its own
// images it takes a second.
//
//	go run ./examples/train/infer [-checkpoint FILE] [-dir DIR] [-out FILE] [-device auto|cpu|cuda] …
//
// Without a checkpoint it uses the example's own, whose classes are seven shapes.
// Without a folder it draws images of these shapes. One of them ends too early on
// purpose.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/internal/usage"
	"github.com/penstock-go/penstock/examples/train/net"
	"github.com/penstock-go/penstock/examples/train/shapes"
)

// own is a checkpoint made by go run ./examples/train.
//
//go:embed shapes.safetensors
var own []byte

// options are what the flags say.
type options struct {
	checkpoint string
	dir        string
	out        string
	workers    int
	batch      int
	all        bool
	device     string
	kernels    string
	poison     bool // set by tests: see loader.Poison
}

func main() {
	var o options
	flag.StringVar(&o.checkpoint, "checkpoint", "", "`file` that the example train has written; the example's own by default")
	usage.Folder(&o.dir, "dir", "`folder` of images, at any depth; drawn shapes by default")
	usage.Output(&o.out, "out", "infer.csv", "`file` for the table, as CSV")
	usage.Int(&o.workers, "workers", runtime.GOMAXPROCS(0), 0, "`goroutines` that assemble batches")
	usage.Int(&o.batch, "batch", 32, 1, "`images` per batch")
	flag.BoolVar(&o.all, "all", false, "write the probability of every class, a column each")
	usage.Choice(&o.device, "device", "auto", "where the net runs: auto, cpu, or cuda in a program built with that tag", "auto", "cpu", "cuda")
	flag.StringVar(&o.kernels, "kernels", "kernels", "folder of gorgonia's kernels for cuda, which gpu/cuda/kernels makes")
	usage.Parse("Infer classifies the images of a folder with a net from the example train, and writes a table.")

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt does not wait
	err := run(ctx, o)
	if ctx.Err() != nil {
		err = errors.New("interrupted before the table was complete")
	}
	if err != nil {
		usage.Fatal(err)
	}
}

func run(ctx context.Context, o options) error {
	model, err := open(o.checkpoint)
	if err != nil {
		return err
	}
	dir := o.dir
	if dir == "" {
		if dir, err = drawn(); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	photos, err := dataset.ImageFolder(os.DirFS(dir), dataset.NoClasses())
	if err != nil {
		return fmt.Errorf("-dir %s: %w", dir, err)
	}
	o.batch = min(o.batch, photos.Len())
	fmt.Printf("%d images; a net of %d weights for %d×%d pixels and %d classes\n",
		photos.Len(), model.Parameters(), model.Size, model.Size, len(model.Classes))

	f, err := os.Create(o.out)
	if err != nil {
		return err
	}
	defer f.Close()
	progress := mpb.New(mpb.WithOutput(os.Stderr)) // silent if that is not a terminal
	bar := progress.AddBar(int64(photos.Len()),
		mpb.PrependDecorators(decor.CountersNoUnit("%d / %d images")),
		mpb.AppendDecorators(decor.AverageSpeed(0, "%.0f images/s")))
	r, err := infer(ctx, model, photos, f, o, func(n int) { bar.SetCurrent(int64(n)) })
	bar.Abort(false) // the last images may be unreadable
	progress.Wait()
	if err != nil {
		return errors.Join(err, discard(f))
	}
	if err := f.Close(); err != nil {
		return err
	}
	r.print(os.Stdout)
	fmt.Println("table:", o.out)
	return nil
}

// discard removes a table that is not complete, unless its name is that of a link, such as /dev/stdout, of a
// pipe or of a terminal.
func discard(f *os.File) error {
	info, err := os.Lstat(f.Name())
	if err := errors.Join(err, f.Close()); err != nil || !info.Mode().IsRegular() {
		return err
	}
	return os.Remove(f.Name())
}

// open reads the checkpoint, or takes the example's own.
func open(checkpoint string) (*net.Model, error) {
	if checkpoint == "" {
		c, err := net.Parse("shapes.safetensors", own)
		if err != nil {
			return nil, err
		}
		return c.Model, nil
	}
	c, err := net.Read(checkpoint)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usage.Errorf("-checkpoint: %w; this makes one: go run ./examples/train -checkpoint %s", err, checkpoint)
	}
	if err != nil {
		return nil, err
	}
	return c.Model, nil
}

// drawn draws images with another seed than those for training. One of them is cut
// short.
func drawn() (dir string, err error) {
	dir, err = os.MkdirTemp("", "shapes-")
	if err != nil {
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
