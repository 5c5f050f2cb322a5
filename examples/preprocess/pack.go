package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// A job says which images to pack, and how.
type job struct {
	files   fs.FS
	out     string
	size    int
	dtype   string // uint8 or float32
	photos  string // fast or small: whole photos are packed, not tensors
	workers int
	batch   int  // images that are appended at once
	skip    bool // damaged images
}

type result struct {
	packed  int // images in the file, including those from earlier runs
	skipped []failure
}

// A failure is an image that was left out, and why.
type failure struct {
	index  int
	reason string
}

// steps are those of the evaluation preset, up to the ones that the dtype needs.
func (j job) steps() ([]transform.Item, error) {
	if j.size < 1 {
		return nil, fmt.Errorf("-size %d: want 1 or more", j.size)
	}
	steps := []transform.Item{transform.Resize(j.size * 8 / 7), transform.CenterCrop(j.size)}
	switch j.dtype {
	case "uint8":
		return append(steps, transform.PILToTensor()), nil
	case "float32":
		return append(steps, transform.ToTensor(), transform.Normalize(transform.ImageNetMean, transform.ImageNetStd)), nil
	}
	return nil, fmt.Errorf("-dtype %s: want uint8 or float32", j.dtype)
}

// samples are what is packed, and how they are made: tensors, or whole photos.
func (j job) samples(photos *dataset.Folder) (ds dataset.Dataset, made string, err error) {
	if j.photos != "" {
		ds, err := j.packedPhotos(photos)
		return ds, "photos, " + j.photos, err
	}
	return j.tensors(photos)
}

// tensors applies the steps to photos.
func (j job) tensors(photos dataset.Dataset) (ds dataset.Dataset, made string, err error) {
	steps, err := j.steps()
	if err != nil {
		return nil, "", err
	}
	p, err := transform.Images(photos, steps...)
	return p, fmt.Sprint(p), err
}

func (j job) packedPhotos(photos *dataset.Folder) (dataset.Dataset, error) {
	switch j.photos {
	case "fast":
		return packed.Photos(photos, packed.Fast)
	case "small":
		return packed.Photos(photos, packed.Small)
	}
	return nil, fmt.Errorf("-photos %s: want fast or small", j.photos)
}

// pack makes the file, or what is missing of it. Before the first batch, and after
// every batch, it calls at with the index of the next image.
func (j job) pack(ctx context.Context, photos *dataset.Folder, at func(next int)) (r result, err error) {
	ds, made, err := j.samples(photos)
	if err != nil {
		return r, err
	}
	description, err := describe(photos, j.files, made)
	if err != nil {
		return r, err
	}
	p, err := packed.Create(ctx, j.out, ds.Spec(),
		packed.Classes(photos.Classes()...), packed.Names(photos.Name), packed.Origin(description))
	if err != nil {
		return r, err
	}
	defer func() {
		err = errors.Join(err, p.Close())
		r.packed = p.Len()
	}()
	at(p.Next())
	if p.Next() < photos.Len() {
		if r.skipped, err = j.packRest(ctx, ds, p, at); err != nil {
			return r, err
		}
	}
	return r, p.Finish()
}

// packRest appends all samples of ds from p.Next on. It returns those that it left out.
func (j job) packRest(ctx context.Context, ds dataset.Dataset, p *packed.Writer, at func(next int)) ([]failure, error) {
	var failed failures
	l, err := loader.New(ds, loader.Workers(j.workers), loader.BatchSize(j.batch), j.onError(),
		loader.Observe(loader.Trace{SampleFailed: failed.note}))
	if err != nil {
		return nil, err
	}
	defer l.Close()
	from := l.Position(0)
	from.Draw = p.Next()
	for batch, err := range l.From(ctx, from, 1) {
		if err != nil {
			return nil, err
		}
		if err := p.AppendBatch(batch.Indices(), batch); err != nil {
			return nil, err
		}
		at(p.Next())
	}
	at(ds.Len())
	return failed.sorted(), nil
}

// onError says what happens to damaged images.
func (j job) onError() loader.Option {
	if j.skip {
		return loader.OnError(loader.Skip, loader.NoLimit)
	}
	return loader.OnError(loader.Stop, loader.NoLimit)
}

// describe identifies the job: the images, and how samples are made of them.
func describe(photos *dataset.Folder, files fs.FS, made string) (string, error) {
	list := sha256.New()
	labels := photos.Labels()
	for i := range photos.Len() {
		info, err := fs.Stat(files, photos.Name(i))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(list, "%q %d %d\n", photos.Name(i), info.Size(), labels[i])
	}
	return fmt.Sprintf("%d images, list %x\n%s", photos.Len(), list.Sum(nil), made), nil
}

// failures are the reasons why samples could not be placed.
type failures struct {
	mu   sync.Mutex
	list []failure
}

func (f *failures) note(err *loader.SampleError) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, failure{err.Index, err.Err.Error()})
}

// sorted are the failures, in the order of the samples.
func (f *failures) sorted() []failure {
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.SortFunc(f.list, func(a, b failure) int { return a.index - b.index })
	return f.list
}
