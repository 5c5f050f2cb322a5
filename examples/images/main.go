// Images loads a folder of images as batches for a model, and shows how fast that is and where the time goes. It
// draws the first batch in batch.png. With the project's own images it takes less than a second.
//
//	go run ./examples/images [-dir DIR] [-workers N] [-auto] [-batch N] [-epochs N] [-train] [-sheet FILE] [-trace FILE]
//
// DIR has a folder per class. One of the project's own images is damaged on purpose, to show that it is left out and
// named. With -auto the loader finds the number of workers itself, which takes some seconds: give it -epochs 200.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"runtime"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/trace"
	"github.com/penstock-go/penstock/transform"
	"github.com/penstock-go/penstock/transform/sheet"
)

var (
	dir      = flag.String("dir", "examples/images/photos", "`folder` of images, with a folder per class")
	workers  = flag.Int("workers", runtime.GOMAXPROCS(0), "`goroutines` that assemble batches")
	auto     = flag.Bool("auto", false, "let the loader find the number of workers")
	size     = flag.Int("batch", 16, "`images` per batch")
	epochs   = flag.Int("epochs", 3, "how many `times` to load all images")
	train    = flag.Bool("train", false, "the training preset: random crops and flips")
	drawing  = flag.String("sheet", "batch.png", "PNG `file` for a drawing of the first batch; none if empty")
	timeline = flag.String("trace", "", "`file` for a timeline, to be opened in https://ui.perfetto.dev; none if empty")
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%q is no flag: see -h", flag.Arg(0))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	photos, err := dataset.ImageFolder(os.DirFS(*dir))
	if err != nil {
		return fmt.Errorf("-dir %s: %w", *dir, err)
	}
	preset := transform.Eval(224)
	if *train {
		preset = transform.Train(224)
	}
	ds, err := transform.Images(photos, preset)
	if err != nil {
		return err
	}
	options := []loader.Option{loader.Workers(*workers), loader.BatchSize(*size), loader.Shuffle(true), loader.Skip(loader.NoLimit)}
	if *auto {
		options[0] = loader.Workers(loader.Auto)
	}
	slow := trace.Slowest(5)
	if *timeline != "" {
		f, err := os.Create(*timeline)
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
	fmt.Printf("%d images in %d classes\n%v\n\n", photos.Len(), len(photos.Classes()), ds)

	progress := mpb.New(mpb.WithOutput(os.Stderr)) // silent if that is not a terminal
	bar := progress.AddBar(int64(*epochs*photos.Len()),
		mpb.PrependDecorators(decor.Name("images "), decor.CountersNoUnit("%d / %d")),
		mpb.AppendDecorators(decor.AverageSpeed(0, "%.0f images/s")))
	var first *loader.Batch
	begun := time.Now()
	for batch, failed := range l.Epochs(ctx, 0, *epochs) {
		if failed != nil {
			err = failed
			break
		}
		if first == nil {
			first = batch.Copy() // the memory of batch is used again
		}
		bar.IncrBy(batch.Len())
	}
	took, s := time.Since(begun), l.Stats()
	bar.Abort(false) // images that are left out are missing
	progress.Wait()
	if err != nil && ctx.Err() == nil {
		return err
	}

	fmt.Printf("%.0f images/s with %d workers, first batch after %v\n\n%v",
		float64(s.Samples)/took.Seconds(), s.Workers, s.FirstWait.Round(time.Microsecond), s)
	named := map[int]bool{}
	for _, failure := range s.Failures {
		if !named[failure.Index] {
			fmt.Println("left out:", failure)
		}
		named[failure.Index] = true
	}
	if *timeline != "" {
		fmt.Printf("\nthe timeline is in %s; the slowest images were\n\n%v\n", *timeline, slow)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted after %d of %d images", s.Samples+s.Dropped, *epochs*photos.Len())
	}
	if *drawing == "" || first == nil {
		return nil
	}
	fmt.Println("the first batch is drawn in", *drawing)
	return draw(*drawing, first, photos.Classes())
}

// draw draws the images of a batch with their classes.
func draw(path string, batch *loader.Batch, classes []string) error {
	const size, columns = 224, 4
	images, labels := loader.Values[float32](batch, "image"), loader.Values[int64](batch, "label") // (n, 3, 224, 224), (n)
	s := sheet.New(columns, (batch.Len()+columns-1)/columns, size, size)
	s.Mean, s.Std = transform.ImageNetMean, transform.ImageNetStd
	for k, label := range labels {
		s.Image(k, images[k*3*size*size:], size, size)
		s.Caption(k, classes[label])
	}
	return s.Save(path)
}
