package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// A job says which shards to make. Beam sends it to the workers as JSON.
type job struct {
	In, Out  string
	Format   string // packed or tar
	Size     int    // pixels
	PerShard int    // images
	Skip     bool   // damaged images
	Images   int    // in the folder In
	ID       string // what identify returns
}

// identify returns a checksum of all that decides the bytes of the shards: the list of images
// and what becomes of them.
func (j *job) identify(photos *dataset.Folder) (string, error) {
	samples, err := j.samples(photos)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %d %t %q\n%v\n", j.Format, j.PerShard, j.Skip, photos.Classes(), samples)
	labels := photos.Labels()
	for i := range photos.Len() {
		fmt.Fprintf(sum, "%q %d\n", photos.Name(i), labels[i])
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}

// open lists the folder on a worker, which must see the same images as the machine that
// has begun the job.
func (j *job) open() (*dataset.Folder, error) {
	photos, err := dataset.ImageFolder(os.DirFS(j.In))
	if err != nil {
		return nil, err
	}
	switch id, err := j.identify(photos); {
	case err != nil:
		return nil, err
	case id != j.ID:
		return nil, fmt.Errorf("%s has %d images here: the job was begun with %d, or with others", j.In, photos.Len(), j.Images)
	}
	return photos, nil
}

// samples resizes the images. A sample is "image" uint8 (3, size, size) and "label" int64.
func (j *job) samples(photos *dataset.Folder) (dataset.Dataset, error) {
	return transform.Images(photos, transform.Resize(j.Size), transform.CenterCrop(j.Size), transform.PILToTensor())
}

// shards is the number of shards.
func (j *job) shards() int { return (j.Images-1)/j.PerShard + 1 } // there is an image

// bounds says which images a shard has: those from first up to end, which is not one.
func (j *job) bounds(shard int) (first, end int) {
	first = shard * j.PerShard
	return first, min(first+j.PerShard, j.Images)
}

// name is the file name of a shard.
func (j *job) name(shard int) string {
	return fmt.Sprintf("%05d-of-%05d.%s", shard, j.shards(), j.Format)
}

func (j *job) path(name string) string { return filepath.Join(j.Out, name) }
