// Package parquet reads Parquet files as shards of package shards: the samples in any
// order, from any store. It also writes them, from any dataset: see [Write].
//
//	index, err := shards.Scan(ctx, store, parquet.Format(), []string{"data/train-*.parquet"})
//	ds, err := shards.Open(store, index, []shards.Field{
//		shards.Bytes("image", "image"),
//		shards.Scalar[int64]("label", "label"),
//	})
//	classes := parquet.Classes(index, "label")
//	photos, err := transform.Images(ds, steps...)
//
// A column is named by its path in the schema, with dots: "image.path". A structure with a
// column "bytes", as Hugging Face's datasets stores images and sounds, also stands for
// that column: "image". The names that only serve lists are left out, so "tokens" is the
// column whose path is tokens.list.element.
//
// Binary columns, texts and JSON are for [shards.Bytes]. Numbers and bools are for
// [shards.Scalar], and lists of them for [shards.Array] and [shards.Ragged]. Lists of lists
// are arrays. Dates and times are the integers that are stored. Decimal numbers, INT96 and
// lists of texts cannot be read. A sample does not have a column in which its value is null,
// or a list with a null or with lists of different lengths.
//
// # Blocks
//
// [shards.Scan] reads the footer of each file and the page index, but not the samples. A
// row group of less than two times the block size is not divided, and small ones that lie
// next to each other are one block. A larger one is divided at the pages of its largest
// column, if it has a page index, as the files of datasets 4 and later have. Then a block
// costs a request for that column's pages and, as a rule, one for those of the small
// columns, which are read for each of the row group's blocks. A large row group without a
// page index is one block.
//
// A block is decompressed and decoded as a whole, into memory. Pages of all encodings and
// of the compressions Snappy, gzip, Zstandard, Brotli and LZ4_RAW are read, and the checksums of
// pages that have one are compared.
//
// # Damage
//
// parquet-go reads the metadata and decodes numbers, after a check that no header promises more
// than its bytes allow. [MaxBlockBytes] bounds the memory of a block, and with it the time. The
// decoder of Brotli may take 16 MiB beside it. What parquet-go 0.32 cannot do holds here, too:
// metadata without a field that the format requires is an error, a checksum of 0 is taken for
// none, and blocks of differences have a multiple of 128 numbers, and at most 65,536.
package parquet

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

// Columns reads only these columns from the file: each with all columns below it. Without
// it a block has all columns, also those that no field uses.
func Columns(names ...string) Option {
	return Option{func(f *files) { f.Columns = slices.Clone(names) }}
}

// MaxBlockBytes sets how many bytes of memory a block may take. Blocks that take more are errors.
// The default is 1 GiB.
func MaxBlockBytes(bytes int64) Option { return Option{func(f *files) { f.Limit = bytes }} }

// Format is the format of Apache Parquet, for [shards.Scan] and [shards.ReadIndex].
func Format(options ...Option) shards.Format {
	f := &files{shardfmt.Files{Format: "Parquet", Limit: 1 << 30}}
	for _, o := range options {
		if o.set != nil {
			o.set(f)
		}
	}
	return f
}

// files are the files of Parquet, as the options say that they are read.
type files struct{ shardfmt.Files }

func (f *files) Split(ctx context.Context, s objects.Store, name string, size int64, emit func(shardfmt.Shard) error) error {
	if err := f.Check(); err != nil {
		return err
	}
	o, err := s.Stat(ctx, name)
	if err != nil {
		return err
	}
	shard, err := f.split(&file{ctx: ctx, store: s, object: o}, size)
	if err != nil {
		return err
	}
	return emit(shard)
}

func (f *files) Layout(text []byte) (shardfmt.Layout, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	s := &schema{}
	if text != nil { // there are shards
		if err := json.Unmarshal(text, s); err != nil {
			return nil, fmt.Errorf("parquet: columns: %w", err)
		}
		if len(s.Leaves) == 0 {
			return nil, errors.New("parquet: the schema has no columns")
		}
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("parquet: %w", err)
	}
	l := &layout{limit: f.Limit}
	var err error
	if l.Table, l.wanted, err = f.table(s); err != nil {
		return nil, fmt.Errorf("parquet: %w", err)
	}
	return l, nil
}

// table has the columns that are read. It is an error if there are none.
func (f *files) table(s *schema) (t *shardfmt.Table, wanted []*leaf, err error) {
	var all []shardfmt.Column
	for k := range s.Leaves {
		l := &s.Leaves[k]
		all = append(all, shardfmt.Column{Name: l.Name, Dtype: l.dtype, Text: l.Type == "bytes", Lists: len(l.Repeated), Error: l.Error})
	}
	t, numbers, err := f.Table(all)
	for _, k := range numbers {
		wanted = append(wanted, &s.Leaves[k])
	}
	return t, wanted, err
}

// Classes are the names of a column's classes, in the order of its labels, as Hugging
// Face's datasets stores them for a ClassLabel. They are nil if the files have none.
func Classes(index *shards.Index, column string) []string {
	var s schema
	if json.Unmarshal(index.Schema(), &s) != nil {
		return nil
	}
	return s.Classes[column]
}
