package shards

import (
	"archive/tar"
	"bytes"
	"context"
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
	"github.com/penstock-go/penstock/dataset/shards/internal/writing"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/npy"
)

// A TarWriter writes shards for [WebDataset] step by step. If the program is killed, the
// samples remain, and the next TarWriter of that path continues after them. Two files next
// to the shards serve that: path.part, the shard that is being written, and path.journal.
// A shard has its name only when it is complete. Its bytes do not depend on interruptions.
//
// Samples have indices in a source. They are appended in the order of the indices, but
// some may be left out. Only one TarWriter at a time may write a path, and only one
// goroutine at a time may use it.
type TarWriter struct{ w *writing.Writer }

// A TarOption changes what [CreateTar] and [WriteTar] do. The zero TarOption sets nothing.
type TarOption struct{ set func(*tarConfig) }

type tarConfig struct {
	limit  int64
	keys   func(i int) string
	source string
}

// MaxShardBytes sets how many bytes a shard may have. The default is 256 MiB. A sample that is
// larger is a shard of its own.
func MaxShardBytes(bytes int64) TarOption { return TarOption{func(c *tarConfig) { c.limit = bytes }} }

// Keys sets the keys of the samples: key is called with their indices in the source. Keys
// are paths whose base names have no dot, and consecutive ones differ. The default is the
// index, of nine digits or more.
func Keys(key func(i int) string) TarOption { return TarOption{func(c *tarConfig) { c.keys = key }} }

// Origin describes where the samples come from and how they are made: the files, the
// transforms. A TarWriter continues the work of another one only if both have the same
// source, fields, columns and [MaxShardBytes].
func Origin(description string) TarOption {
	return TarOption{func(c *tarConfig) { c.source = description }}
}

// CreateTar begins shards or continues them. path has the conversion of an integer, which
// is the shard's number, as in "out/train-%06d.tar". The folder must exist.
//
// To continue, it reads the samples of path.part, and keeps them up to the first ones with
// a wrong checksum. [TarWriter.Next] is then the first index to append. It is an error if
// path.journal belongs to another source, fields, columns or shard size, and if there are
// files with the names of shards that the journal does not have: they may be of an earlier
// run, and the caller removes them.
func CreateTar(ctx context.Context, path string, spec dataset.Spec, columns []Column, options ...TarOption) (*TarWriter, error) {
	c := tarConfig{limit: 256 << 20, keys: func(i int) string { return fmt.Sprintf("%09d", i) }}
	for _, option := range options {
		if option.set != nil {
			option.set(&c)
		}
	}
	list, err := columnsOf(spec, columns)
	if err != nil {
		return nil, fmt.Errorf("shards: write %s: %w", path, err)
	}
	config := writing.Config{Package: "shards", Path: path, Spec: spec, Limit: c.limit, Format: &tarSample{columns: list, keys: c.keys}}
	described := []string{"tar", c.source}
	for _, c := range list {
		config.Columns = append(config.Columns, c.field)
		described = append(described, c.field.Name, c.extension)
	}
	config.Options = fmt.Sprintf("%q", described)
	w, err := writing.New(ctx, config)
	if err != nil {
		return nil, err
	}
	return &TarWriter{w}, nil
}

// WriteTar writes all samples of ds as shards for [WebDataset], as [CreateTar] does. If it
// is interrupted, the next call continues. Random transforms draw the numbers of seed 0 and
// epoch 0. It reads the samples one by one: with a loader, [TarWriter.AppendBatch] writes
// what several workers make.
func WriteTar(ctx context.Context, path string, ds dataset.Dataset, columns []Column, options ...TarOption) error {
	if ds == nil {
		return fmt.Errorf("shards: write %s: the dataset is nil", path)
	}
	if ds.Len() < 0 {
		return fmt.Errorf("shards: write %s: the length of %T is unknown", path, ds)
	}
	w, err := CreateTar(ctx, path, ds.Spec(), columns, options...)
	if err != nil {
		return err
	}
	return w.w.AppendAll(ctx, ds)
}

// Next is the index after that of the last sample that was appended.
func (w *TarWriter) Next() int { return w.w.Next() }

// Shards is the number of shards that are complete.
func (w *TarWriter) Shards() int { return w.w.Shards() }

// AppendBatch writes a batch of samples. indices are their indices in the source, which
// must increase. When it returns, the samples survive a kill of the program, but not a
// crash of the machine.
//
// A kill may leave a part of a batch. So a loop over a loader in ascending order continues
// in the middle of it:
//
//	from := l.Position(0)
//	from.Draw = w.Next()
//	for batch, err := range l.From(ctx, from, 1) {
func (w *TarWriter) AppendBatch(indices []int, b dataset.Batch) error {
	return w.w.AppendBatch(indices, b)
}

// Finish completes the last shard, removes the journal and closes the TarWriter.
func (w *TarWriter) Finish() error { return w.w.Finish() }

// Close closes the files. If the TarWriter is not finished, the next one continues.
func (w *TarWriter) Close() error { return w.w.Close() }

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
