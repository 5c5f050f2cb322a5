package shards

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/journal"
	"github.com/penstock-go/penstock/internal/npy"
	"github.com/penstock-go/penstock/internal/slots"
)

// A TarWriter writes shards for [WebDataset] step by step. If the program is killed, the
// samples remain, and the next TarWriter of that path continues after them. Two files next
// to the shards serve that: path.part, the shard that is being written, and path.journal.
// A shard has its name only when it is complete. Its bytes do not depend on interruptions.
//
// Samples have indices in a source. They are appended in the order of the indices, but
// some may be left out. Only one TarWriter at a time may write a path, and only one
// goroutine at a time may use it.
type TarWriter struct {
	path     string
	spec     dataset.Spec
	config   tarConfig
	sample   tarSample
	name     files.Pattern
	file     *journal.Writing // of the samples of the shard that is being written
	finished []string         // notes about the shards that are complete: "shard <next> <bytes>"
	begun    bool             // whether all complete shards are known: notes are about samples from then on
	next     int              // in the source
}

// noteEvery is how many bytes may be lost.
const noteEvery = 4 << 20

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
	w := &TarWriter{path: path, spec: spec, config: c, sample: tarSample{columns: list, keys: c.keys}}
	var ok bool
	if w.name, ok = files.ParsePattern(filepath.Clean(path)); !ok {
		return nil, fmt.Errorf("shards: write %s: want a path with the number of the shard, such as train-%%06d", path)
	}
	if c.limit < 1 {
		return nil, fmt.Errorf("shards: MaxShardBytes(%d): want 1 or more", c.limit)
	}
	described := []string{"tar", c.source}
	for _, c := range list {
		described = append(described, c.field.String(), c.extension)
	}
	text, err := json.Marshal([]any{spec.String(), described, c.limit})
	if err != nil {
		return nil, fmt.Errorf("shards: write %s: %w", path, err)
	}
	w.file, err = journal.Begin(ctx, "shards", path, path, fmt.Sprintf("shards 3 %x", sha256.Sum256(text)), w.ready, w.restore)
	if err != nil {
		return nil, err
	}
	if w.next > 0 {
		w.sample.last = c.keys(w.next - 1)
	}
	return w, nil
}

// WriteTar writes all samples of ds, as [CreateTar] does. If it is interrupted, the next call
// continues. Random transforms draw the numbers of seed 0 and epoch 0. It reads the samples
// one by one: with a loader, [TarWriter.AppendBatch] writes what several workers make.
func WriteTar(ctx context.Context, path string, ds dataset.Dataset, columns []Column, options ...TarOption) (err error) {
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
	defer func() { err = errors.Join(err, w.Close()) }()
	if w.next > ds.Len() {
		return w.file.Wrap(fmt.Errorf("the journal has %d samples, the dataset %d", w.next, ds.Len()))
	}
	r, err := ds.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	slot := dataset.NewSlot(w.spec...)
	cells := make([][]byte, len(w.sample.columns))
	for i := w.next; i < ds.Len(); i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		slots.Slot(slot).Draw().Reset(0, 0, int64(i))
		if err := r.Place(ctx, i, slot); err != nil {
			return w.file.Wrap(fmt.Errorf("sample %d (%s): %w", i, dataset.Name(ds, i), err))
		}
		for k, c := range w.sample.columns {
			cells[k] = slot.Cell(w.spec.Index(c.field.Name)).Bytes()
		}
		if err := w.append(i, cells); err != nil {
			return err
		}
	}
	return w.Finish()
}

// Next is the index after that of the last sample that was appended.
func (w *TarWriter) Next() int { return w.next }

// Shards is the number of shards that are complete.
func (w *TarWriter) Shards() int { return len(w.finished) }

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
	if err := w.file.Err(); err != nil {
		return err
	}
	if b.Spec().String() != w.spec.String() {
		return w.file.Wrap(fmt.Errorf("a batch of %v, want %v", b.Spec(), w.spec))
	}
	var fields []dataset.Field
	for _, c := range w.sample.columns {
		fields = append(fields, c.field)
	}
	rows, err := journal.Rows(b, fields, len(indices))
	if err != nil {
		return w.file.Wrap(err)
	}
	cells := make([][]byte, len(rows))
	for row, index := range indices {
		for k := range rows {
			cells[k] = rows[k](row)
		}
		if err := w.append(index, cells); err != nil {
			return err
		}
	}
	return w.file.Do(w.note)
}

// append writes a sample. cells has the value of every column.
func (w *TarWriter) append(index int, cells [][]byte) error {
	if err := w.file.Err(); err != nil {
		return err
	}
	if index < w.next {
		return w.file.Wrap(fmt.Errorf("sample %d: indices must increase, the last one was %d", index, w.next-1))
	}
	data, err := w.sample.encode(index, cells)
	if err != nil {
		return w.file.Wrap(fmt.Errorf("sample %d: %w", index, err))
	}
	return w.file.Do(func() error {
		log := w.file.Log
		if size := log.Size(); size > 0 && size+int64(len(data))+tarEnd > w.config.limit {
			if err := w.finishShard(); err != nil {
				return err
			}
		}
		if _, err := log.Write(data); err != nil {
			return err
		}
		w.next = index + 1
		if log.Pending() >= noteEvery {
			return w.note()
		}
		return nil
	})
}

// note makes what was appended survive a kill of the program.
func (w *TarWriter) note() error {
	log := w.file.Log
	if log.Pending() == 0 {
		return nil
	}
	log.Note("%d", w.next)
	return log.Flush()
}

// finishShard completes the part and begins another one. The journal calls it a shard
// before it has its name.
func (w *TarWriter) finishShard() error {
	log := w.file.Log
	part, err := log.Part()
	if err != nil {
		return err
	}
	_, err = part.Write(make([]byte, tarEnd))
	if err := errors.Join(err, part.Sync()); err != nil {
		return err
	}
	finished := append(w.finished, fmt.Sprintf("shard %d %d", w.next, log.Size()+tarEnd))
	if err := log.Restart(finished, func() error { return os.Rename(w.path+".part", w.shardPath(len(w.finished))) }); err != nil {
		return err
	}
	w.finished = finished
	return nil
}

// Finish completes the last shard, removes the journal and closes the Writer.
func (w *TarWriter) Finish() error {
	return w.file.Finish(func() error {
		if w.file.Log.Size() > 0 {
			if err := w.finishShard(); err != nil {
				return err
			}
		}
		return w.file.Log.Remove()
	})
}

// Close closes the files. If the Writer is not finished, the next one continues.
func (w *TarWriter) Close() error {
	var err error
	if w.file.Err() == nil {
		err = w.file.Do(w.note)
	}
	return errors.Join(err, w.file.Close())
}

// restore reads a note: "shard <next> <bytes>" of a complete shard, or "<next>" of some samples.
func (w *TarWriter) restore(n journal.Note) bool {
	var next int
	var size int64
	if _, err := fmt.Sscanf(n.Text, "shard %d %d", &next, &size); err == nil {
		if n.Bytes > 0 || w.begun || next <= w.next {
			return false
		}
		w.finished = append(w.finished, n.Text)
	} else if _, err := fmt.Sscanf(n.Text, "%d", &next); err != nil || n.Bytes == 0 || next <= w.next {
		return false
	}
	w.next = next
	return true
}

// ready gives the last complete shard its name, if the program was killed before that, looks for
// the others, and refuses files with names of shards that are still to be written.
func (w *TarWriter) ready() error {
	w.begun = true
	for k, note := range w.finished {
		var next int
		var want int64
		if _, err := fmt.Sscanf(note, "shard %d %d", &next, &want); err != nil {
			return err
		}
		info, err := os.Stat(w.shardPath(k))
		if errors.Is(err, os.ErrNotExist) && k == len(w.finished)-1 {
			complete := w.path + ".part"
			if info, err = os.Stat(complete); err == nil && info.Size() == want {
				err = os.Rename(complete, w.shardPath(k))
				journal.SyncFolder(complete)
			}
		}
		if err != nil {
			return err
		}
		if info.Size() != want {
			return fmt.Errorf("%s has %d bytes, %d were written", w.shardPath(k), info.Size(), want)
		}
	}
	dir := filepath.Dir(w.path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if k, ok := w.name.Number(filepath.Join(dir, e.Name())); ok && k >= int64(len(w.finished)) {
			return fmt.Errorf("%s exists already, and there is no journal that has it: remove it first", e.Name())
		}
	}
	return nil
}

func (w *TarWriter) shardPath(k int) string { return w.name.Name(int64(k)) }

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

// tarEnd is how many zeros follow the last file.
const tarEnd = 2 * files.TarBlock

// encode makes the files of a sample. They are valid until the next call.
func (t *tarSample) encode(index int, cells [][]byte) ([]byte, error) {
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
