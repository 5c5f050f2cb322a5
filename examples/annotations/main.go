// Annotations loads images with boxes and masks, which move with their image: zoomed, cropped, flipped and resized as
// torchvision's references train detectors. Images and boxes are of different sizes and numbers in a batch. It draws a
// batch in annotations.png.
//
//	go run ./examples/annotations [-sheet FILE]
//
// The scenes are painted by the program. Packages dataset/coco, dataset/voc and dataset/masks read data sets into
// fields of the same kinds.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"log"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
	"github.com/penstock-go/penstock/transform/sheet"
)

var classes = []string{"background", "bar", "disc"}

// scenes is a dataset of n painted images. A mask has a class number per pixel, and is a PNG file, too.
func scenes(n int) dataset.Dataset {
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Ragged: true, Kind: dataset.Image}, // a file of any size
		{Name: "mask", Dtype: dataset.Uint8, Ragged: true, Kind: dataset.Mask},
		{Name: "boxes", Dtype: dataset.Float32, Shape: dataset.Shape{4}, Ragged: true, Kind: dataset.BoxesXYXY},
		{Name: "label", Dtype: dataset.Int64, Ragged: true, Of: "boxes"},
	}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		photo, mask, boxes, labels := paint(rand.New(rand.NewPCG(uint64(i), 17)))
		for field, img := range []image.Image{photo, mask} {
			var file bytes.Buffer
			if err := png.Encode(&file, img); err != nil {
				return err
			}
			copy(dataset.Grow[uint8](dst, field, file.Len()), file.Bytes())
		}
		copy(dataset.Grow[float32](dst, 2, len(labels)), boxes)
		copy(dataset.Grow[int64](dst, 3, len(labels)), labels)
		return nil
	})
}

// paint paints one to four objects.
func paint(r *rand.Rand) (photo *image.RGBA, mask *image.Gray, boxes []float32, labels []int64) {
	size := image.Rect(0, 0, 200+r.IntN(160), 160+r.IntN(120))
	photo, mask = image.NewRGBA(size), image.NewGray(size)
	ink := func() color.RGBA {
		return color.RGBA{uint8(60 + r.IntN(190)), uint8(60 + r.IntN(190)), uint8(60 + r.IntN(190)), 255}
	}
	draw.Draw(photo, size, image.NewUniform(ink()), image.Point{}, draw.Src)
	for range 1 + r.IntN(4) {
		class, colour := 1+r.IntN(2), ink()
		w, h := 30+r.IntN(60), 20+r.IntN(60)
		corner := image.Pt(r.IntN(size.Dx()-w), r.IntN(size.Dy()-h))
		for y := range h {
			for x := range w {
				dx, dy := float64(2*x+1)/float64(w)-1, float64(2*y+1)/float64(h)-1
				if class == 1 || dx*dx+dy*dy < 1 {
					photo.SetRGBA(corner.X+x, corner.Y+y, colour)
					mask.SetGray(corner.X+x, corner.Y+y, color.Gray{uint8(class)})
				}
			}
		}
		boxes = append(boxes, float32(corner.X), float32(corner.Y), float32(corner.X+w), float32(corner.Y+h))
		labels = append(labels, int64(class))
	}
	return photo, mask, boxes, labels
}

func main() {
	log.SetFlags(0)
	file := flag.String("sheet", "annotations.png", "PNG `file`: where to draw the first batch")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%q is no flag: see -h", flag.Arg(0))
	}
	if err := run(*file); err != nil {
		log.Fatal(err)
	}
}

func run(file string) error {
	const side, ignored = 200, 255 // of the longest side; the class of pixels that are no part of the image
	ds, err := transform.Images(scenes(48),
		transform.Mask("mask", transform.Fill(ignored), transform.Dtype(dataset.Int64)),
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
		masks := loader.Values[int64](batch, "mask")     // (24, side, side), ignored beyond "size"
		boxes, labels := loader.Values[float32](batch, "boxes"), loader.Values[int64](batch, "label")
		offsets := batch.Offsets("label") // image k has the boxes offsets[k] to offsets[k+1]-1
		s := sheet.New(6, 4, side, side)
		for k := range batch.Len() {
			s.Image(k, images[k*3*side*side:], side, side)
			s.Mask(k, masks[k*side*side:][:side*side], side)
			for b := offsets[k]; b < offsets[k+1]; b++ {
				s.Box(k, boxes[4*b:4*b+4], int(labels[b]), classes[labels[b]])
			}
		}
		fmt.Printf("%d boxes; a batch is drawn in %s\n", len(labels), file)
		return s.Save(file)
	}
	return nil
}
