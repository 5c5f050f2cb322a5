package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/internal/figures"
)

// A Field is one named part of a sample: the image, the label.
type Field struct {
	Name  string
	Dtype Dtype // of the values
	// Shape is the shape of one sample, without the batch dimension. It is nil for
	// a scalar. In a ragged field it is the shape of one element.
	Shape Shape
	// Ragged fields hold a varying number of elements: a sample of n elements
	// has the shape (n, Shape...). Text and encoded files are ragged uint8.
	Ragged bool
	// Kind says whether the field is an image, or belongs to one as masks, boxes and
	// keypoints do. The zero value, [Plain], is none of these.
	Kind Kind
	// Of names the field to which this one belongs. A field of labels that has a row for
	// every box is of the field of the boxes; so are masks and keypoints per box. A mask,
	// boxes or keypoints of a sample with several images are of the field of one image.
	Of string
}

// A Kind says what a field is to an image. The steps of transform.Images move all that belongs
// to its images, as those of torchvision move tv_tensors, and leave the rest as it is.
type Kind uint8

// The kinds. Coordinates are in pixels.
const (
	Plain       Kind = iota // a label, a text, numbers: nothing that moves with an image
	Image                   // an image: a file, as ragged uint8, or pixels
	Mask                    // the class number of every pixel of an image: a file or numbers
	Segments                // a Mask whose PNG files hold red + 256·green + 65536·blue per pixel, as COCO's panoptic ones
	Masks                   // a mask per object, plane by plane
	BoxesXYXY               // rows of left, top, right, bottom
	BoxesXYWH               // rows of left, top, width, height, as COCO's
	BoxesCXCYWH             // rows of the centre's x and y, width, height
	KeyPoints               // x and y in the last dimension, or x, y and a third number, such as visibility
)

var kinds = [...]string{"plain", "image", "mask", "segments", "masks", "boxes xyxy", "boxes xywh", "boxes cxcywh", "keypoints"}

// String is the kind's name: "image", "boxes xywh".
func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// MarshalText is [Kind.String], for JSON.
func (k Kind) MarshalText() ([]byte, error) {
	if int(k) >= len(kinds) {
		return nil, fmt.Errorf("dataset: kind %d is not known", uint8(k))
	}
	return []byte(kinds[k]), nil
}

// UnmarshalText is the inverse of [Kind.MarshalText]. A name that is not known is an error.
func (k *Kind) UnmarshalText(name []byte) error {
	i := slices.Index(kinds[:], string(name))
	if i < 0 {
		return fmt.Errorf("dataset: no kind of field is named %q", name)
	}
	*k = Kind(i)
	return nil
}

// isBoxes reports whether k is one of the three formats of boxes.
func (k Kind) isBoxes() bool { return k >= BoxesXYXY && k <= BoxesCXCYWH }

// Elements is the number of values in one sample of the field. In a ragged
// field it is the number of values in one element.
func (f Field) Elements() int { return f.Shape.Elements() }

// Bytes is the size of the values that [Field.Elements] counts.
func (f Field) Bytes() int { return f.Elements() * f.Dtype.Size() }

// String prints the field as "image float32 (3, 224, 224)" or "text uint8 (n)".
func (f Field) String() string {
	shape := f.Shape.String()
	switch {
	case f.Ragged && len(f.Shape) == 0:
		shape = "(n)"
	case f.Ragged:
		shape = "(n, " + shape[1:]
	}
	return fmt.Sprintf("%s %v %s", f.Name, f.Dtype, shape)
}

// A Spec describes the samples of a dataset, field by field.
type Spec []Field

// Index is the index of the field with that name, or -1.
func (s Spec) Index(name string) int {
	for i, f := range s {
		if f.Name == name {
			return i
		}
	}
	return -1
}

// String prints the fields, separated by commas.
func (s Spec) String() string {
	fields := make([]string, len(s))
	for i, f := range s {
		fields[i] = f.String()
	}
	return strings.Join(fields, ", ")
}

// sameSpec reports whether samples of both have the same memory.
func sameSpec(a, b Spec) bool {
	return slices.EqualFunc(a, b, func(a, b Field) bool {
		return a.Name == b.Name && a.Dtype == b.Dtype && a.Ragged == b.Ragged && slices.Equal(a.Shape, b.Shape)
	})
}

// Validate reports everything that is wrong with the spec: no fields, a name
// that is missing or used twice, no dtype, a dimension
// below 1, a shape of more than 1 TiB, or 2 GiB where an int has 32 bits, and a field of
// another one to which it cannot belong.
func (s Spec) Validate() error {
	var errs []error
	if len(s) == 0 {
		errs = append(errs, errors.New("dataset: spec: no fields"))
	}
	names := make(map[string]bool, len(s))
	for i, f := range s {
		if f.Name == "" {
			errs = append(errs, fmt.Errorf("dataset: spec: field %d has no name", i))
		}
		if names[f.Name] {
			errs = append(errs, fmt.Errorf("dataset: spec: two fields are named %q", f.Name))
		}
		names[f.Name] = true
		if !f.Dtype.valid() {
			errs = append(errs, fmt.Errorf("dataset: spec: field %q has no dtype", f.Name))
			continue
		}
		if err := checkShape(f); err != nil {
			errs = append(errs, err)
		}
		if err := s.checkKind(f); err != nil {
			errs = append(errs, fmt.Errorf("dataset: spec: field %q: %w", f.Name, err))
		}
	}
	return errors.Join(errs...)
}

// checkKind is the error of a kind that is not known, and of a field that cannot belong to that
// which it names. No field can belong to itself, not even through others.
func (s Spec) checkKind(f Field) error {
	if int(f.Kind) >= len(kinds) {
		return fmt.Errorf("%v is not known", f.Kind)
	}
	if f.Of == "" {
		return nil
	}
	k := s.Index(f.Of)
	if k < 0 {
		return fmt.Errorf("of %q, which is not a field", f.Of)
	}
	switch of := s[k]; {
	case f.Kind == Image:
		return fmt.Errorf("an image of %q: want none", f.Of)
	case f.Kind != Plain && of.Kind == Image:
		return nil
	case f.Kind != Plain && f.Kind != Masks && f.Kind != KeyPoints:
		return fmt.Errorf("of %q: want an image", f.Of)
	case !f.Ragged || !of.Ragged || !of.Kind.isBoxes() && (of.Kind != KeyPoints || f.Kind != Plain):
		return fmt.Errorf("of %q: want ragged fields with a row per element, of boxes or keypoints", f.Of)
	}
	return nil
}

// maxBytes bounds a sample, so that no product of dimensions can overflow.
const maxBytes = min(1<<40, math.MaxInt)

func checkShape(f Field) error {
	bytes := f.Dtype.Size()
	for _, d := range f.Shape {
		if d < 1 {
			return fmt.Errorf("dataset: spec: field %q: shape %v has a dimension below 1", f.Name, f.Shape)
		}
		if d > maxBytes/bytes {
			return fmt.Errorf("dataset: spec: field %q: shape %v is larger than %s", f.Name, f.Shape, figures.Bytes(maxBytes))
		}
		bytes *= d
	}
	return nil
}
