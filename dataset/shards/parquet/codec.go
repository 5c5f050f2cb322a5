package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/bulk"
)

// ratios are how many times the compressed bytes a page may have after decompression, so
// that no header alone takes memory. Snappy, gzip and LZ4 cannot compress more than that.
var ratios = [...]int64{format.Snappy: 22, format.Gzip: 1032, format.Brotli: 2048, format.Zstd: 2048, format.Lz4Raw: 255}

// codecs decompresses pages. One goroutine at a time uses it.
type codecs struct {
	zstd   *zstd.Decoder
	gzip   *gzip.Reader
	brotli *brotli.Reader
	budget budget.Budget // of a block: MaxBlockBytes's memory beside that of its bytes
}

func (c *codecs) close() {
	if c.zstd != nil {
		c.zstd.Close()
	}
}

// decompress returns size bytes. It uses the memory of to, if that is large enough, or
// returns packed itself.
func (c *codecs) decompress(codec format.CompressionCodec, packed []byte, size int, to []byte) (_ []byte, err error) {
	if codec == format.Uncompressed {
		if len(packed) != size {
			return nil, fmt.Errorf("a page of %d bytes, want %d", len(packed), size)
		}
		return packed, nil
	}
	if codec < 0 || int(codec) >= len(ratios) || ratios[codec] == 0 {
		return nil, fmt.Errorf("the compression %v is not supported", codec)
	}
	if size == 0 {
		return nil, nil
	}
	if int64(size) > bulk.First+ratios[codec]*int64(len(packed)) {
		return nil, fmt.Errorf("a page of %d bytes that is said to have %d after decompression", len(packed), size)
	}
	if err := c.budget.Memory(int64(size)); err != nil {
		return nil, err
	}
	if cap(to) < size {
		to = make([]byte, size)
	}
	to = to[:size:size]
	n := 0
	switch codec {
	case format.Snappy:
		var got []byte
		if n, err = snappy.DecodedLen(packed); err == nil && n == size {
			got, err = snappy.Decode(to, packed)
			n = len(got)
		}
	case format.Gzip:
		if c.gzip == nil {
			c.gzip = new(gzip.Reader)
		}
		if err = c.gzip.Reset(bytes.NewReader(packed)); err == nil {
			n, err = readAll(c.gzip, to)
		}
	case format.Brotli:
		if c.brotli == nil {
			c.brotli = new(brotli.Reader)
		}
		if err = c.brotli.Reset(bytes.NewReader(packed)); err == nil {
			n, err = readAll(c.brotli, to)
		}
	case format.Zstd:
		var got []byte
		if c.zstd == nil {
			c.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
		}
		if err == nil {
			got, err = c.zstd.DecodeAll(packed, to[:0])
			n = len(got)
		}
	case format.Lz4Raw:
		n, err = lz4.UncompressBlock(packed, to)
	}
	if err == nil && n != size {
		err = fmt.Errorf("%d bytes, want %d", n, size)
	}
	if err != nil {
		return nil, fmt.Errorf("decompress a page: %w", err)
	}
	return to, nil
}

// readAll reads len(to) bytes, and makes sure that there are no more.
func readAll(r io.Reader, to []byte) (int, error) {
	n, err := io.ReadFull(r, to)
	if err != nil {
		return n, bulk.Unexpected(err)
	}
	ended, err := bulk.Ended(r)
	if err == nil && !ended {
		err = errors.New("more bytes than the header says")
	}
	return n, err
}
