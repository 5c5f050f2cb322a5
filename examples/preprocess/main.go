// Preprocess packs a folder of images into one file: resized tensors, or with -photos whole photos that decode faster
// than JPEG files (docs/packed-photos.md). Then it loads the file, and says how much faster that is.
//
//	go run ./examples/preprocess [-dir DIR] [-out FILE] [-size N] [-photos fast|small]
//
// Damaged images are left out and named. After an interrupt or a kill the same command continues where it stopped, and
// makes the same file. A file that is complete is only loaded: remove it to make it in another way.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

var (
	dir    = flag.String("dir", "examples/images/photos", "`folder` of images, with a folder per class")
	out    = flag.String("out", "images.packed", "`file` to make")
	size   = flag.Int("size", 224, "height and width of a tensor in `pixels`")
	photos = flag.String("photos", "", "fast or small: pack whole photos without loss, instead of tensors")
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%q is no flag: see -h", flag.Arg(0))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx)
	if ctx.Err() != nil {
		err = errors.New("interrupted; the same command continues")
	}
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	folder, err := dataset.ImageFolder(os.DirFS(*dir))
	if err != nil {
		return err
	}
	if _, err := os.Stat(*out); errors.Is(err, fs.ErrNotExist) {
		if err := pack(ctx, folder); err != nil {
			return err
		}
	}
	file, err := packed.Open(os.DirFS(filepath.Dir(*out)), filepath.Base(*out))
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d samples of %d classes, %v\n", *out, file.Len(), len(file.Classes()), file.Spec())
	steps := []transform.Item{transform.ToTensor(), transform.Normalize(transform.ImageNetMean, transform.ImageNetStd)}
	whole := []transform.Item{transform.Resize(*size * 8 / 7), transform.CenterCrop(*size), steps[0], steps[1]}
	if file.Spec()[0].Ragged { // files of photos
		steps = whole
	}
	for _, from := range []struct {
		name  string
		ds    dataset.Dataset
		steps []transform.Item
	}{{*dir, folder, whole}, {*out, file, steps}} {
		ds, err := transform.Images(from.ds, from.steps...)
		if err != nil {
			return err
		}
		l, err := loader.New(ds, loader.BatchSize(16), loader.Shuffle(true), loader.Skip(loader.NoLimit))
		if err != nil {
			return err
		}
		begun := time.Now()
		for _, err := range l.Epochs(ctx, 0, 3) {
			if err != nil {
				return errors.Join(err, l.Close())
			}
		}
		fmt.Printf("%8.0f images/s from %s\n", float64(l.Stats().Samples)/time.Since(begun).Seconds(), from.name)
		if err := l.Close(); err != nil {
			return err
		}
	}
	return nil
}

// pack makes the file, or what is missing of it.
func pack(ctx context.Context, folder *dataset.Folder) error {
	var ds dataset.Dataset
	var err error
	switch *photos {
	case "":
		ds, err = transform.Images(folder, transform.Resize(*size*8/7), transform.CenterCrop(*size), transform.PILToTensor())
	case "fast":
		ds, err = packed.Photos(folder, packed.Fast)
	case "small":
		ds, err = packed.Photos(folder, packed.Small)
	default:
		err = fmt.Errorf("-photos %s: want fast or small", *photos)
	}
	if err != nil {
		return err
	}
	l, err := loader.New(ds, loader.BatchSize(16), loader.Skip(loader.NoLimit))
	if err != nil {
		return err
	}
	defer l.Close()
	source := fmt.Sprintf("%s %d %s", *dir, *size, *photos) // another one is not continued
	w, err := packed.Create(ctx, *out, ds.Spec(), packed.Classes(folder.Classes()...), packed.Names(folder.Name), packed.Origin(source))
	if err != nil {
		return err
	}
	defer w.Close()
	progress := mpb.New(mpb.WithOutput(os.Stderr)) // silent if that is not a terminal
	bar := progress.AddBar(int64(ds.Len()), mpb.PrependDecorators(decor.CountersNoUnit("%d / %d images")))
	defer progress.Wait()
	defer bar.Abort(false)
	from := l.Position(0)
	from.Draw = w.Next() // what earlier runs have packed; without a sampler, draw i is sample i
	for batch, err := range l.From(ctx, from, 1) {
		if err != nil {
			return err
		}
		if err := w.AppendBatch(batch.Indices(), batch); err != nil {
			return err
		}
		bar.SetCurrent(int64(w.Next()))
	}
	for _, failure := range l.Stats().Failures {
		fmt.Println("left out:", failure)
	}
	return w.Finish()
}
