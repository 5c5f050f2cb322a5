package dataset

import (
	"encoding/binary"
	"fmt"
	"reflect"

	"github.com/penstock-go/penstock/internal/slots"
)

// fixedField is the index of a field, which must be of fixed size.
func fixedField(ds Dataset, name string) (int, error) {
	if err := given("write", ds); err != nil {
		return 0, err
	}
	spec := ds.Spec()
	if err := spec.Validate(); err != nil {
		return 0, err
	}
	k := spec.Index(name)
	switch {
	case k < 0:
		return 0, fmt.Errorf("dataset: no field %q: the dataset has %v", name, spec)
	case spec[k].Ragged:
		return 0, fmt.Errorf("dataset: field %v is ragged: want a fixed size", spec[k])
	}
	return k, nil
}

// imageField is the index of "image", which must be uint8 and of a shape that check
// accepts.
func imageField(ds Dataset, want string, check func(shape Shape) bool) (int, error) {
	k, err := fixedField(ds, "image")
	if err != nil {
		return 0, err
	}
	if f := ds.Spec()[k]; f.Dtype != Uint8 || !check(f.Shape) {
		return 0, fmt.Errorf("dataset: field %v: want uint8 %s", f, want)
	}
	return k, nil
}

// labelField is the index of a field, which must be one integer.
func labelField(ds Dataset, name string) (int, error) {
	k, err := fixedField(ds, name)
	if err != nil {
		return 0, err
	}
	f := ds.Spec()[k]
	if f.Elements() != 1 || !f.Dtype.IsInteger() {
		return 0, fmt.Errorf("dataset: field %v: want one integer", f)
	}
	return k, nil
}

// label is the integer in c, which must be below classes.
func label(c Cell, classes int) (byte, error) {
	v := wholeNumber(c)
	if v >= uint64(classes) {
		return 0, fmt.Errorf("label %d, want 0 to %d", int64(v), classes-1)
	}
	return byte(v), nil
}

// wholeNumber is the integer in c. A negative one becomes larger than any label.
func wholeNumber(c Cell) uint64 {
	b := c.Bytes()
	switch slots.Cell(c).Dtype().Kind() {
	case reflect.Int8:
		return uint64(int8(b[0]))
	case reflect.Uint8:
		return uint64(b[0])
	case reflect.Int16:
		return uint64(int16(binary.NativeEndian.Uint16(b)))
	case reflect.Uint16:
		return uint64(binary.NativeEndian.Uint16(b))
	case reflect.Int32:
		return uint64(int32(binary.NativeEndian.Uint32(b)))
	case reflect.Uint32:
		return uint64(binary.NativeEndian.Uint32(b))
	}
	return binary.NativeEndian.Uint64(b)
}
