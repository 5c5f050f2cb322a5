package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// A job says which shards to make.
type job struct {
	In, Out  string
	Size     int    // pixels
	PerShard int    // images
	Skip     bool   // damaged images
	Images   int    // in the folder In
	ID       string // what identify returns
}

// A record is a file next to a shard. It is written last, so a shard that has one is complete.
type record struct {
	Job     string `json:"job"`
	Shard   string `json:"shard"` // the name of the file
	Samples int    `json:"samples"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
	Skipped []skip `json:"skipped,omitempty"`
}

// A skip is an image that was left out.
type skip struct {
	Image  string `json:"image"`
	Reason string `json:"reason"`
}

// A manifest lists the shards of a job that is complete.
type manifest struct {
	Job     string   `json:"job"`
	Samples int      `json:"samples"`
	Shards  []record `json:"shards"` // in the order of the images
}

const manifestName = "shards.json"

// identify returns a checksum of all that decides the bytes of the shards: the list of images
// and what becomes of them.
func (j *job) identify(photos *dataset.Folder) (string, error) {
	samples, err := j.samples(photos)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%d %t %q\n%v\n", j.PerShard, j.Skip, photos.Classes(), samples)
	labels := photos.Labels()
	for i := range photos.Len() {
		fmt.Fprintf(sum, "%q %d\n", photos.Name(i), labels[i])
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}

// samples resizes the images. A sample is "image" uint8 (3, size, size) and "label" int64.
func (j *job) samples(photos *dataset.Folder) (dataset.Dataset, error) {
	return transform.Images(photos, transform.Resize(j.Size), transform.CenterCrop(j.Size), transform.PILToTensor())
}

func (j *job) shards() int { return (j.Images-1)/j.PerShard + 1 } // there is an image

// bounds says which images a shard has: those from first up to end, which is not one.
func (j *job) bounds(shard int) (first, end int) {
	first = shard * j.PerShard
	return first, min(first+j.PerShard, j.Images)
}

// name is the file name of a shard.
func (j *job) name(shard int) string { return fmt.Sprintf("%05d-of-%05d.packed", shard, j.shards()) }

func (j *job) path(name string) string { return filepath.Join(j.Out, name) }

// makeShard makes a shard and its record, if they are not there. The shard is written in a
// folder of its own and renamed when it is complete. So it does no harm if two tasks make it
// at once, or if one of them is killed: both write the same bytes.
func (j *job) makeShard(ctx context.Context, photos *dataset.Folder, shard, workers int) (err error) {
	switch _, err := j.readRecord(shard); {
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	r := record{Job: j.ID, Shard: j.name(shard)}
	dir, err := os.MkdirTemp(j.Out, "."+r.Shard+"-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "0.packed")
	if r.Samples, r.Skipped, err = j.write(ctx, photos, shard, workers, file); err != nil {
		return fmt.Errorf("%s: %w", r.Shard, err)
	}
	if r.Bytes, r.SHA256, err = sumOf(file); err != nil {
		return err
	}
	if err := os.Rename(file, j.path(r.Shard)); err != nil {
		return err
	}
	return writeJSON(r, filepath.Join(dir, "record"), j.path(r.Shard+".json"))
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
	failed := make([]error, len(indices)) // a worker writes only those of its own images
	options := []loader.Option{loader.Workers(workers), loader.BatchSize(16),
		loader.Observe(loader.Trace{SampleFailed: func(err *loader.SampleError) { failed[err.Index] = err.Err }})}
	if j.Skip {
		options = append(options, loader.Skip(loader.NoLimit))
	}
	l, err := loader.New(part, options...)
	if err != nil {
		return 0, nil, err
	}
	defer l.Close()
	w, err := packed.Create(ctx, file, samples.Spec(), packed.Classes(photos.Classes()...), packed.Names(photos.Name), packed.Origin(j.ID))
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
	for k, reason := range failed {
		if reason != nil {
			skipped = append(skipped, skip{photos.Name(first + k), reason.Error()})
		}
	}
	return n, skipped, w.Finish()
}

// readRecord reads the record of a shard, and checks that the shard is there. If one of
// them is missing, the error is fs.ErrNotExist.
func (j *job) readRecord(shard int) (record, error) {
	name := j.path(j.name(shard) + ".json")
	text, err := os.ReadFile(name)
	if err != nil {
		return record{}, err
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return record{}, fmt.Errorf("%s: %w", name, err)
	}
	first, end := j.bounds(shard)
	if r.Job != j.ID || r.Shard != j.name(shard) || r.Samples+len(r.Skipped) != end-first {
		return record{}, fmt.Errorf("%s is of a job with other images or flags: give another -out, or empty the folder", name)
	}
	info, err := os.Stat(j.path(r.Shard))
	if err != nil {
		return record{}, err
	}
	if info.Size() != r.Bytes {
		return record{}, fmt.Errorf("%s has %d bytes, want %d: remove it, and run the program again", j.path(r.Shard), info.Size(), r.Bytes)
	}
	return r, nil
}

// check checks that all shards are there, and no others. It removes what killed tasks
// have left, and writes the manifest.
func (j *job) check() (manifest, error) {
	m := manifest{Job: j.ID}
	ours := map[string]bool{manifestName: true}
	var missing []string
	for shard := range j.shards() {
		r, err := j.readRecord(shard)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, j.name(shard))
			continue
		case err != nil:
			return m, err
		}
		ours[r.Shard], ours[r.Shard+".json"] = true, true
		m.Samples += r.Samples
		m.Shards = append(m.Shards, r)
	}
	if missing != nil {
		return m, fmt.Errorf("%d of %d shards are missing, the first is %s: run the program again", len(missing), j.shards(), missing[0])
	}
	entries, err := os.ReadDir(j.Out)
	if err != nil {
		return m, err
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case ours[name]:
		case strings.HasPrefix(name, ".") && (strings.Contains(name, ".packed-") || name == "."+manifestName):
			if err := os.RemoveAll(j.path(name)); err != nil {
				return m, err
			}
		default:
			return m, fmt.Errorf("%s is not of this job: give another -out, or remove the file", j.path(name))
		}
	}
	return m, writeJSON(m, j.path("."+manifestName), j.path(manifestName))
}

// writeJSON writes a file under a first name, and then renames it.
func writeJSON(v any, first, name string) error {
	text, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return err
	}
	f, err := os.Create(first)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(first, name)
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
