// Package writing writes shards step by step, and continues after a kill of the program. A
// [Format] says how samples become shards.
//
// The samples of the shard that is being written are in a log of package journal, at the path. A
// shard has its name only when it is complete.
package writing

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/journal"
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
	Columns []dataset.Field // that are written
	Limit   int64           // bytes of a shard
	Options string          // what the samples depend on besides the spec and the limit
	Format  Format
}

// noteEvery is how many bytes may be lost.
const noteEvery = 4 << 20

// A Writer writes shards step by step. If the program is killed, the samples remain, and the next
// Writer of that path continues after them. path.part, the samples of the shard that is being
// written, and path.journal serve that. A shard has its name only when it is complete. Its bytes do
// not depend on interruptions.
//
// Samples have indices in a source. They are appended in the order of the indices, but
// some may be left out. Only one Writer at a time may write a path, and only one
// goroutine at a time may use it.
type Writer struct {
	config   Config
	name     files.Pattern
	log      *journal.Log
	finished []string // notes about the shards that are complete: "shard <next> <bytes>"
	begun    bool     // whether all complete shards are known: notes are about samples from then on
	next     int      // in the source
	err      error    // of writing, after which nothing more is written
	done     bool
}

// New begins shards or continues them.
func New(ctx context.Context, c Config) (*Writer, error) {
	w := &Writer{config: c}
	var ok bool
	if w.name, ok = files.ParsePattern(filepath.Clean(c.Path)); !ok {
		return nil, fmt.Errorf("%s: write %s: want a path with the number of the shard, such as train-%%06d", c.Package, c.Path)
	}
	if c.Limit < 1 {
		return nil, fmt.Errorf("%s: MaxShardBytes(%d): want 1 or more", c.Package, c.Limit)
	}
	text, err := json.Marshal([]any{c.Spec.String(), c.Options, c.Limit})
	if err == nil {
		w.log, err = journal.Open(ctx, c.Path, fmt.Sprintf("shards 2 %x", sha256.Sum256(text)), w.ready, w.restore)
	}
	if err != nil {
		return nil, w.wrote(err)
	}
	c.Format.Resume(w.next)
	return w, nil
}

// restore reads a note: "shard <next> <bytes>" of a complete shard, or "<next>" of some samples.
func (w *Writer) restore(n journal.Note) bool {
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
func (w *Writer) ready() error {
	w.begun = true
	for k, note := range w.finished {
		var next int
		var want int64
		if _, err := fmt.Sscanf(note, "shard %d %d", &next, &want); err != nil {
			return err
		}
		info, err := os.Stat(w.shardPath(k))
		if errors.Is(err, os.ErrNotExist) && k == len(w.finished)-1 {
			complete := w.config.Format.Complete(w.config.Path)
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
	dir := filepath.Dir(w.config.Path)
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

func (w *Writer) shardPath(k int) string { return w.name.Name(int64(k)) }

// wrote adds the path to an error.
func (w *Writer) wrote(err error) error {
	name := w.config.Path
	if e, ok := errors.AsType[*os.PathError](err); ok {
		name = e.Path
	}
	return fmt.Errorf("%s: write %s: %w", w.config.Package, name, files.Cause(err))
}

// Next is the index after that of the last sample that was appended.
func (w *Writer) Next() int { return w.next }

// Shards is the number of shards that are complete.
func (w *Writer) Shards() int { return len(w.finished) }

// AppendAll writes the samples of a dataset from the next one on, finishes the shards and
// closes the Writer.
func (w *Writer) AppendAll(ctx context.Context, ds dataset.Dataset) (err error) {
	defer func() { err = errors.Join(err, w.Close()) }()
	if w.next > ds.Len() {
		return w.wrote(fmt.Errorf("the journal has %d samples, the dataset %d", w.next, ds.Len()))
	}
	r, err := ds.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	slot := dataset.NewSlot(w.config.Spec...)
	cells := make([][]byte, len(w.config.Columns))
	for i := w.next; i < ds.Len(); i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		slots.Slot(slot).Draw().Reset(0, 0, int64(i))
		if err := r.Place(ctx, i, slot); err != nil {
			return w.wrote(fmt.Errorf("sample %d (%s): %w", i, dataset.Name(ds, i), err))
		}
		for k, c := range w.config.Columns {
			cells[k] = slot.Cell(w.config.Spec.Index(c.Name)).Bytes()
		}
		if err := w.append(i, cells); err != nil {
			return err
		}
	}
	return w.Finish()
}

// AppendBatch writes a batch of samples. indices are their indices in the source, which
// must increase. When it returns, the samples survive a kill of the program, but not a
// crash of the machine. A kill may leave a part of a batch.
func (w *Writer) AppendBatch(indices []int, b dataset.Batch) error {
	if w.err != nil {
		return w.err
	}
	if b.Spec().String() != w.config.Spec.String() {
		return w.wrote(fmt.Errorf("a batch of %v, want %v", b.Spec(), w.config.Spec))
	}
	rows, err := journal.Rows(b, w.config.Columns, len(indices))
	if err != nil {
		return w.wrote(err)
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
	return w.note()
}

// append writes a sample. cells has the value of every column.
func (w *Writer) append(index int, cells [][]byte) error {
	if w.err != nil {
		return w.err
	}
	if index < w.next {
		return w.wrote(fmt.Errorf("sample %d: indices must increase, the last one was %d", index, w.next-1))
	}
	data, err := w.config.Format.Encode(index, cells)
	if err != nil {
		return w.wrote(fmt.Errorf("sample %d: %w", index, err))
	}
	if size := w.log.Size(); size > 0 && size+int64(len(data))+w.config.Format.Overhead() > w.config.Limit {
		if err := w.finishShard(); err != nil {
			w.err = w.wrote(err)
			return w.err
		}
	}
	if _, err := w.log.Write(data); err != nil {
		w.err = w.wrote(err)
		return w.err
	}
	w.next = index + 1
	if w.log.Pending() >= noteEvery {
		return w.note()
	}
	return nil
}

// note makes what was appended survive a kill of the program.
func (w *Writer) note() error {
	if w.log.Pending() == 0 {
		return nil
	}
	w.log.Note("%d", w.next)
	if err := w.log.Flush(); err != nil {
		w.err = w.wrote(err)
	}
	return w.err
}

// finishShard completes the part and begins another one. The journal calls it a shard
// before it has its name.
func (w *Writer) finishShard() error {
	part, err := w.log.Part()
	if err != nil {
		return err
	}
	size, err := w.config.Format.Finish(part, w.log.Size(), w.config.Path)
	if err != nil {
		return err
	}
	w.finished = append(w.finished, fmt.Sprintf("shard %d %d", w.next, size))
	return w.log.Restart(w.finished, func() error {
		return os.Rename(w.config.Format.Complete(w.config.Path), w.shardPath(len(w.finished)-1))
	})
}

// Finish completes the last shard, removes the journal and closes the Writer.
func (w *Writer) Finish() error {
	if w.err != nil {
		return w.err
	}
	var err error
	if w.log.Size() > 0 {
		err = w.finishShard()
	}
	if err == nil {
		if err = os.Remove(w.config.Format.Complete(w.config.Path)); err == nil || errors.Is(err, os.ErrNotExist) {
			err = w.log.Remove()
		}
	}
	if err != nil {
		w.err = w.wrote(err)
		return errors.Join(w.err, w.log.Close())
	}
	w.done = true
	w.err = fmt.Errorf("%s: write %s: finished", w.config.Package, w.config.Path)
	return nil
}

// Close closes the files. If the Writer is not finished, the next one continues.
func (w *Writer) Close() error {
	if w.done {
		return nil
	}
	var err error
	if w.err == nil {
		err = w.note()
		w.err = fmt.Errorf("%s: write %s: closed", w.config.Package, w.config.Path)
	}
	if e := w.log.Close(); e != nil {
		err = errors.Join(err, w.wrote(e))
	}
	return err
}
