package shards

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/files"
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
		plain := f.Ragged && f.Dtype == dataset.Uint8 && f.Shape == nil
		text := !f.Ragged && f.Shape == nil && (f.Dtype.IsInteger() || slices.Contains([]dataset.Dtype{dataset.Bool, dataset.Float32, dataset.Float64}, f.Dtype))
		switch {
		case ext == "" || strings.ContainsAny(ext, "/\x00") || ext != strings.ToLower(ext):
			errs = append(errs, fmt.Errorf("column %q: want an extension in lower case, without a slash", c.Extension))
		case slices.ContainsFunc(list, func(o column) bool { return o.extension == ext }):
			errs = append(errs, fmt.Errorf("column %q: it is there twice", c.Extension))
		case array && f.Dtype == dataset.BFloat16:
			errs = append(errs, fmt.Errorf("column %q: field %v: NumPy has no bfloat16", c.Extension, f))
		case !array && !plain && !text:
			errs = append(errs, fmt.Errorf("column %q: field %v: want an extension npy, or one that ends in .npy", c.Extension, f))
		}
		list = append(list, column{f, ext, array})
	}
	return list, errors.Join(errs...)
}

// A tarSample writes samples into memory.
type tarSample struct {
	columns []column
	keys    func(i int) string
	last    string // key
	files   bytes.Buffer
	value   []byte
}

func (t *tarSample) Resume(next int) {
	if next > 0 {
		t.last = t.keys(next - 1)
	}
}

func (t *tarSample) Overhead() int64 { return tarEnd }

func (t *tarSample) Complete(path string) string { return path + ".part" }

// tarEnd is how many zeros follow the last file.
const tarEnd = 2 * files.TarBlock

// Finish writes the zeros at the end.
func (t *tarSample) Finish(part *os.File, size int64, _ string) (int64, error) {
	_, err := part.Write(make([]byte, tarEnd))
	return size + tarEnd, errors.Join(err, part.Sync())
}

// Encode makes the files of a sample.
func (t *tarSample) Encode(index int, cells [][]byte) ([]byte, error) {
	key := t.keys(index)
	base := path.Base(key)
	if key == "" || key == t.last || strings.HasSuffix(key, "/") || strings.Contains(base, ".") || isMeta([]byte(key)) {
		return nil, fmt.Errorf("key %.200q: want a path, without a dot in its base name, that differs from the one before", key)
	}
	t.files.Reset()
	w := tar.NewWriter(&t.files)
	for k := range t.columns {
		c := &t.columns[k]
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
	t.last = key
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
func appendText(to []byte, dtype dataset.Dtype, cell []byte) []byte {
	switch dtype {
	case dataset.Float32:
		return strconv.AppendFloat(to, float64(math.Float32frombits(binary.NativeEndian.Uint32(cell))), 'g', -1, 32)
	case dataset.Float64:
		return strconv.AppendFloat(to, math.Float64frombits(binary.NativeEndian.Uint64(cell)), 'g', -1, 64)
	}
	word := loadWord(cell)
	if isSigned(dtype) {
		return strconv.AppendInt(to, signed(word, len(cell)), 10)
	}
	return strconv.AppendUint(to, word, 10)
}
