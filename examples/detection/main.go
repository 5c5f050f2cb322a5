// Detection loads images with boxes, augmented as torchvision's references train SSD. Images
// and boxes are of different sizes and numbers in a batch. It draws a batch in detection.png,
// in less than a second.
//
//	go run ./examples/detection [-sheet FILE]
//
// The scenes are painted by the program. Packages dataset/coco and dataset/voc read
// data sets with boxes and labels in fields of the same names.
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
	usage.Output(&file, "sheet", "detection.png", "PNG `file`: where to draw the first batch", ".png")
	usage.Parse("Detection loads images with boxes, and draws a batch.")
	if err := run(file); err != nil {
		usage.Fatal(err)
	}
}

const side = 200 // of the longest side

func run(file string) error {
	painted, err := scenes.New(48)
	if err != nil {
		return err
	}
	used, err := dataset.Select(painted, "image", "boxes", "label")
	if err != nil {
		return err
	}
	ds, err := transform.Images(used,
		transform.RandomZoomOut(0.3, transform.SideRange(1, 2), transform.Fill(124, 116, 104)),
		transform.RandomIoUCrop(),
		transform.RandomHorizontalFlip(0.5),
		transform.RandomShortestSize([]int{120, 140, 160}, transform.MaxSize(side)),
		transform.SanitizeBoundingBoxes(),
		transform.ToTensor(), transform.PadTo([2]int{side, side}), transform.Sizes("size"))
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
		images := loader.Values[float32](batch, "image") // (24, 3, side, side), 0 beyond "size"
		boxes, labels := loader.Values[float32](batch, "boxes"), loader.Values[int64](batch, "label")
		offsets := batch.Offsets("label") // image k has the boxes offsets[k] to offsets[k+1]-1
		s := sheet.New(6, 4, side, side)
		for k := range batch.Len() {
			s.Image(k%6, k/6, images[k*3*side*side:], side, side)
			for b := offsets[k]; b < offsets[k+1]; b++ {
				s.Box(k%6, k/6, boxes[4*b:4*b+4], scenes.Palette[labels[b]], scenes.Classes[labels[b]])
			}
		}
		fmt.Printf("%d boxes; a batch is drawn in %s\n", len(labels), file)
		return s.Save(file)
	}
	return nil
}
