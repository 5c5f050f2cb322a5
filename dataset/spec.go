package dataset

import (
	"errors"
	"fmt"
	"math"
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
}

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

// Validate reports everything that is wrong with the spec: no fields, a name
// that is missing or used twice, no dtype, a dimension
// below 1, a shape of more than 1 TiB, or 2 GiB where an int has 32 bits.
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
	}
	return errors.Join(errs...)
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
