package shards

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/files"
)

// MDS is the format of MosaicML's streaming, version 2. The names that [Scan] takes are
// those of index.json files. It reads these, and the offsets at the beginning of every
// shard, but not the samples, so blocks have no checksum. A compressed shard is one block:
// gz and zstd are supported.
//
// The columns are those of the dataset. The encodings bytes, str, json, jpeg, png,
// str_int, str_float and str_decimal are bytes or text. int, int8 to int64, uint8 to
// uint64 and float16 to float64 are scalars, and ndarray is an array. The others cannot be
// read: pil is raw pixels in Pillow's layout, and pkl needs Python. Write images as jpeg
// or png.
//
// Source: streaming/base/format of https://github.com/mosaicml/streaming.
func MDS(options ...FormatOption) Format { return &mds{formatOf(options)} }

type mds struct{ formatConfig }

func (*mds) String() string { return "mds" }

// mdsIndex is an index.json.
type mdsIndex struct {
	Version int       `json:"version"`
	Shards  mdsShards `json:"shards"`
}

type mdsShards []mdsShard

// shardMemory is how many bytes a shard of an index.json takes beside those of its texts, with
// those of its blocks' description. Its text has more than a hundred.
const shardMemory = 1 << 10

func (list *mdsShards) UnmarshalJSON(text []byte) error {
	b := budget.For(int64(len(text)))
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return errors.New("want a list of shards")
	}
	*list = nil
	for d.More() {
		if err := b.Memory(shardMemory); err != nil {
			return fmt.Errorf("shards: %w", err)
		}
		*list = append(*list, mdsShard{})
		if err := d.Decode(&(*list)[len(*list)-1]); err != nil {
			return err
		}
	}
	return nil
}

type mdsShard struct {
	mdsColumns
	Format      string   `json:"format"`
	Version     int      `json:"version"`
	Samples     int64    `json:"samples"`
	Compression string   `json:"compression"`
	Raw         mdsFile  `json:"raw_data"`
	Zip         *mdsFile `json:"zip_data"`
}

type mdsFile struct {
	Name  string `json:"basename"`
	Bytes int64  `json:"bytes"`
}

func (m *mds) Split(ctx context.Context, s objects.Store, name string, size int64, emit func(shardfmt.Shard) error) error {
	if err := m.check(); err != nil {
		return err
	}
	text, err := readObject(ctx, s, name)
	if err != nil {
		return err
	}
	var index mdsIndex
	if err := json.Unmarshal(text, &index); err != nil {
		return err
	}
	if index.Version != 2 {
		return fmt.Errorf("version %d of MDS, want 2", index.Version)
	}
	found := make([]shardfmt.Shard, len(index.Shards))
	err = files.Scan(len(found), files.Scanners, func(k int) (err error) {
		if found[k], err = splitMDS(ctx, s, path.Dir(name), &index.Shards[k], size); err != nil {
			return fmt.Errorf("shard %d, %.100q: %w", k, index.Shards[k].Raw.Name, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, shard := range found {
		if err := emit(shard); err != nil {
			return err
		}
	}
	return nil
}

// splitMDS finds the blocks of one shard of an index.json in that folder.
func splitMDS(ctx context.Context, s objects.Store, folder string, m *mdsShard, size int64) (shard shardfmt.Shard, err error) {
	if m.Format != "mds" || m.Version != 2 {
		return shard, fmt.Errorf("format %.40q of version %d, want \"mds\" of version 2", m.Format, m.Version)
	}
	if shard.Schema, err = json.Marshal(m.mdsColumns); err != nil {
		return shard, err
	}
	file := m.Raw
	if m.Zip != nil {
		file = *m.Zip
		switch algorithm, _, _ := strings.Cut(m.Compression, ":"); algorithm {
		case "gz":
			shard.Compression = shardfmt.Gzip
		case "zstd":
			shard.Compression = shardfmt.Zstd
		default:
			return shard, fmt.Errorf("compression %.40q: want gz or zstd", m.Compression)
		}
	}
	name, err := files.Below(folder, file.Name)
	if err != nil {
		return shard, err
	}
	if shard.Object, err = s.Stat(ctx, name); err != nil {
		return shard, err
	}
	if shard.Object.Size != file.Bytes {
		return shard, fmt.Errorf("%d bytes, want %d", shard.Object.Size, file.Bytes)
	}
	if m.Samples < 0 || m.Samples > m.Raw.Bytes/4 {
		return shard, fmt.Errorf("%d samples in %d bytes", m.Samples, m.Raw.Bytes)
	}
	switch {
	case m.Samples == 0:
	case shard.Compression != shardfmt.Plain:
		shard.Blocks = []shardfmt.Block{{Rows: int(m.Samples), Len: file.Bytes, Size: m.Raw.Bytes}}
	default:
		shard.Blocks, err = mdsBlocks(ctx, s, shard.Object, m.Samples, size)
	}
	return shard, err
}

// mdsBlocks reads the beginning of a shard: the number n of its samples, and n+1 offsets,
// each a little-endian number of 4 bytes.
func mdsBlocks(ctx context.Context, s objects.Store, o objects.Object, n, size int64) ([]shardfmt.Block, error) {
	if n > o.Size/4-2 {
		return nil, io.ErrUnexpectedEOF
	}
	length := 4 * (n + 2)
	head, err := fetch(ctx, s, o, length)
	if err != nil {
		return nil, err
	}
	begin, err := mdsBegin(head, n, o.Size)
	if err != nil {
		return nil, err
	}
	var blocks []shardfmt.Block
	b := shardfmt.Block{Off: begin}
	at := begin
	for k := range n {
		if b.Len >= size {
			blocks = append(blocks, b)
			b = shardfmt.Block{Off: at}
		}
		end := int64(binary.LittleEndian.Uint32(head[4+4*(k+1):]))
		if end <= at || end > o.Size {
			return nil, fmt.Errorf("sample %d ends at byte %d, after byte %d of %d", k, end, at, o.Size)
		}
		b.Rows++
		b.Len = end - b.Off
		b.Size = b.Len
		at = end
	}
	if at != o.Size {
		return nil, fmt.Errorf("the samples end at byte %d of %d", at, o.Size)
	}
	return append(blocks, b), nil
}

// mdsBegin checks the beginning of a shard of size bytes with n samples, and returns
// where the first one begins: after a copy of the columns' description.
func mdsBegin(head []byte, n, size int64) (int64, error) {
	if int64(len(head)) < 4*(n+2) {
		return 0, io.ErrUnexpectedEOF
	}
	if got := binary.LittleEndian.Uint32(head); int64(got) != n {
		return 0, fmt.Errorf("%d samples, want %d", got, n)
	}
	begin := int64(binary.LittleEndian.Uint32(head[4:]))
	if begin < 4*(n+2) || begin > size {
		return 0, fmt.Errorf("the first sample begins at byte %d of %d", begin, size)
	}
	return begin, nil
}

// maxIndex limits the bytes of an index.json.
const maxIndex = 1 << 30

// readObject reads a whole index.json.
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
