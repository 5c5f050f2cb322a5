package masks_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"log"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/masks"
	"github.com/penstock-go/penstock/transform"
)

func coded(m image.Image) *fstest.MapFile {
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		log.Fatal(err)
	}
	return &fstest.MapFile{Data: b.Bytes()}
}

// Cityscapes names images and masks by suffixes. A resize takes class numbers of the nearest
// pixels, and padding is a class that the loss ignores.
func ExampleOpen() {
	mask := image.NewGray(image.Rect(0, 0, 4, 2))
	copy(mask.Pix, []uint8{7, 7, 26, 26, 7, 7, 26, 26})
	images := fstest.MapFS{"aachen/000_leftImg8bit.png": coded(image.NewRGBA(mask.Rect))} // usually os.DirFS("leftImg8bit/train")
	numbers := fstest.MapFS{"aachen/000_gtFine_labelIds.png": coded(mask), "aachen/000_gtFine_color.png": {}}
	ds, err := masks.Open(images, numbers, masks.Suffixes("_leftImg8bit", "_gtFine_labelIds"))
	if err != nil {
		log.Fatal(err)
	}
	both, err := transform.Images(ds, transform.Mask("mask", transform.Fill(255)), transform.Resize([2]int{1, 2}), transform.Pad([2]int{1, 0}), transform.ToTensor())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(both.Spec())
	sample, err := dataset.At(context.Background(), both, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sample["mask"].Data())
	// Output:
	// image float32 (3, 1, 4), mask uint8 (1, 4)
	// [255 7 26 255]
}

// A mask in grey of 16 bits becomes int64, as PyTorch's losses take class numbers.
func ExamplePairs() {
	fsys := fstest.MapFS{"scan.png": coded(image.NewGray(image.Rect(0, 0, 4, 2))), "organs.png": coded(image.NewGray16(image.Rect(0, 0, 4, 2)))}
	ds, err := masks.Pairs(fsys, fsys, []masks.Pair{{Image: "scan.png", Mask: "organs.png"}})
	if err != nil {
		log.Fatal(err)
	}
	both, err := transform.Images(ds, transform.Mask("mask", transform.Dtype(dataset.Int64)), transform.CenterCrop(2), transform.ToTensor())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(both.Spec())
	// Output: image float32 (3, 2, 2), mask int64 (2, 2)
}

// Images and masks lie in one folder, and differ in their extensions. Images without a mask are
// left out.
func ExamplePartial() {
	fsys := fstest.MapFS{"1.jpg": {}, "1.png": {}, "2.jpg": {}, "3.jpg": {}, "3.png": {}}
	ds, err := masks.Open(fsys, fsys, masks.ImageExtensions(".jpg"), masks.MaskExtensions(".png"), masks.Partial())
	if err != nil {
		log.Fatal(err)
	}
	for i := range ds.Len() {
		fmt.Println(ds.Pair(i))
	}
	// Output:
	// {1.jpg 1.png}
	// {3.jpg 3.png}
}
