// Package arrow reads the Arrow files of Hugging Face's datasets as shards of package shards: those of
// save_to_disk and those of its cache, which have the streaming format of Arrow IPC.
//
//	store := objects.Folder("squad/train") // what save_to_disk wrote
//	index, err := shards.Scan(ctx, store, arrow.Format(), []string{"data-*.arrow"})
//	ds, err := shards.Open(store, index, []shards.Field{
//		shards.Bytes("image", "image"),
//		shards.Scalar[int64]("label", "label"),
//	})
//	classes := arrow.Classes(index, "label")
//	photos, err := transform.Images(ds, steps...)
//
// A column is named by its path in the schema, with dots: "image.path". A structure with a
// column "bytes", as Hugging Face's datasets stores images and sounds, also stands for
// that column: "image". Lists have the name of their column.
//
// Binary columns, texts and JSON are for [shards.Bytes]. Numbers and bools are for
// [shards.Scalar], and lists of them, also of a fixed size, for [shards.Array] and [shards.Ragged]. Lists of lists
// are arrays. Dates and times are the integers that are stored. Decimal numbers, maps and
// lists of texts cannot be read. A sample does not have a column in which its value is null,
// or a list with a null or with lists of different lengths.
//
// Files with dictionaries, unions, views and run-end encoding cannot be read, and neither can compressed record batches, files of
// big-endian machines, and the file format of Arrow IPC (Feather).
//
// # Blocks
//
// [shards.Scan] reads what stands before each record batch, and no samples: a request per batch. A block is a record batch, or
// several small ones that lie next to each other. It is read as a whole, so samples of one block should be read
// together, as package shards says. The batches of datasets have 1000 samples, and 100 where there are images or sounds, if nobody has asked
// for others.
//
// # Damage
//
// arrow-go reads the metadata, after a check that lengths and places are within the file. All offsets of a block are compared with
// the block before anything of it is read. [MaxBlockBytes] bounds the memory of a block, and with it the time.
package arrow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
)

// An Option changes what [Format] makes. The zero Option sets nothing.
type Option struct{ set func(*files) }

// Columns keeps only these columns of a block in memory: each with all columns below it. Without
// it a block has all columns, also those that no field uses.
func Columns(names ...string) Option {
	return Option{func(f *files) { f.Columns = slices.Clone(names) }}
}

// MaxBlockBytes sets how many bytes a block may have, in the file and as samples in memory. Blocks that have more are errors.
// The default is 1 GiB.
func MaxBlockBytes(bytes int64) Option { return Option{func(f *files) { f.Limit = bytes }} }

// Format is the format of Arrow streams, for [shards.Scan] and [shards.ReadIndex].
func Format(options ...Option) shards.Format {
	f := &files{shardfmt.Files{Format: "Arrow", Limit: 1 << 30}}
	for _, o := range options {
		if o.set != nil {
			o.set(f)
		}
	}
	return f
}

// Classes are the names of a column's classes, in the order of its labels, as Hugging
// Face's datasets stores them for a ClassLabel. They are nil if the files have none.
func Classes(index *shards.Index, column string) []string {
	var s saved
	if json.Unmarshal(index.Schema(), &s) != nil {
		return nil
	}
	return s.Classes[column]
}

// files are the files of Arrow, as the options say that they are read.
type files struct{ shardfmt.Files }

func (f *files) Split(ctx context.Context, s objects.Store, name string, size int64, emit func(shardfmt.Shard) error) error {
	if err := f.Check(); err != nil {
		return err
	}
	o, err := s.Stat(ctx, name)
	if err != nil {
		return err
	}
	shard := shardfmt.Shard{Object: o, Compression: shardfmt.ByFormat}
	var block shardfmt.Block
	flush := func() {
		if block.Rows > 0 {
			shard.Blocks = append(shard.Blocks, block)
		}
		block = shardfmt.Block{}
	}
	for at := int64(0); at < o.Size; {
		m, err := readMessage(ctx, s, o, at)
		switch {
		case err != nil:
		case m == nil: // the end of the stream
			at = o.Size
			continue
		case at == 0 && m.kind != schemaMessage:
			err = errors.New("want an Arrow stream: it does not begin with a schema")
		case at == 0:
			shard.Schema, err = f.describe(m)
		case m.kind != batchMessage:
			err = errors.New("a second schema")
		case m.size > f.Limit || m.rows > f.Limit/shardfmt.RowSize:
			err = fmt.Errorf("a record batch of %d rows in %d bytes: %w", m.rows, m.size, shardfmt.ErrTooLarge)
		case m.rows > 0 || block.Rows > 0:
			if block.Len > f.Limit-m.size {
				flush()
			}
			if block.Rows == 0 {
				block.Off = at
			}
			block.Rows += int(m.rows)
			block.Len += m.size
			block.Size += m.size + shardfmt.RowSize*m.rows
		}
		if err != nil {
			return fmt.Errorf("byte %d: %w", at, err)
		}
		if at += m.size; block.Len >= size {
			flush()
		}
	}
	flush()
	if shard.Schema == nil {
		return errors.New("want an Arrow stream: it is empty")
	}
	return emit(shard)
}

func (f *files) Layout(text []byte) (shardfmt.Layout, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	l, err := f.layout(text)
	if err != nil {
		return nil, fmt.Errorf("arrow: %w", err)
	}
	return l, nil
}
