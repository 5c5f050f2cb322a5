// Mixup mixes the images of every batch, and their labels, with MixUp or CutMix. It draws the
// first six batches in mixup.png, in less than a second.
//
//	go run ./examples/mixup [-dir DIR] [-sheet FILE]
//
// DIR has a folder per class. Without it, the images are the project's own.
package main

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"io/fs"
	"os"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/images/photos"
	sheets "github.com/penstock-go/penstock/examples/internal/sheet"
	"github.com/penstock-go/penstock/internal/usage"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

const size, perBatch, batches = 128, 6, 6

func main() {
	var dir, file string
	usage.Folder(&dir, "dir", "`folder` of images, with a folder per class; the project's own by default")
	usage.Output(&file, "sheet", "mixup.png", "PNG `file`: where to draw the first batches", ".png")
	usage.Parse("Mixup mixes the images of every batch, and their labels, with MixUp or CutMix, and draws the first batches.")
	if err := run(dir, file); err != nil {
		usage.Fatal(err)
	}
}

func run(dir, file string) error {
	files := fs.FS(photos.Files)
	if dir != "" {
		files = os.DirFS(dir)
	}
	folder, err := dataset.ImageFolder(files)
	if err != nil {
		return err
	}
	ds, err := transform.Images(folder, transform.RandomResizedCrop(size), transform.RandomHorizontalFlip(0.5), transform.ToTensor())
	if err != nil {
		return err
	}
	classes := folder.Classes()
	l, err := loader.New(ds, loader.BatchSize(perBatch), loader.Shuffle(true), loader.DropLast(true), loader.OnError(loader.Skip, loader.NoLimit),
		loader.Collate(dataset.BatchChoice(transform.MixUp(1, len(classes)), transform.CutMix(1, len(classes)))))
	if err != nil {
		return err
	}
	defer l.Close()

	const gap, caption = 8, 34
	sheet := image.NewRGBA(image.Rect(0, 0, gap+perBatch*(size+gap), gap+batches*(size+gap+caption)))
	draw.Draw(sheet, sheet.Bounds(), image.NewUniform(color.Gray{24}), image.Point{}, draw.Src)
	line := 0
	for batch, err := range l.Epochs(context.Background(), 0, batches) {
		if err != nil {
			return err
		}
		images := loader.Values[float32](batch, "image") // (perBatch, 3, size, size)
		shares := loader.Values[float32](batch, "label") // (perBatch, classes)
		for row := range batch.Len() {
			at := image.Pt(gap+row*(size+gap), gap+line*(size+gap+caption))
			paint(sheet, at, images[row*3*size*size:(row+1)*3*size*size])
			below := 0
			for class, share := range shares[row*len(classes) : (row+1)*len(classes)] {
				if share > 0.005 {
					below += 14
					text := font.Drawer{Dst: sheet, Src: image.White, Face: basicfont.Face7x13, Dot: fixed.P(at.X+2, at.Y+size+below)}
					text.DrawString(fmt.Sprintf("%.2f %s", share, classes[class]))
				}
			}
		}
		if line++; line == batches {
			break
		}
	}
	if err := sheets.Save(file, sheet); err != nil {
		return err
	}
	fmt.Printf("%d mixed batches are drawn in %s\n", line, file)
	return nil
}

// paint draws planes (3, size, size) with values from 0 to 1.
func paint(to *image.RGBA, at image.Point, planes []float32) {
	for i := range size * size {
		level := func(c int) uint8 { return uint8(planes[c*size*size+i]*255 + 0.5) }
		to.SetRGBA(at.X+i%size, at.Y+i/size, color.RGBA{level(0), level(1), level(2), 255})
	}
}
