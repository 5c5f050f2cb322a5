package shards

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
	"github.com/penstock-go/penstock/internal/budget"
)

// A FormatOption changes what [WebDataset], [TFRecord] and [MDS] make. The zero FormatOption
// sets nothing.
type FormatOption struct{ set func(*formatConfig) }

// formatConfig is what all formats of this package have.
type formatConfig struct {
	limit int64
}

// MaxBlockBytes sets how many bytes of memory a block may take: after decompression, with 16 bytes for
// each of its samples, and as it is stored. A block that takes more is an error of [Scan] and of
// [ReadIndex]. The default is 1 GiB.
func MaxBlockBytes(bytes int64) FormatOption {
	return FormatOption{func(c *formatConfig) { c.limit = bytes }}
}

const defaultLimit = 1 << 30

func formatOf(options []FormatOption) formatConfig {
	c := formatConfig{limit: defaultLimit}
	for _, o := range options {
		if o.set != nil {
			o.set(&c)
		}
	}
	return c
}

// check is for the options.
func (c *formatConfig) check() error {
	if c.limit < 1 {
		return fmt.Errorf("shards: MaxBlockBytes(%d): want 1 or more", c.limit)
	}
	return nil
}

func (c *formatConfig) blockLimit() int64 { return min(c.limit, mostBlock) }

// limitOf is how many bytes of memory a block of a format may take.
func limitOf(f Format) int64 {
	if l, ok := f.(interface{ blockLimit() int64 }); ok {
		return l.blockLimit()
	}
	return defaultLimit
}

// mostBlock is how many bytes can be addressed, less by how much more their memory is.
const mostBlock = math.MaxInt - 2*more

var errTooLarge = errors.New("it takes more memory than the option MaxBlockBytes allows")

// fits reports whether a block takes no more memory than that.
func fits(b *shardfmt.Block, limit int64) bool {
	const place = 16 // bytes of a Row
	return max(b.Len, b.Size) <= limit && int64(b.Rows) <= (limit-b.Size)/place
}

// A shard that is compressed as a whole may have so many bytes after decompression, and so many
// times its own ones beside them. That bounds the time: gzip cannot shrink more than 1032 times,
// but zstd 32,000 times, and then decompresses a gigabyte in half a second. Shards of 100 MB with
// nothing but empty masks, which shrink 5,500 times, are read.
const (
	mostBase  = 64 << 20
	mostRatio = 2048
)

// unpackedLimit is how many bytes a shard of packed bytes may have after decompression, and the
// error of one that has more.
func unpackedLimit(packed, limit int64) (int64, error) {
	if packed >= (limit-mostBase)/mostRatio {
		return limit, errTooLarge
	}
	return mostBase + mostRatio*packed, fmt.Errorf("%w: %d bytes that are more than %d times as many after decompression", budget.ErrExceeded, packed, mostRatio)
}

// A bounded reader reads at most left bytes. more is the error if there are more.
type bounded struct {
	r    io.Reader
	left int64
	more error
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p[:min(int64(len(p)), b.left+1)])
	if int64(n) > b.left {
		n, err = int(b.left), b.more
	}
	b.left -= int64(n)
	return n, err
}
