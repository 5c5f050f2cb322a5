// Package masks makes datasets of images with masks, for semantic segmentation: a folder
// of images and a folder of masks with the same names.
package masks

import (
	"context"
	"fmt"
	"io/fs"
	"reflect"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/slots"
)

// A Pair is an image and its mask, as paths in their file systems.
type Pair struct{ Image, Mask string }

// A Dataset is pairs of files. [Open] and [Pairs] make one. A sample has two fields,
// both ragged uint8: "image" and "mask" hold the encoded files. transform.Images moves the
// mask with the image, and transform.Mask says which formats it reads.
type Dataset struct {
	images, masks fs.FS
	pairs         []Pair
	max           int64 // bytes of a file
}

// Pairs makes a dataset of pairs of files: images in one file system, masks in another,
// which may be the same. It checks the paths, and not whether the files exist.
func Pairs(images, masks fs.FS, pairs []Pair, options ...Option) (*Dataset, error) {
	c, err := newConfig(images, masks, options)
	if err != nil {
		return nil, err
	}
	for k, p := range pairs {
		if !fs.ValidPath(p.Image) || !fs.ValidPath(p.Mask) {
			return nil, fmt.Errorf("masks: pair %d: %q and %q: want paths from the root of the file system", k, p.Image, p.Mask)
		}
	}
	return &Dataset{images: images, masks: masks, pairs: slices.Clone(pairs), max: c.max}, nil
}

// Len is the number of images.
func (d *Dataset) Len() int { return len(d.pairs) }

// Spec is "image" and "mask", both ragged uint8.
func (d *Dataset) Spec() dataset.Spec {
	return dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Ragged: true, Kind: dataset.Image},
		{Name: "mask", Dtype: dataset.Uint8, Ragged: true, Kind: dataset.Mask},
	}
}

// Pair is the paths of sample i. i must be from 0 to Len()-1.
func (d *Dataset) Pair(i int) Pair { return d.pairs[i] }

// Name is the path of image i, or "" if i is out of range.
func (d *Dataset) Name(i int) string {
	if dataset.CheckIndex(i, d.Len()) != nil {
		return ""
	}
	return d.pairs[i].Image
}

// Foresee begins to fetch the files before they are read: see [dataset.ForeseeFiles].
func (d *Dataset) Foresee(future dataset.Future) (stop func()) {
	image := func(i int, dst []dataset.FilePart) []dataset.FilePart {
		return append(dst, dataset.FilePart{Path: d.pairs[i].Image, Len: -1})
	}
	mask := func(i int, dst []dataset.FilePart) []dataset.FilePart {
		return append(dst, dataset.FilePart{Path: d.pairs[i].Mask, Len: -1})
	}
	if same(d.images, d.masks) { // then they are fetched in the order in which they are needed
		both := func(i int, dst []dataset.FilePart) []dataset.FilePart { return mask(i, image(i, dst)) }
		return dataset.ForeseeFiles(d.images, future, dataset.FileBlocks{Len: d.Len(), At: both})
	}
	stopImages := dataset.ForeseeFiles(d.images, future, dataset.FileBlocks{Len: d.Len(), At: image})
	stopMasks := dataset.ForeseeFiles(d.masks, future, dataset.FileBlocks{Len: d.Len(), At: mask})
	switch {
	case stopImages == nil:
		return stopMasks
	case stopMasks == nil:
		return stopImages
	}
	return func() {
		defer stopImages()
		stopMasks()
	}
}

// same reports whether a and b are the same file system.
func same(a, b fs.FS) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// Open makes a Reader. It holds no open file between two samples.
func (d *Dataset) Open() (dataset.Reader, error) { return reader{d}, nil }

type reader struct{ *Dataset }

func (r reader) Close() error { return nil }

func (r reader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := dataset.CheckIndex(i, r.Len()); err != nil {
		return err
	}
	dst.Stage(dataset.StageRead)
	p := &r.pairs[i]
	if err := files.ReadSample(files.In(ctx, r.images), p.Image, slots.Cell(dst.Cell(0)), r.max); err != nil {
		return fmt.Errorf("masks: read %s: %w", p.Image, err)
	}
	if err := files.ReadSample(files.In(ctx, r.masks), p.Mask, slots.Cell(dst.Cell(1)), r.max); err != nil {
		return fmt.Errorf("masks: read %s: %w", p.Mask, err)
	}
	return nil
}
