// Package shardfmt is what package shards and its formats agree on: how samples lie in shards.
package shardfmt

import (
	"context"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
)

// A Format says how samples lie in shards. Several goroutines use it at once.
type Format interface {
	// String names the format and all that its layouts depend on. An index that was
	// saved for another name is refused.
	String() string
	// Split finds the shards and blocks that the object of that name stands for, and
	// calls emit for every shard, in order. A block has at least size bytes, except the
	// last one of a shard.
	Split(ctx context.Context, s objects.Store, name string, size int64, emit func(Shard) error) error
	// Layout reads the description that [Shard.Schema] has. It is nil if shards have
	// none.
	Layout(schema []byte) (Layout, error)
}

// A Layout finds samples in blocks. Several goroutines use it at once.
type Layout interface {
	// Rows appends the places of the samples of a block to dst. The block is at byte off
	// of the shard, after decompression. Damage within a sample is not an error if the
	// samples after it can still be found.
	Rows(block []byte, off int64, dst []Row) ([]Row, error)
	// Key is the sample's own name, or "" if it has none.
	Key(sample []byte) string
	// Decoder makes a decoder of these columns. It is an error if the shards cannot have
	// one of them.
	Decoder(columns []string) (Decoder, error)
}

// An Unpacker is the [Layout] of shards that are compressed [ByFormat].
type Unpacker interface {
	Layout
	// Unpack appends the samples of a block to dst, for Rows. stored has the bytes of the
	// block and of its further ranges, one after the other.
	Unpack(dst, stored []byte, b *Block) ([]byte, error)
}

// A Decoder finds the columns of samples. One goroutine at a time uses it.
type Decoder interface {
	// Decode sets dst[k] to column k of the sample, or to the zero Value if the sample
	// does not have it. Values may share the memory of the sample, and are valid until
	// the next call.
	Decode(sample []byte, dst []Value) error
}

// A Value is one column of one sample.
type Value struct {
	// Dtype is that of the elements. Files and texts are uint8.
	Dtype dataset.Dtype
	// Shape is nil for a scalar, and {-1} for files, texts and lists, whose length is
	// that of Data.
	Shape []int
	// Data has the elements, the last index fastest, in little-endian byte order.
	Data []byte
}

// A Row is the place of a sample in the memory of its block, in bytes.
type Row struct{ Off, Len int }

// A Shard is an object and its blocks.
type Shard struct {
	Object objects.Object `json:"object"`
	// Compression is that of the whole object, which is then one block, or ByFormat.
	Compression Compression `json:"compression"`
	Blocks      []Block     `json:"blocks"`
	// Schema describes the columns, if the format needs that. All shards of an index
	// must have the same.
	Schema []byte `json:"-"`
}

// A Block is a part of a shard that holds whole samples.
type Block struct {
	Rows int   `json:"rows"` // number of samples
	Off  int64 `json:"off"`  // of the first byte in the object
	Len  int64 `json:"len"`  // bytes in the object
	// Size is the number of bytes after decompression. It is Len if the shard is not
	// compressed, and about right if it is compressed ByFormat.
	Size int64 `json:"size"`
	// Sum is the CRC-32C (RFC 3720, section 12.1) of the Len bytes, if Summed.
	Sum    uint32 `json:"sum,omitempty"`
	Summed bool   `json:"summed,omitempty"`
	// More are further ranges of the object that the block needs, if it is compressed
	// ByFormat. Each costs a request.
	More []Range `json:"more,omitempty"`
	// Meta is what an Unpacker has to know of the block.
	Meta []byte `json:"meta,omitempty"`
}

// Ranges appends all ranges of the block to dst.
func (b *Block) Ranges(dst []Range) []Range {
	return append(append(dst, Range{b.Off, b.Len}), b.More...)
}

// A Range is some bytes of an object.
type Range struct{ Off, Len int64 }

// Compression is how a shard is compressed: as a whole, or block by block.
type Compression uint8

const (
	Plain    Compression = iota // not compressed
	Gzip                        // RFC 1952, of one or more members
	Zstd                        // RFC 8878, of one or more frames, with windows as the package describes
	ByFormat                    // each block by itself: the format's Layout is an Unpacker
)
