package shards

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/half"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/npy"
)

// A Column says in which file of a sample a field is written: its name is the sample's key,
// a dot, and the extension.
//
// A ragged uint8 field without a shape, such as an encoded image, becomes the file's bytes.
// If the extension is "npy" or ends in ".npy", a field becomes an array of numpy.save.
// Other numbers are written as text, in decimal: "cls". Any other field needs an extension
// that ends in npy.
type Column struct{ Field, Extension string }

// A column is a Column of a spec.
type column struct {
	index     int // of the field
	field     dataset.Field
	extension string
	array     bool // a file of numpy.save
}

// columnsOf checks the columns.
func columnsOf(spec dataset.Spec, columns []Column) ([]column, error) {
	errs := []error{spec.Validate()}
	if len(columns) == 0 {
		errs = append(errs, errors.New("no columns"))
	}
	var list []column
	for _, c := range columns {
		k := spec.Index(c.Field)
		if k < 0 {
			errs = append(errs, fmt.Errorf("column %q: no field %q, only %v", c.Extension, c.Field, spec))
			continue
		}
		f, ext := spec[k], strings.TrimPrefix(c.Extension, ".")
		array := ext == "npy" || strings.HasSuffix(ext, ".npy")
		plain := f.Ragged && f.Dtype == tensor.Uint8 && f.Shape == nil
		text := !f.Ragged && f.Shape == nil && (f.Dtype == tensor.Bool || dense.IsInteger(f.Dtype) || dense.IsFloat(f.Dtype))
		switch {
		case ext == "" || strings.ContainsAny(ext, "/\x00") || ext != strings.ToLower(ext):
			errs = append(errs, fmt.Errorf("column %q: want an extension in lower case, without a slash", c.Extension))
		case slices.ContainsFunc(list, func(o column) bool { return o.extension == ext }):
			errs = append(errs, fmt.Errorf("column %q: it is there twice", c.Extension))
		case array && f.Dtype == half.BFloat16Dtype:
			errs = append(errs, fmt.Errorf("column %q: field %v: NumPy has no bfloat16", c.Extension, f))
		case !array && !plain && !text:
			errs = append(errs, fmt.Errorf("column %q: field %v: want an extension npy, or one that ends in .npy", c.Extension, f))
		}
		list = append(list, column{k, f, ext, array})
	}
	return list, errors.Join(errs...)
}

// row is the field of one of n samples of a batch.
func (c *column) row(b Batch, row, n int) ([]byte, error) {
	data, size := b.Bytes(c.field.Name), c.field.Bytes()
	begin, end := row, row+1
	ends := n
	if c.field.Ragged {
		offsets := b.Offsets(c.field.Name)
		if len(offsets) != n+1 {
			return nil, fmt.Errorf("field %q: %d samples, want %d: one per index", c.field.Name, len(offsets)-1, n)
		}
		begin, end, ends = offsets[row], offsets[row+1], offsets[n]
	}
	if len(data) != ends*size {
		return nil, fmt.Errorf("field %q: %d bytes, want %d: one sample per index", c.field.Name, len(data), ends*size)
	}
	return data[begin*size : end*size], nil
}

// A tarSample writes samples into memory.
type tarSample struct {
	files bytes.Buffer
	value []byte
}

// encode makes the files of a sample. last is the key of the sample before it.
func (t *tarSample) encode(key, last string, columns []column, cells [][]byte) ([]byte, error) {
	base := path.Base(key)
	if key == "" || key == last || strings.HasSuffix(key, "/") || strings.Contains(base, ".") || isMeta([]byte(key)) {
		return nil, fmt.Errorf("key %.200q: want a path, without a dot in its base name, that differs from the one before", key)
	}
	t.files.Reset()
	w := tar.NewWriter(&t.files)
	for k := range columns {
		c := &columns[k]
		data := t.encodeValue(c, cells[k])
		h := &tar.Header{Typeflag: tar.TypeReg, Name: key + "." + c.extension, Size: int64(len(data)), Mode: 0o444}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(data); err != nil {
			return nil, err
		}
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	return t.files.Bytes(), nil
}

// encodeValue is the content of a file.
func (t *tarSample) encodeValue(c *column, cell []byte) []byte {
	t.value = t.value[:0]
	switch {
	case c.array:
		shape := []int(c.field.Shape)
		if c.field.Ragged {
			shape = append([]int{len(cell) / c.field.Bytes()}, shape...)
		}
		t.value = append(append(t.value, npy.HeaderOf(c.field.Dtype, shape)...), cell...)
	case c.field.Ragged:
		return cell
	default:
		t.value = appendText(t.value, c.field.Dtype, cell)
	}
	return t.value
}

// appendText appends a number in decimal, which [setText] reads.
func appendText(to []byte, dtype tensor.Dtype, cell []byte) []byte {
	switch dtype {
	case tensor.Float32:
		return strconv.AppendFloat(to, float64(math.Float32frombits(binary.NativeEndian.Uint32(cell))), 'g', -1, 32)
	case tensor.Float64:
		return strconv.AppendFloat(to, math.Float64frombits(binary.NativeEndian.Uint64(cell)), 'g', -1, 64)
	}
	word := loadWord(cell)
	if isSigned(dtype) {
		return strconv.AppendInt(to, signed(word, len(cell)), 10)
	}
	return strconv.AppendUint(to, word, 10)
}
