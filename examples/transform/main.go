// Transform shows how to write your own transform. It darkens an image except for its
// edges, after the crop and the flip. It draws a batch in edges.png, in less than a second.
//
//	go run ./examples/transform
package main

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/images/photos"
	"github.com/penstock-go/penstock/examples/internal/sheet"
	"github.com/penstock-go/penstock/internal/usage"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
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
	usage.Parse("Transform shows how to write your own transform: it darkens an image except for its edges. The program draws a batch to edges.png.")
	if err := run(context.Background(), "edges.png"); err != nil {
		usage.Fatal(err)
	}
}

func run(ctx context.Context, path string) error {
	photos, err := dataset.ImageFolder(photos.Files)
	if err != nil {
		return err
	}
	ds, err := transform.Images(photos,
		transform.RandomResizedCrop(160), transform.RandomHorizontalFlip(0.5),
		transform.Apply(edges{}), // it runs where it is in the list
		transform.Layout(transform.HWC))
	if err != nil {
		return err
	}
	fmt.Println(ds)
	l, err := loader.New(ds, loader.BatchSize(8), loader.Shuffle(true), loader.OnError(loader.Skip, 1))
	if err != nil {
		return err
	}
	defer l.Close()
	for batch, err := range l.Epoch(ctx, 0) {
		if err != nil {
			return err
		}
		if err := draw(path, batch); err != nil {
			return err
		}
		fmt.Printf("%v\ndrawn side by side in %s\n", batch, path)
		break
	}
	return nil
}

// draw writes the images of a batch (n, height, width, 3) side by side.
func draw(path string, batch *loader.Batch) error {
	pixels, shape := loader.Values[uint8](batch, "image"), batch.Tensor("image").Shape()
	n, height, width := shape[0], shape[1], shape[2]
	strip := image.NewRGBA(image.Rect(0, 0, n*width, height))
	for i := range n * height * width {
		k, y, x := i/(height*width), i/width%height, i%width
		p := pixels[3*i:]
		strip.SetRGBA(k*width+x, y, color.RGBA{p[0], p[1], p[2], 255})
	}
	return sheet.Save(path, strip)
}
