// Multicrop loads two large and six small views of every image, as SwAV and DINO do. Every
// image is decoded once. It draws a batch in multicrop.png, in less than a second: an image
// per row.
//
//	go run ./examples/multicrop [-dir DIR] [-sheet FILE]
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
	usage.Output(&file, "sheet", "multicrop.png", "PNG `file`: where to draw the first batch", ".png")
	usage.Parse("Multicrop loads two large and six small views of every image, and draws a batch.")
	if err := run(dir, file); err != nil {
		usage.Fatal(err)
	}
}

const global, local = 128, 56

func run(dir, file string) error {
	files := fs.FS(photos.Files)
	if dir != "" {
		files = os.DirFS(dir)
	}
	folder, err := dataset.ImageFolder(files)
	if err != nil {
		return err
	}
	colours := transform.Compose(
		transform.RandomHorizontalFlip(0.5),
		transform.RandomApply(0.8, transform.ColorJitter(0.4, 0.4, 0.2, 0.1)),
		transform.RandomGrayscale(0.2),
		transform.ToTensor())
	ds, err := transform.Images(folder,
		transform.Views(2, transform.RandomResizedCrop(global, transform.Scale(0.4, 1)), colours, transform.As("global")),
		transform.Views(6, transform.RandomResizedCrop(local, transform.Scale(0.05, 0.4)), colours, transform.As("local")))
	if err != nil {
		return err
	}
	fmt.Println(ds)
	l, err := loader.New(ds, loader.BatchSize(5), loader.Shuffle(true), loader.OnError(loader.Skip, loader.NoLimit))
	if err != nil {
		return err
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			return err
		}
		large, small := loader.Values[float32](batch, "global"), loader.Values[float32](batch, "local") // (5, 2, 3, 128, 128), (5, 6, 3, 56, 56)
		s := sheet.New(8, batch.Len(), global, global)
		for k := range 2 * batch.Len() {
			s.Image(k%2, k/2, large[k*3*global*global:], global, global)
		}
		for k := range 6 * batch.Len() {
			s.Image(2+k%6, k/6, small[k*3*local*local:], local, local)
		}
		fmt.Println("a batch is drawn in", file)
		return s.Save(file)
	}
	return nil
}
