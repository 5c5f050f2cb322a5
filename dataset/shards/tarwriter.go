package shards

import (
	"context"
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/shards/internal/writing"
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
