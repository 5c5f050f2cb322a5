package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/npy"
	"github.com/penstock-go/penstock/dataset/volume"
	"github.com/penstock-go/penstock/transform"
)

// formats are what the works read that are about files, and the field that tells
// whether a peer's batches hold the same.
var formats = map[string]struct {
	open func(folder string) (dataset.Dataset, error)
	tell string
}{
	"npy":            {npyArray, "image"},
	"npy-items":      {npyItems, "image"},
	"npy-cached":     {npyCached, "image"},
	"cifar100":       {cifar100, "image"},
	"nrrd":           {volumesDecoded, "ct"},
	"volumes-cached": {volumesCached, "ct"},
	"volumes":        {volumeSlices, "ct"},
}

// npyArray is float32 (3, 224, 224) per sample, an array for all.
func npyArray(folder string) (dataset.Dataset, error) {
	return npy.Open(os.DirFS(folder), "array.npy", "image")
}

// npyItems is the same, a file each.
func npyItems(folder string) (dataset.Dataset, error) {
	return npy.Items(os.DirFS(folder), "items/*.npy", "image")
}

func npyCached(folder string) (dataset.Dataset, error) {
	ds, err := npyItems(folder)
	if err != nil {
		return nil, err
	}
	return dataset.Cached(ds, int64(ds.Len())*int64(ds.Spec()[0].Bytes()))
}

// cifar100 is CIFAR's binary file, normalized.
func cifar100(folder string) (dataset.Dataset, error) {
	ds, err := dataset.CIFAR100(os.DirFS(folder), dataset.Train)
	if err != nil {
		return nil, err
	}
	half := []float32{0.5, 0.5, 0.5}
	return transform.Images(ds, transform.ToTensor(), transform.Normalize(half, half))
}

// volumesDecoded is a patient per sample, two scans and two masks, from files
// compressed by gzip, decoded every time.
func volumesDecoded(folder string) (dataset.Dataset, error) {
	cohort, err := patients(folder, volume.CacheSize(0))
	if err != nil {
		return nil, err
	}
	return cohort.Whole()
}

// volumesCached is the same from memory.
func volumesCached(folder string) (dataset.Dataset, error) {
	cohort, err := patients(folder)
	if err != nil {
		return nil, err
	}
	return cohort.Whole()
}

// volumeSlices are those of all three views, padded to (128, 128), scans and masks.
func volumeSlices(folder string) (dataset.Dataset, error) {
	cohort, err := patients(folder)
	if err != nil {
		return nil, err
	}
	return cohort.Slices(context.Background(), volume.Views(volume.Axial, volume.Coronal, volume.Sagittal), volume.SliceShape(128, 128))
}

func patients(folder string, options ...volume.Option) (*volume.Cohort, error) {
	options = append(options, volume.Scan("ct", "{patient}/ct.nrrd"), volume.Scan("pet", "{patient}/pet.nrrd"),
		volume.Mask("truth", "{patient}/truth.nrrd"), volume.Mask("prediction", "{patient}/prediction.nrrd"))
	return volume.Open(os.DirFS(folder), options...)
}

// readAll reads all files of a folder, so that they are in the page cache.
func readAll(folder string) error {
	fsys := os.DirFS(folder)
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if _, err := fs.ReadFile(fsys, name); err != nil {
			return fmt.Errorf("penstock: %w", err)
		}
		return nil
	})
}
