package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
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
	skipped []packed.SkippedSample
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
		packed.Classes(photos.Classes()...), packed.Names(photos.Name), packed.Source(description))
	if err != nil {
		return r, err
	}
	defer func() {
		err = errors.Join(err, p.Close())
		r = result{p.Len(), p.Skipped()}
	}()
	at(p.Next())
	if p.Next() < photos.Len() {
		if err := j.packRest(ctx, ds, p, at); err != nil {
			return r, err
		}
	}
	return r, p.Finish()
}

// packRest appends all samples of ds from p.Next on.
func (j job) packRest(ctx context.Context, ds dataset.Dataset, p *packed.Writer, at func(next int)) error {
	from := p.Next()
	rest := make([]int, ds.Len()-from)
	for k := range rest {
		rest[k] = from + k
	}
	missing, err := dataset.Subset(ds, rest)
	if err != nil {
		return err
	}
	var failures failures
	l, err := loader.New(missing, loader.Workers(j.workers), loader.BatchSize(j.batch), j.onError(),
		loader.Observe(loader.Trace{SampleFailed: failures.note}))
	if err != nil {
		return err
	}
	defer l.Close()

	next := from
	skipUntil := func(end int) error {
		for ; next < end; next++ {
			if err := p.Skip(next, failures.reason(next-from)); err != nil {
				return err
			}
		}
		return nil
	}
	for batch, err := range l.Epoch(ctx, 0) {
		if err != nil {
			return err
		}
		indices := make([]int, batch.Len())
		for row, k := range batch.Indices() {
			indices[row] = from + k
			if err := skipUntil(indices[row]); err != nil {
				return err
			}
			next++
		}
		if err := p.AppendBatch(indices, batch); err != nil {
			return err
		}
		at(p.Next())
	}
	if err := skipUntil(ds.Len()); err != nil {
		return err
	}
	at(ds.Len())
	return nil
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
	mu      sync.Mutex
	reasons map[int]string
}

func (f *failures) note(err *loader.SampleError) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reasons == nil {
		f.reasons = make(map[int]string)
	}
	f.reasons[err.Index] = err.Err.Error()
}

func (f *failures) reason(sample int) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reasons[sample]
}
