package packed_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/transform"
)

// A folder of JPEG files is packed once. The tensors are those of the files.
func ExamplePhotos() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	files, err := dataset.ImageFolder(os.DirFS("../../examples/images/photos"))
	if err != nil {
		log.Fatal(err)
	}
	photos, err := packed.Photos(files, packed.Fast)
	if err != nil {
		log.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "train.packed"))
	if err != nil {
		log.Fatal(err)
	}
	if err := packed.Write(ctx, f, photos, packed.Classes(files.Classes()...), packed.Names(files.Name)); err != nil {
		log.Fatal(err)
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}

	train, err := packed.Open(os.DirFS(dir), "train.packed")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(train.Len(), train.Classes(), train.Name(3))
	pixels := func(ds dataset.Dataset) []uint8 {
		x, err := transform.Images(ds, transform.Resize(64), transform.CenterCrop(56), transform.PILToTensor())
		if err != nil {
			log.Fatal(err)
		}
		s, err := dataset.At(ctx, x, 3)
		if err != nil {
			log.Fatal(err)
		}
		return dataset.ValuesOf[uint8](s["image"])
	}
	fmt.Println("same pixels:", bytes.Equal(pixels(train), pixels(files)))
	// Output:
	// 30 [hills spheres stripes tiles] hills/4.jpg
	// same pixels: true
}
