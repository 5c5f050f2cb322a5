// Views loads two large and six small views of every image, as SwAV and DINO do. Every image is decoded once. It
// draws a batch in views.png, an image per row. SimCLR's two views are one transform.Views(2, …).
//
//	go run ./examples/views [-dir DIR] [-sheet FILE]
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
	"github.com/penstock-go/penstock/transform/sheet"
)

const global, local = 128, 56 // pixels of a side

func main() {
	log.SetFlags(0)
	dir := flag.String("dir", "examples/images/photos", "`folder` of images, with a folder per class")
	file := flag.String("sheet", "views.png", "PNG `file`: where to draw the first batch")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%q is no flag: see -h", flag.Arg(0))
	}
	if err := run(*dir, *file); err != nil {
		log.Fatal(err)
	}
}

func run(dir, file string) error {
	photos, err := dataset.ImageFolder(os.DirFS(dir))
	if err != nil {
		return fmt.Errorf("-dir %s: %w", dir, err)
	}
	colours := transform.Compose(
		transform.RandomHorizontalFlip(0.5),
		transform.RandomApply(0.8, transform.ColorJitter(0.4, 0.4, 0.2, 0.1)),
		transform.RandomGrayscale(0.2),
		transform.RandomApply(0.5, transform.GaussianBlur(11)),
		transform.ToTensor())
	ds, err := transform.Images(photos,
		transform.Views(2, transform.RandomResizedCrop(global, transform.Scale(0.4, 1)), colours, transform.As("global")),
		transform.Views(6, transform.RandomResizedCrop(local, transform.Scale(0.05, 0.4)), colours, transform.As("local")))
	if err != nil {
		return err
	}
	fmt.Println(ds) // what is decoded, and how the views are made of it
	l, err := loader.New(ds, loader.BatchSize(5), loader.Shuffle(true), loader.Skip(loader.NoLimit))
	if err != nil {
		return err
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			return err
		}
		large := loader.Values[float32](batch, "global") // (5, 2, 3, 128, 128)
		small := loader.Values[float32](batch, "local")  // (5, 6, 3, 56, 56)
		s := sheet.New(8, batch.Len(), global, global)
		for row := range batch.Len() {
			for k := range 2 {
				s.Image(8*row+k, large[(2*row+k)*3*global*global:], global, global)
			}
			for k := range 6 {
				s.Image(8*row+2+k, small[(6*row+k)*3*local*local:], local, local)
			}
		}
		fmt.Println("a batch is drawn in", file)
		return s.Save(file)
	}
	return nil
}
