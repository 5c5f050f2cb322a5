package shards

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/penstock-go/penstock/dataset/objects"
)

// splitDALI finds the blocks of a TFRecord file in the index of DALI: a line per record,
// with its offset and its length.
//
// Source: tools/tfrecord2idx of https://github.com/NVIDIA/DALI.
func splitDALI(ctx context.Context, s objects.Store, name, index string, size int64) (Shard, error) {
	text, err := readObject(ctx, s, index)
	if err != nil {
		return Shard{}, err
	}
	o, err := s.Stat(ctx, name)
	if err != nil {
		return Shard{}, err
	}
	blocks, err := daliBlocks(text, o.Size, size)
	if err != nil {
		return Shard{}, fmt.Errorf("index %s: %w", index, err)
	}
	return Shard{Object: o, Blocks: blocks}, nil
}

func daliBlocks(text []byte, end, size int64) ([]Block, error) {
	var blocks []Block
	var b Block
	at := int64(0)
	for n := 1; len(text) > 0; n++ {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		first, second, _ := bytes.Cut(line, []byte(" "))
		off, err := strconv.ParseInt(string(first), 10, 64)
		length, err2 := strconv.ParseInt(string(second), 10, 64)
		if err != nil || err2 != nil || off != at || length < tfHead+tfTail || length > end-at {
			return nil, fmt.Errorf("line %d: %.60q: want the offset %d and a length, of %d bytes", n, line, at, end)
		}
		if b.Rows > 0 && b.Len >= size {
			blocks = append(blocks, b)
			b = Block{Off: at}
		}
		b.Rows++
		b.Len += length
		b.Size = b.Len
		at += length
	}
	if at != end {
		return nil, fmt.Errorf("its records end at byte %d of %d", at, end)
	}
	if b.Rows > 0 {
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// maxIndex limits the bytes of an index of another program.
const maxIndex = 1 << 30

// readObject reads a whole object that describes shards.
func readObject(ctx context.Context, s objects.Store, name string) ([]byte, error) {
	o, err := s.Stat(ctx, name)
	if err != nil {
		return nil, err
	}
	if o.Size < 0 || o.Size > maxIndex {
		return nil, errors.New("it is too large for an index")
	}
	return fetch(ctx, s, o, o.Size)
}
