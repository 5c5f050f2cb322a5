package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/internal/net"
	"github.com/penstock-go/penstock/transform"
)

// Data is a folder of images in two parts: one for training, one for validation.
type data struct {
	learn, judge dataset.Dataset
	classes      []string
	files        string // tells one folder's list of files from another's
}

// openData makes four fifths of dir's images the part to learn from. Both parts
// have the fields "image", float32 (3, size, size), "label" and "target".
func openData(dir string, size int, seed uint64) (*data, error) {
	photos, err := dataset.ImageFolder(os.DirFS(dir))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if classes := photos.Classes(); len(classes) < 2 {
		return nil, fmt.Errorf("%s: only one class, %v: want a folder of images for each of two classes or more", dir, classes)
	}
	parts, err := dataset.RandomSplit(photos, []float64{0.8, 0.2}, seed)
	if err != nil {
		return nil, err
	}
	if parts[0].Len() == 0 || parts[1].Len() == 0 {
		return nil, fmt.Errorf("%s: %d images are too few to split", dir, photos.Len())
	}
	d := &data{classes: photos.Classes()}
	for i, to := range []*dataset.Dataset{&d.learn, &d.judge} {
		ds, err := transform.Images(parts[i], []transform.Step{net.Augmented(size), net.Plain(size)}[i])
		if err != nil {
			return nil, err
		}
		*to = oneHot{ds, len(d.classes)}
	}
	names := sha256.New()
	for i := range photos.Len() {
		fmt.Fprintln(names, photos.Name(i))
	}
	d.files = fmt.Sprintf("%x", names.Sum(nil)[:8])
	return d, nil
}

// OneHot adds to a dataset with the field "label" the field "target", float32
// (classes): 1 for the label, 0 for the others. Gorgonia computes with no labels.
type oneHot struct {
	*transform.Pipeline
	classes int
}

func (o oneHot) Spec() dataset.Spec {
	target := dataset.Field{Name: "target", Dtype: tensor.Float32, Shape: tensor.Shape{o.classes}}
	return append(o.Pipeline.Spec()[:2:2], target) // an ImageFolder has two fields
}

func (o oneHot) Open() (dataset.Reader, error) {
	r, err := o.Pipeline.Open()
	return &oneHotReader{Reader: r, label: o.Pipeline.Spec().Index("label")}, err
}

type oneHotReader struct {
	dataset.Reader
	label int
}

func (r *oneHotReader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	target := dst.Len() - 1
	if err := r.Reader.Place(ctx, i, dst.Fields(0, target)); err != nil {
		return err
	}
	row := dataset.Row[float32](dst, target)
	clear(row)
	row[dataset.Row[int64](dst, r.label)[0]] = 1
	return nil
}
