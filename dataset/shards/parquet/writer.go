package parquet

import (
	"context"
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/shards/internal/writing"
)

// A Writer writes Parquet files step by step. If the program is killed, the samples remain,
// and the next Writer of that path continues after them. Three files next to the shards
// serve that: path.part, the samples of the shard that is being written, path.journal, and
// for a moment path.shard. A shard has its name only when it is complete. Its bytes do not
// depend on interruptions.
//
// Row groups have about 8 MiB, which is a block of [Format]. Images and binary columns are
// stored as they are, and others are compressed by Snappy. The columns are in the order of
// their names. Hugging Face's datasets (version 4 or later) finds its features in the files.
//
// Samples have indices in a source. They are appended in the order of the indices, but
// some may be left out. Only one Writer at a time may write a path, and only one goroutine
// at a time may use it.
type Writer struct{ w *writing.Writer }

// A WriteOption changes what [Create] and [Write] do. The zero WriteOption sets nothing.
type WriteOption struct{ set func(*writeConfig) }

type writeConfig struct {
	limit  int64
	paths  func(i int) string
	source string
}

// MaxShardBytes sets how many bytes of samples a shard may have before they are compressed. The
// default is 256 MiB. A sample that is larger is a shard of its own.
func MaxShardBytes(bytes int64) WriteOption {
	return WriteOption{func(c *writeConfig) { c.limit = bytes }}
}

// Paths sets the paths of images: path is called with their indices in the source. Without
// it they are null. A reader finds the names of samples there.
func Paths(path func(i int) string) WriteOption {
	return WriteOption{func(c *writeConfig) { c.paths = path }}
}

// Origin describes where the samples come from and how they are made: the files, the
// transforms. A Writer continues the work of another one only if both have the same source,
// fields, columns and [MaxShardBytes].
func Origin(description string) WriteOption {
	return WriteOption{func(c *writeConfig) { c.source = description }}
}

// Create begins shards or continues them. path has the conversion of an integer, which is
// the shard's number, as in "data/train-%05d.parquet". The folder must exist.
//
// To continue, it reads the samples of path.part, and keeps them up to the first ones with
// a wrong checksum. [Writer.Next] is then the first index to append. It is an error if
// path.journal belongs to another source, fields, columns or shard size, and if there are
// files with the names of shards that the journal does not have: they may be of an earlier
// run, and the caller removes them.
func Create(ctx context.Context, path string, spec dataset.Spec, columns []Column, options ...WriteOption) (*Writer, error) {
	c := writeConfig{limit: 256 << 20}
	for _, option := range options {
		if option.set != nil {
			option.set(&c)
		}
	}
	list, err := columnsFor(spec, columns)
	if err != nil {
		return nil, fmt.Errorf("parquet: write %s: %w", path, err)
	}
	p, err := newPart(list, c.paths)
	if err != nil {
		return nil, fmt.Errorf("parquet: write %s: %w", path, err)
	}
	config := writing.Config{Package: "parquet", Path: path, Spec: spec, Limit: c.limit, Format: p}
	for _, w := range list {
		config.Columns = append(config.Columns, w.of)
	}
	config.Options = fmt.Sprintf("parquet %q %+v %v", c.source, columns, c.paths != nil)
	w, err := writing.New(ctx, config)
	if err != nil {
		return nil, err
	}
	return &Writer{w}, nil
}

// Write writes all samples of ds, as [Create] does. If it is interrupted, the next call
// continues. Random transforms draw the numbers of seed 0 and epoch 0. It reads the samples
// one by one: with a loader, [Writer.AppendBatch] writes what several workers make.
func Write(ctx context.Context, path string, ds dataset.Dataset, columns []Column, options ...WriteOption) error {
	if ds == nil {
		return fmt.Errorf("parquet: write %s: the dataset is nil", path)
	}
	if ds.Len() < 0 {
		return fmt.Errorf("parquet: write %s: the length of %T is unknown", path, ds)
	}
	w, err := Create(ctx, path, ds.Spec(), columns, options...)
	if err != nil {
		return err
	}
	return w.w.AppendAll(ctx, ds)
}

// Next is the index after that of the last sample that was appended.
func (w *Writer) Next() int { return w.w.Next() }

// Shards is the number of shards that are complete.
func (w *Writer) Shards() int { return w.w.Shards() }

// AppendBatch writes a batch of samples. indices are their indices in the source, which
// must increase. When it returns, the samples survive a kill of the program, but not a
// crash of the machine. [shards.TarWriter.AppendBatch] shows how a loop continues.
func (w *Writer) AppendBatch(indices []int, b dataset.Batch) error {
	return w.w.AppendBatch(indices, b)
}

// Finish completes the last shard, removes the journal and closes the Writer.
func (w *Writer) Finish() error { return w.w.Finish() }

// Close closes the files. If the Writer is not finished, the next one continues.
func (w *Writer) Close() error { return w.w.Close() }
