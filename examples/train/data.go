package main

import (
	"crypto/sha256"
	"fmt"
	"os"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/train/net"
	"github.com/penstock-go/penstock/transform"
)

// data is a folder of images, split for training and validation.
type data struct {
	train, valid dataset.Dataset
	classes      []string
	files        string // a hash of the names of the files
}

// openData splits dir's images: four fifths for training, one fifth for validation.
// Both datasets have the fields "image", float32 (3, size, size), "label", int64, and
// "target", float32 (classes).
func openData(dir string, size int, seed uint64) (*data, error) {
	photos, err := dataset.ImageFolder(os.DirFS(dir))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	d := &data{classes: photos.Classes()}
	if len(d.classes) < 2 {
		return nil, fmt.Errorf("%s: only one class, %v: want a folder of images for each of two classes or more", dir, d.classes)
	}
	split, err := dataset.RandomSplit(photos, []float64{0.8, 0.2}, seed)
	if err != nil {
		return nil, err
	}
	if split[0].Len() == 0 || split[1].Len() == 0 {
		return nil, fmt.Errorf("%s: %d images are too few to split", dir, photos.Len())
	}
	if d.train, err = prepare(split[0], net.Augmented(size), len(d.classes)); err != nil {
		return nil, err
	}
	if d.valid, err = prepare(split[1], net.Plain(size), len(d.classes)); err != nil {
		return nil, err
	}
	names := sha256.New()
	for i := range photos.Len() {
		fmt.Fprintln(names, photos.Name(i))
	}
	d.files = fmt.Sprintf("%x", names.Sum(nil)[:8])
	return d, nil
}

// prepare applies the step to the images, and adds the field "target": 1 for the label,
// 0 for the other classes. The loss is computed from it, because gorgonia has no
// operation that takes labels.
func prepare(photos dataset.Dataset, step transform.Step, classes int) (dataset.Dataset, error) {
	ds, err := transform.Images(photos, step)
	if err != nil {
		return nil, err
	}
	spec := ds.Spec()
	label, target := spec.Index("label"), len(spec)
	spec = append(spec[:target:target], dataset.Field{Name: "target", Dtype: dataset.Float32, Shape: dataset.Shape{classes}})
	return dataset.Map(ds, spec, func(dst, src dataset.Slot) error {
		dataset.Row[float32](dst, target)[dataset.Row[int64](src, label)[0]] = 1
		return nil
	})
}
