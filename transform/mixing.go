package transform

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/engine"
)

// MixUp mixes every image of a batch with the one before it, the first one with the
// last one, as torchvision's MixUp does: image·λ + before·(1-λ). It draws one λ per
// batch from the distribution Beta(alpha, alpha); torchvision's default for alpha is 1.
// Labels are mixed in the same way
// and become float32 of shape (classes). It is a step for the option Collate of
// package loader:
//
//	loader.New(ds, loader.BatchSize(128), loader.Shuffle(true),
//		loader.Collate(transform.MixUp(0.2, 1000)))
//
// The field "image" holds floating-point numbers of any shape, and "label" either
// int64 classes or float32 rows with a share per class. [Fields] names other
// fields, and [Probability] says how likely a batch is mixed. Shuffle the samples, because neighbours are mixed.
//
// Source: Zhang et al., "mixup: Beyond Empirical Risk Minimization",
// https://arxiv.org/abs/1710.09412.
func MixUp(alpha float64, classes int, options ...Option) dataset.BatchStep {
	return mixes("MixUp", alpha, classes, options)
}

// CutMix replaces a box of every image of a batch by the same box of the image before
// it, in the first image by that of the last one, as torchvision's CutMix does. The
// box is the same for the whole batch. Its centre is anywhere in the image, its sides
// are √(1-λ) of the image's with λ from Beta(alpha, alpha), and it is cut off at the
// borders. Labels are mixed by the area of the box and become float32 of shape
// (classes).
//
// The field "image" may have any dtype. Its last two dimensions are height and width.
// A shape (h, w, c) is recognised by at most 4 channels and more than 4 rows. For
// the rest see [MixUp].
//
// Source: Yun et al., "CutMix: Regularization Strategy to Train Strong Classifiers with
// Localizable Features", https://arxiv.org/abs/1905.04899.
func CutMix(alpha float64, classes int, options ...Option) dataset.BatchStep {
	m := mixes("CutMix", alpha, classes, options)
	m.cut = true
	return m
}

func mixes(name string, alpha float64, classes int, options []Option) mixing {
	usual := arguments{image: "image", label: "label", probability: 1}
	return mixing{call: calling(name, keyNames|keyProbability, usual, options, alpha, classes), beta: alpha, classes: classes}
}

// A mixing is a step for whole batches.
type mixing struct {
	*call
	cut     bool
	beta    float64
	classes int
}

// Bind finds the fields, and makes the label float32 of shape (classes).
func (m mixing) Bind(before dataset.Spec) (dataset.Spec, dataset.BatchApply, error) {
	if err := m.Check(before); err != nil {
		return nil, nil, fmt.Errorf("transform: %v: %w", m, err)
	}
	b := &engine.Mixer{Name: m.name, Cut: m.cut, Beta: m.beta, Probability: m.probability, Classes: m.classes, At: before.Index(m.image), To: before.Index(m.label)}
	b.Field, b.Shares = before[b.At], before[b.To].Dtype == dataset.Float32
	after := slices.Clone(before)
	after[b.To] = dataset.Field{Name: m.label, Dtype: dataset.Float32, Shape: dataset.Shape{m.classes}}
	return after, b.Apply, nil
}

func (m mixing) Check(before dataset.Spec) error {
	if err := m.checkArguments(); err != nil {
		return err
	}
	return m.checkFields(before)
}

func (m mixing) checkArguments() error {
	switch {
	case !(m.beta > 0) || math.IsInf(m.beta, 1):
		return errors.New("want an alpha above 0")
	case m.classes < 1 || m.classes > maxClasses:
		return fmt.Errorf("want 1 to %d classes", maxClasses)
	}
	return m.mistake
}

// maxClasses bounds the memory of labels.
const maxClasses = 1 << 20

func (m mixing) checkFields(before dataset.Spec) error {
	image, label := before.Index(m.image), before.Index(m.label)
	if image < 0 || label < 0 || image == label {
		return fmt.Errorf("want fields %q and %q, not %v", m.image, m.label, before)
	}
	f := before[image]
	switch {
	case f.Ragged:
		return fmt.Errorf("field %v: want images of one size", f)
	case m.cut && len(f.Shape) < 2:
		return fmt.Errorf("field %v: want images with height and width", f)
	case !m.cut && !slices.Contains([]dataset.Dtype{dataset.Float32, dataset.Float64, dataset.Float16, dataset.BFloat16}, f.Dtype):
		return fmt.Errorf("field %v: want floating-point numbers, as ToTensor makes them", f)
	}
	f = before[label]
	classes := f.Dtype == dataset.Int64 && len(f.Shape) == 0
	shares := f.Dtype == dataset.Float32 && slices.Equal(f.Shape, dataset.Shape{m.classes})
	if f.Ragged || !classes && !shares {
		return fmt.Errorf("field %v: want an int64 class, or float32 shares of %d classes", f, m.classes)
	}
	return nil
}
