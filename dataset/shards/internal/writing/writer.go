// Package writing writes shards step by step, and continues after a kill of the program. A
// [Format] says how samples become shards.
//
// The samples of the shard that is being written are in a file of their own, path.part, and
// a journal says which of them are whole. A shard has its name only when it is complete.
package writing

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/slots"
)

// A Format is how samples lie in a part, and how a part becomes a shard. One goroutine at a
// time uses it.
type Format interface {
	// Resume is told the index after the last sample that is there, before the first call
	// of Encode.
	Resume(next int)
	// Encode returns the bytes of a sample in the part. They are valid until the next call.
	// cells has the value of every column.
	Encode(index int, cells [][]byte) ([]byte, error)
	// Overhead is how many bytes a shard has besides those of its samples, about.
	Overhead() int64
	// Complete is the name of the file that Finish makes: before it has the shard's name. It
	// may be the part itself.
	Complete(path string) string
	// Finish makes a shard of the part, which has size bytes and is closed afterwards. It
	// returns the bytes of the shard, which must be on the disk.
	Finish(part *os.File, size int64, path string) (int64, error)
}

// A Config is what a Writer is made of.
type Config struct {
	Package string // for errors
	Path    string // with the conversion of an integer
	Spec    dataset.Spec
	Columns []Column
	Limit   int64  // bytes of a shard
	Options string // what the samples depend on besides the spec and the limit
	Format  Format
}

// A Column is a field that is written.
type Column struct {
	Index int // of the field
	Field dataset.Field
}

// A Writer appends samples to shards.
type Writer struct {
	Config
	name     files.Pattern
	part     *os.File
	out      *bufio.Writer // into part
	journal  *os.File
	finished []finishedShard
	size     int64  // of part, in bytes
	noted    int64  // of these, how many the journal has
	sum      uint32 // of the others
	next     int    // in the source
	err      error  // of writing, after which nothing more is written
	done     bool
}

// A finishedShard is a shard that is complete.
type finishedShard struct {
	next int   // in the source, after its last sample
	size int64 // bytes
}

// A Batch is some samples with the fields of a spec.
type Batch interface {
	Spec() dataset.Spec
	Bytes(field string) []byte
	Offsets(field string) []int
}

// New begins shards or continues them.
func New(ctx context.Context, c Config) (*Writer, error) {
	w := &Writer{Config: c}
	var ok bool
	if w.name, ok = files.ParsePattern(filepath.Clean(c.Path)); !ok {
		return nil, fmt.Errorf("%s: write %s: want a path with the number of the shard, such as train-%%06d", c.Package, c.Path)
	}
	if c.Limit < 1 {
		return nil, fmt.Errorf("%s: ShardSize(%d): want 1 or more", c.Package, c.Limit)
	}
	if err := w.open(ctx); err != nil {
		return nil, errors.Join(w.wrote(err), w.closeFiles())
	}
	c.Format.Resume(w.next)
	return w, nil
}

// AppendAll writes the samples of a dataset from the next one on, finishes the shards and
// closes the Writer.
func (w *Writer) AppendAll(ctx context.Context, ds dataset.Dataset) (err error) {
	defer func() { err = errors.Join(err, w.Close()) }()
	if w.next > ds.Len() {
		return fmt.Errorf("%s: write %s: the journal has %d samples, the dataset %d", w.Package, w.Path, w.next, ds.Len())
	}
	r, err := ds.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	slot := dataset.NewSlot(w.Spec...)
	cells := make([][]byte, len(w.Columns))
	for i := w.next; i < ds.Len(); i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		slots.Slot(slot).Draw().Reset(0, 0, int64(i))
		if err := r.Place(ctx, i, slot); err != nil {
			return fmt.Errorf("%s: write %s: sample %d (%s): %w", w.Package, w.Path, i, dataset.Name(ds, i), err)
		}
		for k, c := range w.Columns {
			cells[k] = slot.Cell(c.Index).Bytes()
		}
		if err := w.append(i, cells); err != nil {
			return err
		}
	}
	return w.Finish()
}

// wrote adds the path to an error.
func (w *Writer) wrote(err error) error {
	name := w.Path
	if e, ok := errors.AsType[*os.PathError](err); ok {
		name = e.Path
	}
	return fmt.Errorf("%s: write %s: %w", w.Package, name, files.Cause(err))
}

// Next is the index after that of the last sample that was appended.
func (w *Writer) Next() int { return w.next }

// Shards is the number of shards that are complete.
func (w *Writer) Shards() int { return len(w.finished) }

// AppendBatch writes a batch of samples with these indices.
func (w *Writer) AppendBatch(indices []int, b Batch) error {
	if w.err != nil {
		return w.err
	}
	if b.Spec().String() != w.Spec.String() {
		return fmt.Errorf("%s: write %s: a batch of %v, want %v", w.Package, w.Path, b.Spec(), w.Spec)
	}
	cells := make([][]byte, len(w.Columns))
	for row, index := range indices {
		for k := range w.Columns {
			var err error
			if cells[k], err = w.Columns[k].row(b, row, len(indices)); err != nil {
				return fmt.Errorf("%s: write %s: %w", w.Package, w.Path, err)
			}
		}
		if err := w.append(index, cells); err != nil {
			return err
		}
	}
	return w.note()
}

// row is the field of one of n samples of a batch.
func (c *Column) row(b Batch, row, n int) ([]byte, error) {
	data, size := b.Bytes(c.Field.Name), c.Field.Bytes()
	begin, end := row, row+1
	ends := n
	if c.Field.Ragged {
		offsets := b.Offsets(c.Field.Name)
		if len(offsets) != n+1 {
			return nil, fmt.Errorf("field %q: %d samples, want %d: one per index", c.Field.Name, len(offsets)-1, n)
		}
		begin, end, ends = offsets[row], offsets[row+1], offsets[n]
	}
	if len(data) != ends*size {
		return nil, fmt.Errorf("field %q: %d bytes, want %d: one sample per index", c.Field.Name, len(data), ends*size)
	}
	return data[begin*size : end*size], nil
}

// append writes a sample. cells has the value of every column.
func (w *Writer) append(index int, cells [][]byte) error {
	if w.err != nil {
		return w.err
	}
	if index < w.next {
		return fmt.Errorf("%s: write %s: sample %d: indices must increase, the last one was %d", w.Package, w.Path, index, w.next-1)
	}
	data, err := w.Format.Encode(index, cells)
	if err != nil {
		return fmt.Errorf("%s: write %s: sample %d: %w", w.Package, w.Path, index, err)
	}
	if w.size > 0 && w.size+int64(len(data))+w.Format.Overhead() > w.Limit {
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
	w.next = index + 1
	if w.size-w.noted >= noteEvery {
		return w.note()
	}
	return nil
}

// Finish completes the last shard, removes the journal and closes the Writer.
func (w *Writer) Finish() error {
	if w.err != nil {
		return w.err
	}
	if err := w.finish(); err != nil {
		w.err = w.wrote(err)
		return errors.Join(w.err, w.closeFiles())
	}
	w.done = true
	w.err = fmt.Errorf("%s: write %s: finished", w.Package, w.Path)
	return nil
}

func (w *Writer) finish() error {
	if w.size > 0 {
		if err := w.finishShard(); err != nil {
			return err
		}
	}
	if err := w.closeFiles(); err != nil {
		return err
	}
	for _, left := range []string{w.Path + ".part", w.Format.Complete(w.Path), w.Path + newJournal} {
		if err := os.Remove(left); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return os.Remove(w.Path + ".journal")
}

// Close closes the files. If the Writer is not finished, the next one continues.
func (w *Writer) Close() error {
	if w.done {
		return nil
	}
	var err error
	if w.err == nil {
		err = w.note()
		w.err = fmt.Errorf("%s: write %s: closed", w.Package, w.Path)
	}
	if e := w.closeFiles(); e != nil {
		err = errors.Join(err, w.wrote(e))
	}
	return err
}

func (w *Writer) closeFiles() error {
	var errs []error
	for _, f := range []**os.File{&w.part, &w.journal} {
		if *f != nil {
			errs = append(errs, (*f).Close())
			*f = nil
		}
	}
	return errors.Join(errs...)
}
