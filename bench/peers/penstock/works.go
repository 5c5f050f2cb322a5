package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/penstock-go/penstock/bench/data"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/classic"
	"github.com/penstock-go/penstock/dataset/npy"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/dataset/volume"
	"github.com/penstock-go/penstock/transform"
)

// A work is a way to read a folder, and the field whose mean is compared with other libraries.
type work struct {
	open func(fsys fs.FS, size int) (dataset.Dataset, error)
	tell string
}

var works = map[string]work{
	"eval":  {func(fsys fs.FS, size int) (dataset.Dataset, error) { return photos(fsys, transform.Eval(size)) }, "image"},
	"train": {func(fsys fs.FS, size int) (dataset.Dataset, error) { return photos(fsys, transform.Train(size)) }, "image"},
	// The preset for classification of torchvision's references, with RandAugment.
	"randaugment": {func(fsys fs.FS, size int) (dataset.Dataset, error) {
		return photos(fsys, transform.Compose(
			transform.RandomResizedCrop(size), transform.RandomHorizontalFlip(0.5), transform.RandAugment(2, 9, transform.Interpolation(transform.Bilinear)),
			transform.ToTensor(), transform.Normalize(transform.ImageNetMean, transform.ImageNetStd), transform.RandomErasing(0.1)))
	}, "image"},
	// JPEG photos: an image of dtype float32 and shape (3, size, size), with a label.
	// Other training presets, see presets.go.
	"simclr":       {func(fsys fs.FS, _ int) (dataset.Dataset, error) { return photos(fsys, twoViews()) }, "image"},
	"deeplab":      {segmented, "image"},
	"detr":         {multiscale, "image"},
	"ssd":          {singleShot, "image"},
	"preprocessed": {items, "image"},
	// float32 (3, 224, 224) in npy: one array for all samples, one file per sample, and in memory.
	"npy":        {func(fsys fs.FS, _ int) (dataset.Dataset, error) { return npy.Open(fsys, "array.npy", "image") }, "image"},
	"npy-items":  {func(fsys fs.FS, _ int) (dataset.Dataset, error) { return npy.Items(fsys, "items/*.npy", "image") }, "image"},
	"npy-cached": {npyCached, "image"},
	"cifar100":   {cifar100, "image"},
	// Patients with two scans and two masks: decoded in every epoch, and kept in memory.
	"nrrd":           {func(fsys fs.FS, _ int) (dataset.Dataset, error) { return patients(fsys, volume.CacheSize(0)) }, "ct"},
	"volumes-cached": {func(fsys fs.FS, _ int) (dataset.Dataset, error) { return patients(fsys) }, "ct"},
	// Slices of these volumes in all three views, padded to (128, 128).
	"volumes": {volumeSlices, "ct"},
}

// opened returns the work's dataset, repeated to n samples, after it has read all files into the page
// cache.
func opened(name, folder string, size, n int) (dataset.Dataset, error) {
	w, ok := works[name]
	if !ok {
		return nil, fmt.Errorf("penstock: -work %s: there is no such work", name)
	}
	fsys := os.DirFS(folder)
	if err := readAll(fsys); err != nil {
		return nil, err
	}
	ds, err := w.open(fsys, size)
	if err != nil || n == 0 || n == ds.Len() {
		return ds, err
	}
	indices := make([]int, n)
	for i := range indices {
		indices[i] = i % ds.Len()
	}
	return dataset.Subset(ds, indices)
}

// readAll reads all files, so that they are in the page cache.
func readAll(fsys fs.FS) error {
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

// fileBytes is the size of all files together.
func fileBytes(fsys fs.FS) (sum int64, err error) {
	err = fs.WalkDir(fsys, ".", func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}

// photos are those of a folder, or of the file that packPhotos made there.
func photos(fsys fs.FS, preset transform.Step) (dataset.Dataset, error) {
	var ds dataset.Dataset
	var err error
	if _, missing := fs.Stat(fsys, packedName); missing == nil {
		ds, err = packed.Open(fsys, packedName)
	} else {
		ds, err = dataset.ImageFolder(fsys)
	}
	if err != nil {
		return nil, err
	}
	return transform.Images(ds, preset)
}

const packedName = "photos.packed"

// packPhotos makes a temporary folder with the photos of fsys in one file, for photos.
func packPhotos(ctx context.Context, fsys fs.FS, level string) (folder string, err error) {
	levels := map[string]packed.Level{"fast": packed.Fast, "small": packed.Small}
	if _, ok := levels[level]; !ok {
		return "", fmt.Errorf("penstock: -packed %s: want fast or small", level)
	}
	ds, err := dataset.ImageFolder(fsys)
	if err != nil {
		return "", err
	}
	photos, err := packed.Photos(ds, levels[level])
	if err != nil {
		return "", err
	}
	if folder, err = os.MkdirTemp("", "penstock-packed"); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(folder))
		}
	}()
	f, err := os.Create(filepath.Join(folder, packedName))
	if err != nil {
		return "", err
	}
	return folder, errors.Join(packed.Write(ctx, f, photos), f.Close())
}

func items(fsys fs.FS, size int) (dataset.Dataset, error) {
	ds, err := packed.Items(fsys, "*.raw", data.Image(size))
	if err != nil {
		return nil, err
	}
	labels := make([]int64, ds.Len())
	for i := range labels {
		labels[i] = int64(i % 10)
	}
	classes, err := dataset.Tensors(dataset.Named("label", labels))
	if err != nil {
		return nil, err
	}
	return dataset.Zip(ds, classes)
}

func npyCached(fsys fs.FS, _ int) (dataset.Dataset, error) {
	ds, err := npy.Items(fsys, "items/*.npy", "image")
	if err != nil {
		return nil, err
	}
	return dataset.Cached(ds, int64(ds.Len())*int64(ds.Spec()[0].Bytes()))
}

func cifar100(fsys fs.FS, _ int) (dataset.Dataset, error) {
	ds, err := classic.CIFAR100(fsys, classic.Train)
	if err != nil {
		return nil, err
	}
	half := []float32{0.5, 0.5, 0.5}
	return transform.Images(ds, transform.ToTensor(), transform.Normalize(half, half))
}

func cohort(fsys fs.FS, options ...volume.Option) (*volume.Cohort, error) {
	for _, v := range data.VolumeNames {
		source := volume.Scan
		if v.Mask {
			source = volume.Mask
		}
		options = append(options, source(v.Name, "{patient}/"+v.Name+".nrrd"))
	}
	return volume.Open(fsys, options...)
}

func patients(fsys fs.FS, options ...volume.Option) (dataset.Dataset, error) {
	c, err := cohort(fsys, options...)
	if err != nil {
		return nil, err
	}
	return c.Whole()
}

func volumeSlices(fsys fs.FS, _ int) (dataset.Dataset, error) {
	c, err := cohort(fsys)
	if err != nil {
		return nil, err
	}
	return c.Slices(context.Background(), volume.Views("axial", "coronal", "sagittal"), volume.SliceShape(128, 128))
}
