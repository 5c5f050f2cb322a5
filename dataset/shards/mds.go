package shards

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/dataset"
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

// mdsColumns describes the columns of a shard, as index.json does.
type mdsColumns struct {
	Names     []string `json:"column_names"`
	Encodings []string `json:"column_encodings"`
	Sizes     []*int64 `json:"column_sizes"` // in bytes; null if they vary
}

// An mdsLayout is the columns of a sample. It begins with the sizes of those that vary, 4
// bytes each, and then has the values.
type mdsLayout struct {
	columns []mdsColumn
	varying int
	fixed   int64 // bytes of the values of fixed size
}

type mdsColumn struct {
	name  string
	size  int64 // bytes, or -1 if they vary
	dtype dataset.Dtype
	shape []int // of an array, if all have the same; nil for a scalar
	array bool
	known bool  // that is a part of the array's type
	err   error // why it cannot be read
}

func (m *mds) Layout(schema []byte) (shardfmt.Layout, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	var c mdsColumns
	if err := json.Unmarshal(schema, &c); err != nil {
		return nil, fmt.Errorf("columns of MDS: %w", err)
	}
	if len(c.Names) == 0 || len(c.Encodings) != len(c.Names) || len(c.Sizes) != len(c.Names) {
		return nil, fmt.Errorf("columns of MDS: %d names, %d encodings and %d sizes", len(c.Names), len(c.Encodings), len(c.Sizes))
	}
	l := &mdsLayout{}
	for k, name := range c.Names {
		column := mdsColumnOf(c.Encodings[k])
		column.name, column.size = name, -1
		if size := c.Sizes[k]; size != nil && *size != 0 {
			column.size = *size
			if *size < 0 || *size > math.MaxInt32 {
				return nil, fmt.Errorf("column %.100q of MDS: %d bytes", name, *size)
			}
			l.fixed += *size
		} else {
			l.varying++
		}
		l.columns = append(l.columns, column)
	}
	return l, nil
}

// mdsScalars are the encodings of numbers.
var mdsScalars = map[string]dataset.Dtype{
	"int": dataset.Int64, "int8": dataset.Int8, "int16": dataset.Int16, "int32": dataset.Int32, "int64": dataset.Int64,
	"uint8": dataset.Uint8, "uint16": dataset.Uint16, "uint32": dataset.Uint32, "uint64": dataset.Uint64,
	"float16": dataset.Float16, "float32": dataset.Float32, "float64": dataset.Float64,
}

// mdsTypes are the dtypes of arrays whose type is a part of the value.
var mdsTypes = map[byte]dataset.Dtype{
	8: dataset.Uint8, 9: dataset.Int8, 16: dataset.Uint16, 17: dataset.Int16, 18: dataset.Float16,
	32: dataset.Uint32, 33: dataset.Int32, 34: dataset.Float32, 64: dataset.Uint64, 65: dataset.Int64, 66: dataset.Float64,
}

func mdsColumnOf(encoding string) mdsColumn {
	name, rest, _ := strings.Cut(encoding, ":")
	switch name {
	case "bytes", "str", "json", "jpeg", "png", "str_int", "str_float", "str_decimal":
		return mdsColumn{dtype: dataset.Uint8, shape: oneDimension}
	case "ndarray":
		return mdsArray(rest)
	case "pil":
		return mdsColumn{err: errors.New("the encoding pil is raw pixels in Pillow's layout: want jpeg or png")}
	case "pkl":
		return mdsColumn{err: errors.New("the encoding pkl is pickled Python objects: want bytes, json or ndarray")}
	}
	if dtype, ok := mdsScalars[name]; ok {
		return mdsColumn{dtype: dtype}
	}
	return mdsColumn{err: fmt.Errorf("the encoding %.60q is not known", encoding)}
}

// mdsArray reads what follows "ndarray:": a dtype, and after a colon a shape. Each may be
// missing.
func mdsArray(text string) mdsColumn {
	c := mdsColumn{array: true}
	name, dims, hasShape := strings.Cut(text, ":")
	if name != "" {
		c.dtype = mdsScalars[name]
		if c.dtype == 0 || name == "int" {
			return mdsColumn{err: fmt.Errorf("arrays of %.60q", name)}
		}
	}
	if !hasShape {
		return c
	}
	c.known = true
	for _, d := range strings.Split(dims, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(d))
		if err != nil || n < 1 {
			return mdsColumn{err: fmt.Errorf("arrays of shape %.60q", dims)}
		}
		c.shape = append(c.shape, n)
	}
	return c
}

// size is the number of bytes of the sample at the beginning of data.
func (l *mdsLayout) size(data []byte) (int64, error) {
	if len(data) < 4*l.varying {
		return 0, io.ErrUnexpectedEOF
	}
	n := 4*int64(l.varying) + l.fixed
	for k := range l.varying {
		n += int64(binary.LittleEndian.Uint32(data[4*k:]))
	}
	if n > int64(len(data)) {
		return 0, fmt.Errorf("a sample of %d bytes: %w", n, io.ErrUnexpectedEOF)
	}
	return n, nil
}

func (l *mdsLayout) Rows(block []byte, off int64, dst []shardfmt.Row) ([]shardfmt.Row, error) {
	at := 0
	if off == 0 { // a whole shard, which was compressed
		if len(block) < 8 {
			return dst, io.ErrUnexpectedEOF
		}
		begin, err := mdsBegin(block, int64(binary.LittleEndian.Uint32(block)), int64(len(block)))
		if err != nil {
			return dst, err
		}
		at = int(begin)
	}
	for at < len(block) {
		n, err := l.size(block[at:])
		if err != nil {
			return dst, fmt.Errorf("byte %d: %w", at, err)
		}
		dst = append(dst, shardfmt.Row{Off: at, Len: int(n)})
		at += int(n)
	}
	return dst, nil
}

func (*mdsLayout) Key([]byte) string { return "" }

func (l *mdsLayout) Decoder(columns []string) (shardfmt.Decoder, error) {
	d := &mdsDecoder{mdsLayout: l, wanted: make([]int, len(columns)), shapes: make([][]int, len(columns))}
	known := false
	for k, name := range columns {
		d.wanted[k] = slices.IndexFunc(l.columns, func(c mdsColumn) bool { return c.name == name })
		if d.wanted[k] < 0 {
			continue
		}
		known = true
		if err := l.columns[d.wanted[k]].err; err != nil {
			return nil, fmt.Errorf("column %q of MDS: %w", name, err)
		}
	}
	if len(columns) > 0 && !known {
		return nil, fmt.Errorf("no column %s of MDS, only %s", strings.Join(columns, " or "), l.names())
	}
	return d, nil
}

func (l *mdsLayout) names() string {
	var names []string
	for _, c := range l.columns {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

type mdsDecoder struct {
	*mdsLayout
	wanted []int   // columns of the layout, or -1
	shapes [][]int // memory
}

func (d *mdsDecoder) Decode(sample []byte, dst []shardfmt.Value) error {
	clear(dst)
	sizes := sample
	at := 4 * d.varying
	for c := range d.columns {
		column := &d.columns[c]
		n := int(column.size)
		if n < 0 {
			n = int(binary.LittleEndian.Uint32(sizes))
			sizes = sizes[4:]
		}
		data := sample[at : at+n : at+n]
		at += n
		for k, want := range d.wanted {
			if want != c {
				continue
			}
			var err error
			if dst[k], err = column.value(data, &d.shapes[k]); err != nil {
				return fmt.Errorf("column %q: %w", column.name, err)
			}
		}
	}
	return nil
}

// value reads a value. An array begins with its dtype, a byte, unless all have the same;
// then, unless all have the same shape, with a byte of four times the number of dimensions
// plus the logarithm of the bytes of each, and with these.
func (c *mdsColumn) value(data []byte, memory *[]int) (shardfmt.Value, error) {
	v := shardfmt.Value{Dtype: c.dtype, Shape: c.shape, Data: data}
	if !c.array {
		if c.shape == nil && len(data) != c.dtype.Size() {
			return v, fmt.Errorf("%d bytes for a value of %s", len(data), c.dtype)
		}
		return v, nil
	}
	if v.Dtype == 0 {
		if len(data) == 0 {
			return v, io.ErrUnexpectedEOF
		}
		if v.Dtype = mdsTypes[data[0]]; v.Dtype == 0 {
			return v, fmt.Errorf("an array of the unknown type %d", data[0])
		}
		data = data[1:]
	}
	if !c.known {
		if len(data) == 0 {
			return v, io.ErrUnexpectedEOF
		}
		dims, size := int(data[0]>>2), 1<<(data[0]&3)
		data = data[1:]
		if len(data) < dims*size {
			return v, io.ErrUnexpectedEOF
		}
		*memory = (*memory)[:0]
		for range dims {
			d := littleEndian(data[:size])
			if d > math.MaxInt32 {
				return v, fmt.Errorf("an array with a dimension of %d", d)
			}
			*memory, data = append(*memory, int(d)), data[size:]
		}
		v.Shape = *memory
	}
	v.Data = data
	return v, nil
}

// littleEndian reads a number of 1, 2, 4 or 8 bytes.
func littleEndian(b []byte) uint64 {
	var n uint64
	for i, c := range b {
		n |= uint64(c) << (8 * i)
	}
	return n
}
