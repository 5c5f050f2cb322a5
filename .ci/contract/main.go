// Command contract is the README's first program as its users build it: in a
// module of their own, with nothing but a require line for the library. It
// loads one epoch of pictures that it draws itself.
package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"log"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
	"gorgonia.org/tensor"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	photos, err := dataset.ImageFolder(pictures())
	if err != nil {
		return err
	}
	ds, err := transform.Images(photos,
		transform.Resize(256), transform.CenterCrop(224),
		transform.ToTensor(), transform.Normalize(transform.ImageNetMean, transform.ImageNetStd))
	if err != nil {
		return err
	}

	l, err := loader.New(ds, loader.Workers(12), loader.BatchSize(128))
	if err != nil {
		return err
	}
	defer l.Close()

	samples := 0
	for batch, err := range l.Epoch(ctx, 0) {
		if err != nil {
			return err
		}
		var x, y *tensor.Dense = batch.Tensor("image"), batch.Tensor("label")
		n := batch.Size()
		if got, want := x.Shape(), (tensor.Shape{n, 3, 224, 224}); !got.Eq(want) {
			return fmt.Errorf("images: got shape %v, want %v", got, want)
		}
		if got, want := y.Shape(), (tensor.Shape{n}); !got.Eq(want) {
			return fmt.Errorf("labels: got shape %v, want %v", got, want)
		}
		samples += n
	}
	if samples != 2*pictureCount {
		return fmt.Errorf("got %d samples, want %d", samples, 2*pictureCount)
	}
	return nil
}

const pictureCount = 70 // of each class: a whole batch of 128 and a short one

// pictures is a folder with two classes of plain pictures.
func pictures() fstest.MapFS {
	files := fstest.MapFS{}
	for class, c := range map[string]color.Gray{"bright": {Y: 240}, "dark": {Y: 20}} {
		for i := range pictureCount {
			m := image.NewGray(image.Rect(0, 0, 260+i, 300-i))
			for j := range m.Pix {
				m.Pix[j] = c.Y
			}
			var b bytes.Buffer
			if err := jpeg.Encode(&b, m, nil); err != nil {
				panic(err) // a gray picture of this size always encodes
			}
			files[fmt.Sprintf("%s/%02d.jpg", class, i)] = &fstest.MapFile{Data: b.Bytes()}
		}
	}
	return files
}
