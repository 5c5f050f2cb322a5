// Preprocess turns a folder of images into one file of tensors, or of whole photos
// that decode faster, and shows how much faster that loads. With its own images it makes
// images.packed, in a second.
//
//	go run ./examples/preprocess [-dir DIR] [-out FILE] [-size N] [-dtype uint8|float32]
//	                             [-photos fast|small] [-workers N] [-skip]
//	go run ./examples/preprocess -verify -out FILE
//
// With -photos the JPEG files are packed without loss (docs/packed-photos.md), so
// that training can still crop and augment them; -size and -dtype are then only how
// they are loaded at the end.
//
// DIR has a folder per class. Without it, the images are the project's own; one
// of them is damaged on purpose, and left out. After an interrupt or a kill the
// same command continues where it stopped, and makes the same file. If the file
// exists and was made with the same options, it is only loaded.
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

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/images/photos"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/usage"
)

const batch = 32 // images

func main() {
	var dir, out, dtype, whole string
	var size, workers int
	usage.Folder(&dir, "dir", "`folder` of images, with a folder per class; the project's own by default")
	usage.NewFile(&out, "out", "images.packed", "`file` to make, in a folder that exists")
	usage.Int(&size, "size", 224, 1, "height and width of a tensor in pixels; the shorter side of an image is first resized to 8/7 of it")
	usage.Choice(&dtype, "dtype", "uint8", "uint8: pixels, which are normalised when they are loaded; float32: normalised values, four times as large", "uint8", "float32")
	usage.Choice(&whole, "photos", "", "fast or small: pack whole photos without loss, instead of tensors; fast decodes faster, small takes about as many bytes as JPEG files", "fast", "small")
	usage.Int(&workers, "workers", runtime.GOMAXPROCS(0), 0, "`goroutines` that decode or pack images")
	skip := flag.Bool("skip", false, "leave damaged images out, instead of stopping at the first; always on without -dir")
	check := flag.Bool("verify", false, "only read the file of -out and compare all checksums")
	usage.Parse("Preprocess turns a folder of images into one file of tensors, or of whole photos that decode faster, and shows how much faster that loads.")

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if *check {
		if _, err := os.Stat(out); err != nil {
			usage.Fatal(usage.Errorf("-out: %w", err))
		}
		err = verify(ctx, out, workers, batch)
	} else {
		j := job{files: os.DirFS(dir), out: out, size: size, dtype: dtype, photos: whole, workers: workers, batch: batch, skip: *skip}
		if dir == "" {
			j.files, j.skip = photos.Files, true
		}
		err = run(ctx, j)
	}
	if ctx.Err() != nil {
		err = errors.New("interrupted; the same command continues, because what is packed is saved")
	}
	if err != nil {
		usage.Fatal(err)
	}
}

// run makes the file unless it exists, and loads it.
func run(ctx context.Context, j job) error {
	photos, err := dataset.ImageFolder(j.files)
	if err != nil {
		return err
	}
	var rate float64
	switch _, err := os.Stat(j.out); {
	case err == nil:
		if err := j.same(photos); err != nil {
			return err
		}
		fmt.Printf("%s exists already\n", j.out)
	case errors.Is(err, fs.ErrNotExist):
		if rate, err = produce(ctx, j, photos); err != nil {
			return err
		}
	default:
		return err
	}
	first, second, err := load(ctx, j)
	if err != nil {
		return err
	}
	if rate > 0 {
		fmt.Printf("%8.0f images/s from the image files, while packing them\n", rate)
	}
	fmt.Printf("%8.0f images/s from %s, with every checksum compared\n%8.0f images/s in a second epoch\n", first, j.out, second)
	return nil
}

// produce makes the file with a progress bar, and returns images per second.
func produce(ctx context.Context, j job, photos *dataset.Folder) (float64, error) {
	progress := mpb.New(mpb.WithOutput(os.Stderr))
	bar := progress.AddBar(int64(photos.Len()),
		mpb.PrependDecorators(decor.Name("images "), decor.CountersNoUnit("%d / %d")),
		mpb.AppendDecorators(decor.AverageETA(decor.ET_STYLE_GO)))
	begun, from := time.Now(), -1
	result, err := j.pack(ctx, photos, func(next int) {
		if from < 0 {
			from = next
		}
		bar.SetCurrent(int64(next))
	})
	took := time.Since(begun)
	bar.Abort(false) // does nothing to a bar that is complete
	progress.Wait()
	if err != nil {
		if result.packed > 0 {
			err = fmt.Errorf("%w\nsaved: %s; the same command continues after that", err, figures.Count(result.packed, "image", "images"))
		}
		return 0, err
	}
	fmt.Printf("%s in %s", figures.Count(result.packed, "image", "images"), j.out)
	if from > 0 {
		fmt.Printf(", the first %d of the folder from an earlier run", from)
	}
	fmt.Println()
	for _, s := range result.skipped {
		fmt.Printf("left out: %s: %s\n", photos.Name(s.index), s.reason)
	}
	return float64(photos.Len()-max(from, 0)) / took.Seconds(), nil
}
