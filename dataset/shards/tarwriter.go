package shards

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/files"
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
	path    string
	name    files.Pattern
	spec    dataset.Spec
	columns []column
	tarConfig
	sample tarSample

	part     *os.File
	out      *bufio.Writer // into part
	journal  *os.File
	finished []finishedShard
	size     int64  // of part, in bytes
	noted    int64  // of these, how many the journal has
	sum      uint32 // of the others
	next     int    // in the source
	last     string // key
	err      error  // of writing, after which nothing more is written
	done     bool
}

// A finishedShard is a shard that is complete.
type finishedShard struct {
	next int   // in the source, after its last sample
	size int64 // bytes
}

// A TarOption changes what [CreateTar] and [WriteTar] do. The zero TarOption sets nothing.
type TarOption struct{ set func(*tarConfig) }

type tarConfig struct {
	limit  int64
	keys   func(i int) string
	source string
}

// ShardSize sets how many bytes a shard may have. The default is 256 MiB. A sample that is
// larger is a shard of its own.
func ShardSize(bytes int64) TarOption { return TarOption{func(c *tarConfig) { c.limit = bytes }} }

// Keys sets the keys of the samples: key is called with their indices in the source. Keys
// are paths whose base names have no dot, and consecutive ones differ. The default is the
// index, of nine digits or more.
func Keys(key func(i int) string) TarOption { return TarOption{func(c *tarConfig) { c.keys = key }} }

// Source describes where the samples come from and how they are made: the files, the
// transforms. A TarWriter continues the work of another one only if both have the same
// source, fields, columns and [ShardSize].
func Source(description string) TarOption {
	return TarOption{func(c *tarConfig) { c.source = description }}
}

// A Batch is some samples with the fields of a spec. A batch of package loader is one.
type Batch interface {
	// Spec describes the fields.
	Spec() dataset.Spec
	// Bytes is a field of all samples, one after the other, in the machine's byte order.
	Bytes(field string) []byte
	// Offsets says where the samples of a ragged field begin and end, in elements: one
	// number more than there are samples.
	Offsets(field string) []int
}

// CreateTar begins shards or continues them. path has the conversion of an integer, which
// is the shard's number, as in "out/train-%06d.tar". The folder must exist.
//
// To continue, it reads the samples of path.part, and keeps them up to the first ones with
// a wrong checksum. [TarWriter.Next] is then the first index to append. It is an error if
// path.journal belongs to another source, fields, columns or shard size, and if there is
// a first shard but no journal.
func CreateTar(ctx context.Context, path string, spec dataset.Spec, columns []Column, options ...TarOption) (*TarWriter, error) {
	w := &TarWriter{path: path, spec: spec, tarConfig: tarConfig{limit: 256 << 20, keys: func(i int) string { return fmt.Sprintf("%09d", i) }}}
	for _, option := range options {
		if option.set != nil {
			option.set(&w.tarConfig)
		}
	}
	var ok bool
	if w.name, ok = files.ParsePattern(path); !ok {
		return nil, fmt.Errorf("shards: write %s: want a path with the number of the shard, such as train-%%06d.tar", path)
	}
	if w.limit < 1 {
		return nil, fmt.Errorf("shards: ShardSize(%d): want 1 or more", w.limit)
	}
	var err error
	if w.columns, err = columnsOf(spec, columns); err != nil {
		return nil, fmt.Errorf("shards: write %s: %w", path, err)
	}
	if err := w.open(ctx); err != nil {
		return nil, errors.Join(w.wrote(err), w.closeFiles())
	}
	return w, nil
}

// WriteTar writes all samples of ds as shards for [WebDataset], as [CreateTar] does. If it
// is interrupted, the next call continues. Random transforms draw the numbers of seed 0 and
// epoch 0. It reads the samples one by one: with a loader, [TarWriter.AppendBatch] writes
// what several workers make.
func WriteTar(ctx context.Context, path string, ds dataset.Dataset, columns []Column, options ...TarOption) (err error) {
	if ds.Len() < 0 {
		return fmt.Errorf("shards: write %s: the length of %T is unknown", path, ds)
	}
	w, err := CreateTar(ctx, path, ds.Spec(), columns, options...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if w.Next() > ds.Len() {
		return fmt.Errorf("shards: write %s: the journal has %d samples, the dataset %d", path, w.Next(), ds.Len())
	}
	if err := w.appendAll(ctx, ds); err != nil {
		return err
	}
	return w.Finish()
}

// appendAll writes the samples from the next one on.
func (w *TarWriter) appendAll(ctx context.Context, ds dataset.Dataset) (err error) {
	r, err := ds.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	slot := dataset.NewSlot(w.spec...)
	cells := make([][]byte, len(w.columns))
	for i := w.next; i < ds.Len(); i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		slots.Slot(slot).Draw().Reset(0, 0, int64(i))
		if err := r.Place(ctx, i, slot); err != nil {
			return fmt.Errorf("shards: write %s: sample %d (%s): %w", w.path, i, dataset.Name(ds, i), err)
		}
		for k, c := range w.columns {
			cells[k] = slot.Cell(c.index).Bytes()
		}
		if err := w.append(i, cells); err != nil {
			return err
		}
	}
	return nil
}

// wrote adds the path to an error.
func (w *TarWriter) wrote(err error) error {
	name := w.path
	if e, ok := errors.AsType[*os.PathError](err); ok {
		name = e.Path
	}
	return fmt.Errorf("shards: write %s: %w", name, files.Cause(err))
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
func (w *TarWriter) AppendBatch(indices []int, b Batch) error {
	if w.err != nil {
		return w.err
	}
	if b.Spec().String() != w.spec.String() {
		return fmt.Errorf("shards: write %s: a batch of %v, want %v", w.path, b.Spec(), w.spec)
	}
	cells := make([][]byte, len(w.columns))
	for row, index := range indices {
		for k, c := range w.columns {
			var err error
			if cells[k], err = c.row(b, row, len(indices)); err != nil {
				return fmt.Errorf("shards: write %s: %w", w.path, err)
			}
		}
		if err := w.append(index, cells); err != nil {
			return err
		}
	}
	return w.note()
}

// append writes a sample. cells has the value of every column.
func (w *TarWriter) append(index int, cells [][]byte) error {
	if w.err != nil {
		return w.err
	}
	if index < w.next {
		return fmt.Errorf("shards: write %s: sample %d: indices must increase, the last one was %d", w.path, index, w.next-1)
	}
	key := w.keys(index)
	data, err := w.sample.encode(key, w.last, w.columns, cells)
	if err != nil {
		return fmt.Errorf("shards: write %s: sample %d: %w", w.path, index, err)
	}
	if w.size > 0 && w.size+int64(len(data)+tarEnd) > w.limit {
		if err := w.finishShard(); err != nil {
			w.err = w.wrote(err)
			return w.err
		}
	}
	if _, err := w.out.Write(data); err != nil {
		w.err = w.wrote(err)
		return w.err
	}
	w.sum = crc32.Update(w.sum, castagnoli(), data)
	w.size += int64(len(data))
	w.next, w.last = index+1, key
	if w.size-w.noted >= noteEvery {
		return w.note()
	}
	return nil
}

// Finish completes the last shard, removes the journal and closes the TarWriter.
func (w *TarWriter) Finish() error {
	if w.err != nil {
		return w.err
	}
	if err := w.finish(); err != nil {
		w.err = w.wrote(err)
		return errors.Join(w.err, w.closeFiles())
	}
	w.done = true
	w.err = fmt.Errorf("shards: write %s: finished", w.path)
	return nil
}

func (w *TarWriter) finish() error {
	if w.size > 0 {
		if err := w.finishShard(); err != nil {
			return err
		}
	}
	if err := w.closeFiles(); err != nil {
		return err
	}
	if err := os.Remove(w.path + ".part"); err != nil {
		return err
	}
	if err := os.Remove(w.path + newJournal); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err // left by a kill
	}
	return os.Remove(w.path + ".journal")
}

// Close closes the files. If the TarWriter is not finished, the next one continues.
func (w *TarWriter) Close() error {
	if w.done {
		return nil
	}
	var err error
	if w.err == nil {
		err = w.note()
		w.err = fmt.Errorf("shards: write %s: closed", w.path)
	}
	if e := w.closeFiles(); e != nil {
		err = errors.Join(err, w.wrote(e))
	}
	return err
}

func (w *TarWriter) closeFiles() error {
	var errs []error
	for _, f := range []**os.File{&w.part, &w.journal} {
		if *f != nil {
			errs = append(errs, (*f).Close())
			*f = nil
		}
	}
	return errors.Join(errs...)
}
