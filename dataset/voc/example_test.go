package voc_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"log"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/voc"
	"github.com/penstock-go/penstock/transform"
)

// photo is a black PNG file. JPEGImages may hold files of any format.
func photo(w, h int) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		log.Fatal(err)
	}
	return b.Bytes()
}

// VOC counts pixels from 1, and Detection gives the edges of pixels, from 0. So this dog
// reaches the right edge of the mirrored image.
func ExampleDetection() {
	fsys := fstest.MapFS{ // usually os.DirFS("VOCdevkit/VOC2012")
		"ImageSets/Main/train.txt": {Data: []byte("7\n")},
		"JPEGImages/7.jpg":         {Data: photo(40, 30)},
		"Annotations/7.xml": {Data: []byte(`<annotation>
			<object><name>dog</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>39</xmax><ymax>30</ymax></bndbox></object>
			<object><name>cat</name><bndbox><xmin>11</xmin><ymin>6</ymin><xmax>20</xmax><ymax>15</ymax></bndbox></object>
		</annotation>`)},
	}
	photos, err := voc.Detection(fsys, "train")
	if err != nil {
		log.Fatal(err)
	}
	ds, err := transform.Images(photos,
		transform.RandomHorizontalFlip(1), transform.Resize([2]int{60, 80}), transform.ToTensor())
	if err != nil {
		log.Fatal(err)
	}
	sample, err := dataset.At(context.Background(), ds, 0)
	if err != nil {
		log.Fatal(err)
	}
	boxes := dataset.ValuesOf[float32](sample["boxes"])
	for k, label := range dataset.ValuesOf[int64](sample["label"]) {
		fmt.Println(photos.Classes()[label], boxes[4*k:4*k+4])
	}
	// Output:
	// dog [2 0 80 60]
	// cat [40 10 60 30]
}

// The border of objects, which VOC's masks mark by 255, stays 255.
func ExampleSegmentation() {
	mask := image.NewPaletted(image.Rect(0, 0, 4, 2), palette)
	copy(mask.Pix, []uint8{0, 0, 255, 12, 0, 0, 255, 12})
	var file bytes.Buffer
	if err := png.Encode(&file, mask); err != nil {
		log.Fatal(err)
	}
	fsys := fstest.MapFS{
		"ImageSets/Segmentation/train.txt": {Data: []byte("7\n")},
		"JPEGImages/7.jpg":                 {Data: photo(4, 2)},
		"SegmentationClass/7.png":          {Data: file.Bytes()},
	}
	photos, err := voc.Segmentation(fsys, "train")
	if err != nil {
		log.Fatal(err)
	}
	ds, err := transform.Images(photos, transform.Mask("mask", transform.Fill(255)),
		transform.Pad([4]int{0, 0, 0, 1}), transform.RandomHorizontalFlip(1), transform.CenterCrop([2]int{3, 4}), transform.ToTensor())
	if err != nil {
		log.Fatal(err)
	}
	sample, err := dataset.At(context.Background(), ds, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sample["mask"].Data())
	// Output: [12 255 0 0 12 255 0 0 255 255 255 255]
}

// A data set in VOC's format with classes of its own, and boxes that begin at 0.
func ExampleClasses() {
	fsys := fstest.MapFS{
		"ImageSets/Main/train.txt": {Data: []byte("7\n")},
		"JPEGImages/7.jpg":         {Data: photo(40, 30)},
		"Annotations/7.xml": {Data: []byte(`<annotation>
			<object><name>helmet</name><difficult>0</difficult><bndbox><xmin>0</xmin><ymin>0</ymin><xmax>20</xmax><ymax>10</ymax></bndbox></object>
			<object><name>head</name><difficult>1</difficult><bndbox><xmin>30</xmin><ymin>5</ymin><xmax>34</xmax><ymax>9</ymax></bndbox></object>
		</annotation>`)},
	}
	ds, err := voc.Detection(fsys, "train", voc.Classes("head", "helmet"), voc.AsInFile(), voc.WithoutDifficult())
	if err != nil {
		log.Fatal(err)
	}
	sample, err := dataset.At(context.Background(), ds, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sample["label"].Data(), sample["boxes"].Data())
	// Output: [1] [0 0 20 10]
}
