package transform_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"log"
	"slices"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

func ExampleMaxPixels() {
	prepare, err := transform.Compile(transform.MaxPixels(1000), transform.Eval(8))
	if err != nil {
		log.Fatal(err)
	}
	input := make([]float32, prepare.Spec()[0].Elements())
	fmt.Println(prepare.Into(input, transform.File(photo())))
	// Output: transform: decode: JPEG: 64×64 pixels (height×width), more than the limit of 1000 (see MaxPixels)
}

// A photo whose left half is black and whose right half is white. Its Exif data say that it
// was taken with the camera turned: the left side of the file is the top.
func ExampleExifTranspose() {
	m := image.NewGray(image.Rect(0, 0, 16, 8))
	for i := range m.Pix {
		if i%16 >= 8 {
			m.Pix[i] = 255
		}
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, m, nil); err != nil {
		log.Fatal(err)
	}
	const orientation6 = "\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00"
	photo := slices.Insert(file.Bytes(), 2, []byte(orientation6)...) // after the JPEG file's first marker

	small := transform.Compose(transform.Resize([2]int{2, 2}, transform.Interpolation(transform.Box)), transform.Grayscale(1), transform.PILToTensor())
	for _, list := range [][]transform.Item{{small}, {transform.ExifTranspose(), small}} {
		prepare, err := transform.Compile(list...)
		if err != nil {
			log.Fatal(err)
		}
		rows := make([]uint8, 4)
		if err := prepare.IntoBytes(rows, transform.File(photo)); err != nil {
			log.Fatal(err)
		}
		fmt.Println(rows[:2], rows[2:])
	}
	// Output:
	// [0 255] [0 255]
	// [0 0] [255 255]
}

func ExampleAllowTruncated() {
	file := photo()
	place := func(steps ...transform.Item) error {
		files, err := dataset.ImageFolder(fstest.MapFS{"cat/1.jpg": {Data: file[:len(file)/2]}})
		if err != nil {
			return err
		}
		ds, err := transform.Images(files, append(steps, transform.Eval(8))...)
		if err != nil {
			return err
		}
		_, err = dataset.At(context.Background(), ds, 0)
		return err
	}
	fmt.Println(errors.Is(place(), io.ErrUnexpectedEOF))
	fmt.Println(place(transform.AllowTruncated()))
	// Output:
	// true
	// <nil>
}

// photo is a JPEG file of 64×64 grey pixels with much detail.
func photo() []byte {
	m := image.NewGray(image.Rect(0, 0, 64, 64))
	for i := range m.Pix {
		m.Pix[i] = uint8(i * i >> 3)
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, m, nil); err != nil {
		log.Fatal(err)
	}
	return file.Bytes()
}
