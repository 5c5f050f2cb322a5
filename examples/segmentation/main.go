// Segmentation loads images with a class number per pixel, augmented as torchvision's
// references train DeepLab. It draws a batch in segmentation.png, in less than a second.
//
//	go run ./examples/segmentation [-sheet FILE]
//
// The scenes are painted by the program. Packages dataset/masks and dataset/voc read
// images with masks in fields of the same names.
package main

import (
	"context"
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/internal/scenes"
	"github.com/penstock-go/penstock/examples/internal/sheet"
	"github.com/penstock-go/penstock/internal/usage"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

func main() {
	var file string
	usage.Output(&file, "sheet", "segmentation.png", "PNG `file`: where to draw the first batch", ".png")
	usage.Parse("Segmentation loads images with a class number per pixel, and draws a batch.")
	if err := run(file); err != nil {
		usage.Fatal(err)
	}
}

const size, ignored = 160, 255

func run(file string) error {
	painted, err := scenes.New(48)
	if err != nil {
		return err
	}
	used, err := dataset.Select(painted, "image", "mask")
	if err != nil {
		return err
	}
	ds, err := transform.Images(used,
		transform.Mask("mask", transform.Fill(ignored), transform.Dtype(dataset.Int64)),
		transform.RandomResize(96, 320),
		transform.RandomCrop(size, transform.PadIfNeeded()),
		transform.RandomHorizontalFlip(0.5),
		transform.ToTensor())
	if err != nil {
		return err
	}
	fmt.Println(ds)
	l, err := loader.New(ds, loader.BatchSize(24), loader.Shuffle(true), loader.Seed(1))
	if err != nil {
		return err
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			return err
		}
		images, masks := loader.Values[float32](batch, "image"), loader.Values[int64](batch, "mask") // (24, 3, size, size), (24, size, size)
		s := sheet.New(6, 4, size, size)
		for k := range batch.Len() {
			s.Image(k%6, k/6, images[k*3*size*size:], size, size)
			s.Mask(k%6, k/6, masks[k*size*size:][:size*size], size, scenes.Palette, ignored)
		}
		fmt.Println("a batch is drawn in", file)
		return s.Save(file)
	}
	return nil
}
