// Mixup mixes the images of every batch, and their labels, with MixUp or CutMix. It draws the first batches in
// mixup.png, with the shares of the classes.
//
//	go run ./examples/mixup [-dir DIR] [-sheet FILE]
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
	"github.com/penstock-go/penstock/transform/sheet"
)

const size, perBatch, batches = 200, 6, 4

func main() {
	log.SetFlags(0)
	dir := flag.String("dir", "examples/images/photos", "`folder` of images, with a folder per class")
	file := flag.String("sheet", "mixup.png", "PNG `file`: where to draw the first batches")
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
	ds, err := transform.Images(photos, transform.RandomResizedCrop(size), transform.RandomHorizontalFlip(0.5), transform.ToTensor())
	if err != nil {
		return err
	}
	classes := photos.Classes()
	l, err := loader.New(ds, loader.BatchSize(perBatch), loader.Shuffle(true), loader.DropLast(true), loader.Skip(loader.NoLimit),
		loader.Collate(dataset.BatchChoice(transform.MixUp(1, len(classes)), transform.CutMix(1, len(classes)))))
	if err != nil {
		return err
	}
	defer l.Close()

	s, cell := sheet.New(perBatch, batches, size, size), 0
	for batch, err := range l.Epochs(context.Background(), 0, batches) {
		if err != nil {
			return err
		}
		images := loader.Values[float32](batch, "image")           // (perBatch, 3, size, size)
		shares := loader.Values[float32](batch, "label")           // (perBatch, classes)
		for row := range min(batch.Len(), perBatch*batches-cell) { // a batch whose damaged images are left out is shorter
			var text []string
			for class, share := range shares[row*len(classes):][:len(classes)] {
				if share > 0.005 {
					text = append(text, fmt.Sprintf("%.2f %s", share, classes[class]))
				}
			}
			s.Image(cell, images[row*3*size*size:], size, size)
			s.Caption(cell, strings.Join(text, ", "))
			cell++
		}
		if cell == perBatch*batches {
			break
		}
	}
	fmt.Printf("%d mixed images are drawn in %s\n", cell, file)
	return s.Save(file)
}
