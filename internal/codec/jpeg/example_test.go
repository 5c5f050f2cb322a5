package jpeg_test

import (
	"archive/zip"
	"errors"
	"fmt"
	"image"
	"io"
	"log"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
)

// sample reads one of the synthetic files.
func sample(name string) []byte {
	archive, err := zip.OpenReader("testdata/images.zip")
	if err != nil {
		log.Fatal(err)
	}
	defer archive.Close()
	f, err := archive.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	data, err := io.ReadAll(f)
	if err != nil {
		log.Fatal(err)
	}
	return data
}

func ExampleDecoder() {
	d := jpeg.Decoder{MaxPixels: jpeg.DefaultMaxPixels}
	config, err := d.Header(sample("sample.jpg"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d×%d, %d components, %v, orientation %d\n",
		config.Width, config.Height, config.Components, config.Sampling[:config.Components], config.Orientation)

	window := image.Rect(8, 8, 10, 9)
	pixels := make([]byte, 4*window.Dx()*window.Dy())
	if err := d.Decode(pixels, 4*window.Dx(), window); err != nil {
		log.Fatal(err)
	}
	fmt.Println(pixels)
	// Output:
	// 37×29, 3 components, [{2 2} {1 1} {1 1}], orientation 0
	// [197 52 209 255 185 45 196 255]
}

func ExampleModel() {
	for _, name := range []string{"gray-baseline-1x1-q1.jpg", "sample.jpg", "rgb.jpg", "four-0.jpg", "four-6.jpg"} {
		var d jpeg.Decoder
		config, err := d.Header(sample(name))
		if err != nil {
			log.Fatal(err)
		}
		switch config.Model {
		case jpeg.Gray:
			fmt.Print("gray ")
		case jpeg.YCbCr:
			fmt.Print("YCbCr ")
		case jpeg.RGB:
			fmt.Print("RGB ")
		case jpeg.CMYK:
			fmt.Print("CMYK ")
		case jpeg.YCCK:
			fmt.Print("YCCK ")
		}
	}
	// Output: gray YCbCr RGB CMYK YCCK
}

func ExampleError() {
	data := sample("sample.jpg")
	var d jpeg.Decoder
	_, err := d.Header(data[:300])
	var where *jpeg.Error
	if errors.As(err, &where) {
		fmt.Println(where.Offset, errors.Is(err, io.ErrUnexpectedEOF))
	}
	fmt.Println(err)
	// Output:
	// 300 true
	// jpeg: at byte 300: segment: unexpected EOF
}

func ExampleDecoder_Decode_truncated() {
	data := sample("sample.jpg")
	d := jpeg.Decoder{AllowTruncated: true}
	config, err := d.Header(data[:len(data)-300])
	if err != nil {
		log.Fatal(err)
	}
	last := image.Rect(config.Width-1, config.Height-1, config.Width, config.Height)
	pixel := make([]byte, 4)
	if err := d.Decode(pixel, 4, last); err != nil {
		log.Fatal(err)
	}
	fmt.Println(pixel)
	// Output: [128 128 128 255]
}
