// Images loads a folder of images as batches for a model, and shows how fast that is
// and where the time goes. It draws the first batch in batch.png. With its own images it
// takes less than a second.
//
//	go run ./examples/images [-dir DIR] [-workers N|auto] [-batch N] [-epochs N] [-train] [-sheet FILE] [-trace FILE] [-live] [-http ADDRESS]
//
// With -workers auto the loader finds the number of workers itself, and says what it has
// chosen; that takes some seconds, so give it -epochs 200.
//
// DIR has a folder per class. Without it, the images are the project's own; one
// of them is damaged on purpose, to show that it is left out and named.
//
// With -sheet "" nothing is drawn. With -trace it writes a timeline, to be opened in https://ui.perfetto.dev, and lists
// the slowest images. With -live the terminal shows what every worker does, and with
// -http 127.0.0.1:8080 a page does. -epochs 20000 leaves time to look at them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/images/photos"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/usage"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/live"
	"github.com/penstock-go/penstock/loader/trace"
	"github.com/penstock-go/penstock/transform"
)

// options are what the flags say.
type options struct {
	dir             string
	workers         count
	batch, epochs   int
	train           bool
	sheet, timeline string
	terminal        bool
	address         string
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
	flag.BoolVar(&o.terminal, "live", false, "show in the terminal what the loader does, instead of the progress bar")
	flag.Func("http", "`address` of a page that shows what the loader does, such as 127.0.0.1:0; none by default", o.setAddress)
	usage.Parse("Images loads a folder of images as batches for a model, and shows how fast that is and where the time goes.")

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		usage.Fatal(err)
	}
}

func run(ctx context.Context, o options) (err error) {
	files := fs.FS(photos.Files)
	if o.dir != "" {
		files = os.DirFS(o.dir)
	}
	photos, err := dataset.ImageFolder(files)
	if err != nil {
		return err
	}
	preset := transform.Eval(224)
	if o.train {
		preset = transform.Train(224)
	}
	ds, err := transform.Images(photos, preset)
	if err != nil {
		return err
	}
	options := []loader.Option{
		loader.Workers(int(o.workers)), loader.BatchSize(o.batch),
		loader.Shuffle(true), loader.OnError(loader.Skip, loader.NoLimit),
	}
	if o.workers != loader.Auto {
		options = append(options, loader.InFlight(2*int(o.workers)+2)) // the usual ones, and room for the batch that the sheet keeps
	}
	slow := trace.Slowest(5)
	if o.timeline != "" {
		f, err := os.Create(o.timeline)
		if err != nil {
			return err
		}
		defer f.Close()
		options = append(options, loader.Observe(trace.File(f)), loader.Observe(slow.Trace()))
	}
	var view live.View
	if o.terminal || o.address != "" {
		options = append(options, loader.Observe(view.Trace("images")))
	}
	l, err := loader.New(ds, options...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }() // which ends the timeline
	stopPage, err := showPage(&view, o.address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopPage()) }()
	fmt.Printf("%s in %s\n%v\n\n", figures.Count(photos.Len(), "image", "images"), figures.Count(len(photos.Classes()), "class", "classes"), ds)

	bars, stopTerminal := io.Writer(os.Stderr), func() {}
	if o.terminal {
		bars, stopTerminal = io.Discard, view.Terminal(os.Stderr, 500*time.Millisecond)
	}
	defer stopTerminal()
	progress := mpb.New(mpb.WithOutput(bars))
	bar := progress.AddBar(int64(o.epochs*photos.Len()),
		mpb.PrependDecorators(decor.Name("images "), decor.CountersNoUnit("%d / %d")),
		mpb.AppendDecorators(decor.AverageSpeed(0, "%.0f images/s")))
	var first *loader.Batch
	begun := time.Now()
	for batch, err := range l.Epochs(ctx, 0, o.epochs) {
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return err
		}
		if first == nil {
			first = batch
			defer batch.Keep()() // its memory is not reused before it is drawn
		}
		bar.IncrBy(batch.Len())
	}
	took := time.Since(begun)
	s := l.Stats()
	bar.IncrInt64(s.Dropped)
	if ctx.Err() != nil {
		bar.Abort(false)
	}
	progress.Wait()
	stopTerminal() // or it would draw over what follows

	fmt.Printf("%.0f images/s with %s, first batch after %v\n\n%v",
		float64(s.Samples)/took.Seconds(), figures.Count(s.Workers, "worker", "workers"), s.Wait.First.Round(time.Microsecond), s)
	leftOut(os.Stdout, s, o.dir == "")
	if o.timeline != "" {
		fmt.Printf("\nthe timeline is in %s; the slowest images were\n\n%v\n", o.timeline, slow)
	}
	if ctx.Err() != nil {
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

// leftOut prints the first error of every image that could not be loaded, and in
// how many epochs it was left out. One of the project's own images is damaged.
func leftOut(w io.Writer, s loader.Stats, own bool) {
	atLeast := ""
	if s.Dropped > int64(len(s.Failures)) {
		atLeast = "at least " // Failures has only the first ones
	}
	times := map[int]int{}
	for _, failure := range s.Failures {
		times[failure.Index]++
	}
	for _, failure := range s.Failures {
		if n := times[failure.Index]; n > 0 {
			fmt.Fprintf(w, "left out %s%d×: %v\n", atLeast, n, failure)
			times[failure.Index] = 0
		}
	}
	if own && len(s.Failures) > 0 {
		fmt.Fprintln(w, "(tiles/truncated.jpg is damaged on purpose)")
	}
}
