package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/transform"
)

// prepared is the data of the folder, read once and taken through the work.
func prepared(o options) (dataset.Dataset, error) {
	switch o.work {
	case "eval":
		return photos(o.folder, transform.Eval(224))
	case "train":
		return photos(o.folder, transform.Train(224))
	case "preprocessed":
		return items(o.folder)
	case "cifar":
		return tinyPictures(o.folder)
	}
	return nil, fmt.Errorf("penstock: -work %s: want eval, train, preprocessed or cifar", o.work)
}

func photos(folder string, preset transform.Step) (dataset.Dataset, error) {
	ds, err := dataset.ImageFolder(os.DirFS(folder))
	if err != nil {
		return nil, err
	}
	for i := range ds.Len() {
		if _, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(ds.Path(i)))); err != nil {
			return nil, err
		}
	}
	return transform.Images(ds, preset)
}

// items are float32 (3, 224, 224), a file each, with labels.
func items(folder string) (dataset.Dataset, error) {
	fsys := os.DirFS(folder)
	pattern := "*.bin" // as data.py names them
	names, err := fs.Glob(fsys, pattern)
	if len(names) == 0 && err == nil {
		pattern = "*.raw" // as packed.WriteItems does
		names, err = fs.Glob(fsys, pattern)
	}
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, err := fs.ReadFile(fsys, name); err != nil {
			return nil, err
		}
	}
	spec := dataset.Spec{{Name: "image", Dtype: tensor.Float32, Shape: tensor.Shape{3, 224, 224}}}
	ds, err := packed.Items(fsys, pattern, spec)
	if err != nil {
		return nil, err
	}
	labels, err := dataset.Tensors(dataset.Named("label", tenClasses(ds.Len())))
	if err != nil {
		return nil, err
	}
	return dataset.Zip(ds, labels)
}

// tinyPictures are uint8 (3, 32, 32) in memory, as CIFAR's, normalised.
func tinyPictures(folder string) (dataset.Dataset, error) {
	pixels, err := os.ReadFile(filepath.Join(folder, "pictures.bin"))
	if err != nil {
		return nil, err
	}
	n := len(pixels) / (3 * 32 * 32)
	pictures := tensor.New(tensor.WithShape(n, 3, 32, 32), tensor.WithBacking(pixels))
	ds, err := dataset.Tensors(dataset.Named("image", pictures), dataset.Named("label", tenClasses(n)))
	if err != nil {
		return nil, err
	}
	half := []float32{0.5, 0.5, 0.5}
	return transform.Images(ds, transform.ToTensor(), transform.Normalize(half, half))
}

func tenClasses(n int) []int64 {
	labels := make([]int64, n)
	for i := range labels {
		labels[i] = int64(i % 10)
	}
	return labels
}

// repeated is n samples of ds, all of them in turn, again and again.
func repeated(ds dataset.Dataset, n int) (dataset.Dataset, error) {
	if n == ds.Len() {
		return ds, nil
	}
	indices := make([]int, n)
	for i := range indices {
		indices[i] = i % ds.Len()
	}
	return dataset.Subset(ds, indices)
}
