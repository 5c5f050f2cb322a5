package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/images/photos"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// open finds the images of a folder, or the project's own, and prepares them for a model:
// float32 (3, 224, 224).
func open(dir string, train bool) (*dataset.Folder, *transform.Pipeline, error) {
	files := fs.FS(photos.Files)
	if dir != "" {
		files = os.DirFS(dir)
	}
	photos, err := dataset.ImageFolder(files)
	if err != nil {
		return nil, nil, err
	}
	preset := transform.Eval(224)
	if train {
		preset = transform.Train(224)
	}
	ds, err := transform.Images(photos, preset)
	return photos, ds, err
}

// loading are the loader's options.
func (o options) loading() []loader.Option {
	options := []loader.Option{
		loader.Workers(int(o.workers)), loader.BatchSize(o.batch),
		loader.Shuffle(true), loader.OnError(loader.Skip, loader.NoLimit),
	}
	if o.workers != loader.Auto {
		options = append(options, loader.InFlight(2*int(o.workers)+2)) // the usual ones, and room for the batch that the sheet keeps
	}
	return options
}

// load loads all images in every epoch, and shows its progress. It keeps the first batch until
// release is called. If ctx ends, so does load, without an error.
func load(ctx context.Context, l *loader.Loader, epochs, images int) (first *loader.Batch, release func(), took time.Duration, err error) {
	progress := mpb.New(mpb.WithOutput(os.Stderr))
	bar := progress.AddBar(int64(epochs*images),
		mpb.PrependDecorators(decor.Name("images "), decor.CountersNoUnit("%d / %d")),
		mpb.AppendDecorators(decor.AverageSpeed(0, "%.0f images/s")))
	defer progress.Wait()
	defer bar.Abort(false) // does nothing to a bar that is complete
	release = func() {}
	begun := time.Now()
	for batch, err := range l.Epochs(ctx, 0, epochs) {
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return nil, release, 0, err
		}
		if first == nil {
			first, release = batch, batch.Keep() // its memory is not reused before it is drawn
		}
		bar.IncrBy(batch.Len())
	}
	took = time.Since(begun)
	bar.IncrInt64(l.Stats().Dropped)
	return first, release, took, nil
}

// report prints how fast it was, where the time went, and what was left out.
func report(w io.Writer, s loader.Stats, took time.Duration, own bool) {
	fmt.Fprintf(w, "%.0f images/s with %s, first batch after %v\n\n%v",
		float64(s.Samples)/took.Seconds(), figures.Count(s.Workers, "worker", "workers"), s.Wait.First.Round(time.Microsecond), s)
	leftOut(w, s, own)
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
