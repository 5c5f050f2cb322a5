// Simclr loads two views of every image, as contrastive learning needs them. It draws a batch
// in simclr.png, in less than a second: an image per column, its views one below the other.
//
//	go run ./examples/simclr [-dir DIR] [-sheet FILE]
//
// DIR has a folder per class. Without it, the images are the project's own.
package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/images/photos"
	"github.com/penstock-go/penstock/examples/internal/sheet"
	"github.com/penstock-go/penstock/internal/usage"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

func main() {
	var dir, file string
	usage.Folder(&dir, "dir", "`folder` of images, with a folder per class; the project's own by default")
	usage.Output(&file, "sheet", "simclr.png", "PNG `file`: where to draw the first batch", ".png")
	usage.Parse("Simclr loads two views of every image, and draws a batch.")
	if err := run(dir, file); err != nil {
		usage.Fatal(err)
	}
}

const size = 112

func run(dir, file string) error {
	files := fs.FS(photos.Files)
	if dir != "" {
		files = os.DirFS(dir)
	}
	folder, err := dataset.ImageFolder(files)
	if err != nil {
		return err
	}
	ds, err := transform.Images(folder, transform.Views(2,
		transform.RandomResizedCrop(size),
		transform.RandomHorizontalFlip(0.5),
		transform.RandomApply(0.8, transform.ColorJitter(0.8, 0.8, 0.8, 0.2)),
		transform.RandomGrayscale(0.2),
		transform.RandomApply(0.5, transform.GaussianBlur(11)),
		transform.ToTensor()))
	if err != nil {
		return err
	}
	fmt.Println(ds)
	l, err := loader.New(ds, loader.BatchSize(10), loader.Shuffle(true), loader.OnError(loader.Skip, loader.NoLimit))
	if err != nil {
		return err
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			return err
		}
		images := loader.Values[float32](batch, "image") // (10, 2, 3, size, size)
		s := sheet.New(batch.Len(), 2, size, size)
		for k := range 2 * batch.Len() {
			s.Image(k/2, k%2, images[k*3*size*size:], size, size)
		}
		fmt.Println("a batch is drawn in", file)
		return s.Save(file)
	}
	return nil
}
