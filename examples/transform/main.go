// Transform shows how to write your own transform. It darkens an image except for its
// edges, after the crop and the flip. It draws a batch in edges.png, in less than a second.
//
//	go run ./examples/transform [-dir DIR] [-sheet FILE]
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
	"github.com/penstock-go/penstock/transform/sheet"
)

// edges is a transform: it darkens smooth places and keeps edges, with a random
// brightness.
type edges struct{}

// Apply edits one image. All workers share the transform, so what it needs
// per image comes with img and r.
func (edges) Apply(img *transform.Image, r *rand.Rand) error {
	strength := 2 + 4*r.Float64()
	for y := range img.Height {
		for x := range img.Width {
			at := 4 * (y*img.Width + x)
			right := 4 * (y*img.Width + min(x+1, img.Width-1))
			below := 4 * (min(y+1, img.Height-1)*img.Width + x)
			for c := range 3 {
				edge := distance(img.Pix[at+c], img.Pix[right+c]) + distance(img.Pix[at+c], img.Pix[below+c])
				img.Pix[at+c] = uint8(min(strength*edge, 255))
			}
		}
	}
	return nil
}

func distance(a, b uint8) float64 { return math.Abs(float64(a) - float64(b)) }

func main() {
	log.SetFlags(0)
	dir := flag.String("dir", "examples/images/photos", "`folder` of images, with a folder per class")
	file := flag.String("sheet", "edges.png", "PNG `file`: where to draw the first batch")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%q is no flag: see -h", flag.Arg(0))
	}
	if err := run(*dir, *file); err != nil {
		log.Fatal(err)
	}
}

func run(dir, file string) error {
	const size = 160
	photos, err := dataset.ImageFolder(os.DirFS(dir))
	if err != nil {
		return fmt.Errorf("-dir %s: %w", dir, err)
	}
	ds, err := transform.Images(photos,
		transform.RandomResizedCrop(size), transform.RandomHorizontalFlip(0.5),
		transform.Apply(edges{}), // it runs where it is in the list
		transform.ToTensor())
	if err != nil {
		return err
	}
	fmt.Println(ds)
	l, err := loader.New(ds, loader.BatchSize(8), loader.Shuffle(true), loader.Skip(1))
	if err != nil {
		return err
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			return err
		}
		images := loader.Values[float32](batch, "image") // (8, 3, size, size)
		s := sheet.New(4, 2, size, size)
		for k := range batch.Len() {
			s.Image(k, images[k*3*size*size:], size, size)
		}
		fmt.Printf("%v\ndrawn in %s\n", batch, file)
		return s.Save(file)
	}
	return nil
}
