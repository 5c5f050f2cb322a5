package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/loader"
)

// batch is how many images are written at once.
const batch = 16

// makeShard makes a shard and its record, if they are not there. The shard is written in a
// folder of its own and renamed when it is complete. So it does no harm if two workers make
// it at once, or if one of them is killed: both write the same bytes.
func (j *job) makeShard(ctx context.Context, photos *dataset.Folder, shard, workers int) (err error) {
	switch _, err := j.readRecord(shard); {
	case err == nil:
		return nil
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	r := record{Job: j.ID, Shard: j.name(shard)}
	dir, err := os.MkdirTemp(j.Out, "."+r.Shard+"-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "0."+j.Format)
	if r.Samples, r.Skipped, err = j.write(ctx, photos, shard, workers, file); err != nil {
		return fmt.Errorf("%s: %w%s", r.Shard, err, advice(err))
	}
	if r.Bytes, r.SHA256, err = sumOf(file); err != nil {
		return err
	}
	if err := os.Rename(file, j.path(r.Shard)); err != nil {
		return err
	}
	return j.writeRecord(r, shard, dir)
}

// advice says what helps against an error, if anything does.
func advice(err error) string {
	if _, ok := errors.AsType[*loader.SampleError](err); ok {
		return "; -skip leaves out such images, and lists them"
	}
	return ""
}

// A writer is a packed.Writer or a shards.TarWriter.
type writer interface {
	AppendBatch(indices []int, b dataset.Batch) error
	Finish() error
	Close() error
}

// create begins a shard. The number in the name of a tar shard is 0.
func (j *job) create(ctx context.Context, photos *dataset.Folder, spec dataset.Spec, file string) (writer, error) {
	if j.Format == "packed" {
		return packed.Create(ctx, file, spec, packed.Classes(photos.Classes()...), packed.Names(photos.Name), packed.Origin(j.ID))
	}
	w, err := shards.CreateTar(ctx, filepath.Join(filepath.Dir(file), "%d.tar"), spec,
		[]shards.Column{{Field: "image", Extension: "npy"}, {Field: "label", Extension: "cls"}}, shards.MaxShardBytes(math.MaxInt64))
	return tarWriter{w}, err
}

type tarWriter struct{ *shards.TarWriter }

func (w tarWriter) AppendBatch(indices []int, b dataset.Batch) error {
	return w.TarWriter.AppendBatch(indices, b)
}

// write writes the images of a shard to a file. It returns how many there are, and those
// that were left out.
func (j *job) write(ctx context.Context, photos *dataset.Folder, shard, workers int, file string) (n int, skipped []skip, err error) {
	samples, err := j.samples(photos)
	if err != nil {
		return 0, nil, err
	}
	first, end := j.bounds(shard)
	indices := make([]int, end-first)
	for k := range indices {
		indices[k] = first + k
	}
	part, err := dataset.Subset(samples, indices)
	if err != nil {
		return 0, nil, err
	}
	failed := failures{reasons: map[int]string{}}
	options := []loader.Option{loader.Workers(workers), loader.BatchSize(batch), loader.Observe(loader.Trace{SampleFailed: failed.note})}
	if j.Skip {
		options = append(options, loader.OnError(loader.Skip, loader.NoLimit))
	}
	l, err := loader.New(part, options...)
	if err != nil {
		return 0, nil, err
	}
	defer l.Close()
	w, err := j.create(ctx, photos, samples.Spec(), file)
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	for b, err := range l.Epoch(ctx, 0) {
		if err != nil {
			return 0, nil, err
		}
		rows := make([]int, b.Len())
		for k, i := range b.Indices() {
			rows[k] = first + i
		}
		if err := w.AppendBatch(rows, b); err != nil {
			return 0, nil, err
		}
		n += b.Len()
	}
	for k := range indices {
		if reason, ok := failed.reasons[k]; ok {
			skipped = append(skipped, skip{photos.Name(first + k), reason})
		}
	}
	return n, skipped, w.Finish()
}

// failures are the reasons why images could not be decoded, by their place in the shard.
type failures struct {
	mu      sync.Mutex
	reasons map[int]string
}

func (f *failures) note(err *loader.SampleError) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reasons[err.Index] = err.Err.Error()
}

// sumOf returns the size and the checksum of a file.
func sumOf(name string) (size int64, sum string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return size, fmt.Sprintf("%x", h.Sum(nil)), err
}
