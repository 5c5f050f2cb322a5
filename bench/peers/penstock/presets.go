package main

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/coco"
	"github.com/penstock-go/penstock/transform"
)

// twoViews are those of SimCLR: an image of dtype float32 and shape (2, 3, 224, 224).
func twoViews() transform.Step {
	return transform.Views(2,
		transform.RandomResizedCrop(224), transform.RandomHorizontalFlip(0.5),
		transform.RandomApply(0.8, transform.ColorJitter(0.8, 0.8, 0.8, 0.2)), transform.RandomGrayscale(0.2),
		transform.RandomApply(0.5, transform.GaussianBlur(23)),
		transform.ToTensor(), transform.Normalize(transform.ImageNetMean, transform.ImageNetStd))
}

// segmented is the preset of torchvision's references for DeepLab: images (3, 480, 480) with masks.
func segmented(fsys fs.FS, _ int) (dataset.Dataset, error) {
	names, err := fs.Glob(fsys, "photos/*.jpg")
	if err != nil {
		return nil, err
	}
	ds := dataset.Func(len(names), dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Ragged: true}, {Name: "mask", Dtype: dataset.Uint8, Ragged: true},
	}, func(_ context.Context, i int, dst dataset.Slot) error {
		mask := strings.NewReplacer("photos/", "masks/", ".jpg", ".png").Replace(names[i])
		for f, name := range []string{names[i], mask} {
			data, err := fs.ReadFile(fsys, name)
			if err != nil {
				return fmt.Errorf("penstock: %w", err)
			}
			copy(dataset.Grow[uint8](dst, f, len(data)), data)
		}
		return nil
	})
	return transform.Images(ds,
		transform.Mask("mask", transform.Fill(255), transform.Dtype(dataset.Int64)),
		transform.RandomResize(260, 1041), transform.RandomCrop(480, transform.PadIfNeeded()), transform.RandomHorizontalFlip(0.5),
		transform.ToTensor(), transform.Normalize(transform.ImageNetMean, transform.ImageNetStd))
}

// multiscale is the preset of torchvision's references for detectors such as DETR.
func multiscale(fsys fs.FS, _ int) (dataset.Dataset, error) {
	return detected(fsys, transform.RandomShortestSize([]int{480, 512, 544, 576, 608, 640, 672, 704, 736, 768, 800}, transform.MaxSize(1333)))
}

// singleShot is the preset of torchvision's references for SSD.
func singleShot(fsys fs.FS, _ int) (dataset.Dataset, error) {
	return detected(fsys, transform.RandomPhotometricDistort(0.5), transform.RandomZoomOut(0.5, transform.Fill(123, 117, 104)), transform.RandomIoUCrop())
}

func detected(fsys fs.FS, steps ...transform.Step) (dataset.Dataset, error) {
	ds, err := coco.Open(fsys, "annotations.json", coco.ImagesIn("photos"))
	if err != nil {
		return nil, err
	}
	return transform.Images(ds,
		transform.Compose(steps...),
		transform.RandomHorizontalFlip(0.5), transform.SanitizeBoundingBoxes(), transform.ConvertBoundingBoxFormat(transform.XYXY),
		transform.ToTensor(), transform.Ragged(), transform.Sizes("size"))
}
