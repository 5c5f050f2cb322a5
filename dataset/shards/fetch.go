package shards

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
	"github.com/penstock-go/penstock/internal/bulk"
)

// atOnce is how many bytes are allocated and requested because an index says so. Larger
// blocks, such as compressed shards, are read in parts that grow with what was read.
const atOnce = 64 << 20

// more is how much larger than a block its memory is, at most, so that a slightly larger one fits
// too.
const more = 1 << 20

// damage is the error of bytes that are wrong and stay so.
type damage struct{ error }

func (d *damage) Unwrap() error { return d.error }

// fetch reads the first n bytes of an object.
func fetch(ctx context.Context, s objects.Store, o objects.Object, n int64) ([]byte, error) {
	return appendRange(ctx, s, o, 0, n, false, nil)
}

// appendRange appends n bytes of an object from byte off on. again says that the same bytes were
// read before, and were damaged. Then the first byte is read alone, so that no other read begins
// where one began before: also not where a cache divides it into blocks.
func appendRange(ctx context.Context, s objects.Store, o objects.Object, off, n int64, again bool, to []byte) ([]byte, error) {
	first := len(to)
	for int64(len(to)-first) < n {
		done := int64(len(to) - first)
		part := int(min(n-done, max(atOnce, done)))
		if again && done == 0 {
			part = 1
		}
		begin := len(to)
		if cap(to)-begin < part {
			grown := make([]byte, 0, begin+part+min(more, (begin+part)/8))
			to = append(grown, to...)[:begin]
		}
		to = to[:begin+part]
		if err := s.ReadAt(ctx, o, to[begin:], off+done); err != nil {
			return nil, err
		}
	}
	return to, nil
}

// load reads a block, compares its checksum, decompresses it and finds its samples.
func (d *Dataset) load(ctx context.Context, h *held) error {
	b := &d.index.blocks[h.block]
	err := d.tryLoad(ctx, h, b, false)
	if _, ok := errors.AsType[*damage](err); ok {
		// The bytes may have been damaged on their way. They are read again as other ranges,
		// because a cache of blocks may hold the damaged ones, also one that cannot forget them.
		if f, ok := d.store.(objects.Holder); ok {
			for _, r := range b.Ranges(nil) {
				f.Forget(d.object(h.block), r.Off, r.Len)
			}
		}
		err = d.tryLoad(ctx, h, b, true)
	}
	if err != nil {
		return fmt.Errorf("%s, block at byte %d: %w", d.index.objectOf(h.block).Name, b.Off, err)
	}
	return nil
}

// tryLoad reads a block, for the second time if it was damaged.
func (d *Dataset) tryLoad(ctx context.Context, h *held, b *indexedBlock, again bool) error {
	c := d.index.shards[b.shard].compression
	to := h.data[:0]
	if c != shardfmt.Plain {
		to = d.memory.takeStored()
	} else {
		h.data = nil // after an error the store may not be done with it
	}
	var err error
	var memory [4]shardfmt.Range
	for _, r := range b.Ranges(memory[:0]) {
		if to, err = appendRange(ctx, d.store, d.object(h.block), r.Off, r.Len, again, to); err != nil {
			return err
		}
	}
	if c == shardfmt.Plain {
		h.data = to
	} else {
		defer d.memory.giveStored(to)
	}
	if b.Summed {
		if sum := crc32.Checksum(to[:b.Len], castagnoli()); sum != b.Sum {
			return &damage{fmt.Errorf("%d bytes with the CRC-32C %08x, want %08x: the shard is damaged, or not that of the index", b.Len, sum, b.Sum)}
		}
	}
	switch c {
	case shardfmt.Plain:
	case shardfmt.ByFormat:
		h.data, err = d.index.layout.(shardfmt.Unpacker).Unpack(h.data[:0], to, &b.Block)
	default:
		h.data, err = decompress(c, to, b.Size)
	}
	if err != nil {
		return &damage{err}
	}
	if h.rows, err = d.index.layout.Rows(h.data, b.Off, h.rows[:0]); err != nil {
		return &damage{err}
	}
	if len(h.rows) != b.Rows {
		return &damage{fmt.Errorf("%d samples, want %d: the shard is damaged, or not that of the index", len(h.rows), b.Rows)}
	}
	return nil
}

// likely is the compression ratio for which memory is allocated before anything is
// decompressed.
const likely = 16

func decompress(c shardfmt.Compression, packed []byte, size int64) ([]byte, error) {
	r, err := decompressor(c, bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b := bulk.Growing(size, likely*int64(len(packed)))
	if _, err := b.Fill(r, size); err != nil {
		if errors.Is(err, bulk.ErrShort) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("byte %d of the decompressed data: %w", len(b.Bytes()), err)
	}
	switch ended, err := bulk.Ended(r); {
	case err != nil:
		return nil, err
	case !ended:
		return nil, fmt.Errorf("more than %d bytes after decompression", size)
	}
	return b.Bytes(), nil
}
