package parquet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/internal/budget"
)

const (
	magic    = "PAR1"    // at the beginning and at the end of a file
	tailSize = 128 << 10 // bytes of a file's end that are read first
	maxTail  = 64 << 20  // bytes of a footer, and of a page index
	tailEnd  = 4 + len(magic)
)

// A file reads the end of an object.
type file struct {
	ctx    context.Context
	store  objects.Store
	object objects.Object
	off    int64 // of tail
	tail   []byte
}

// read returns n bytes from byte off on, which must be within the object.
func (f *file) read(off, n int64) ([]byte, error) {
	if off >= f.off && f.tail != nil {
		return f.tail[off-f.off:][:n:n], nil
	}
	data := make([]byte, n)
	return data, f.store.ReadAt(f.ctx, f.object, data, off)
}

// footer reads the metadata, and returns how many bytes it has. Its numbers are checked when they
// are used.
func (f *file) footer() (meta *format.FileMetaData, length int64, err error) {
	size := f.object.Size
	if size < int64(len(magic)+tailEnd) {
		return nil, 0, fmt.Errorf("want a Parquet file: it has %d bytes", size)
	}
	n := min(size, tailSize)
	if f.tail, err = f.read(size-n, n); err != nil {
		return nil, 0, err
	}
	f.off = size - n
	end := f.tail[n-int64(tailEnd):]
	switch {
	case string(end[4:]) == "PARE":
		return nil, 0, errors.New("the file is encrypted")
	case string(end[4:]) != magic:
		return nil, 0, errors.New("want a Parquet file: it does not end as one")
	}
	length = int64(binary.LittleEndian.Uint32(end))
	if length > size-int64(len(magic)+tailEnd) || length > maxTail {
		return nil, 0, fmt.Errorf("metadata of %d bytes in a file of %d", length, size)
	}
	data, err := f.read(size-int64(tailEnd)-length, length)
	if err != nil {
		return nil, 0, err
	}
	b := budget.For(length)
	b.Grant(16*length, 0) // a column of a row group takes 560 bytes, and may have 40 in the file
	meta = &format.FileMetaData{}
	if _, err := decode(data, meta, &b, 96, 560, 32); err != nil {
		return nil, 0, err
	}
	if meta.EncryptionAlgorithm.Value != nil {
		return nil, 0, errors.New("the file is encrypted")
	}
	return meta, length, nil
}

// described is the JSON in which Hugging Face's datasets describes its features, or empty.
func described(meta *format.FileMetaData) string {
	for k := range meta.KeyValueMetadata {
		if kv := &meta.KeyValueMetadata[k]; kv.Key == "huggingface" {
			return kv.Value
		}
	}
	return ""
}

// A chunk is a column of a row group.
type chunk struct {
	*format.ColumnChunk
	firstPage    int64 // offset
	dictionaryTo int64 // where the dictionary ends
}

// chunkOf compares the numbers of a chunk with the file and the group, and finds where it begins.
func chunkOf(c *format.ColumnChunk, l *leaf, rows, size int64) (*chunk, error) {
	m := &c.MetaData
	h := &chunk{c, m.DataPageOffset, m.DataPageOffset}
	if m.DictionaryPageOffset > 0 && m.DictionaryPageOffset < m.DataPageOffset {
		h.firstPage = m.DictionaryPageOffset
	}
	packed := m.TotalCompressedSize
	switch {
	case c.FilePath != "":
		return nil, errors.New("it is in another file")
	case c.CryptoMetadata.Value != nil || len(c.EncryptedColumnMetadata) > 0:
		return nil, errors.New("it is encrypted")
	case m.Type != l.Physical:
		return nil, fmt.Errorf("values of the type %d, want %d", m.Type, l.Physical)
	case m.Codec < 0:
		return nil, fmt.Errorf("the compression %d is not supported", m.Codec)
	case m.NumValues < 0 || len(l.Repeated) == 0 && m.NumValues != rows:
		return nil, fmt.Errorf("%d values in %d rows", m.NumValues, rows)
	case h.firstPage < int64(len(magic)) || packed < 0 || m.TotalUncompressedSize < 0 || packed > size || h.firstPage > size-packed || m.DataPageOffset > h.firstPage+packed:
		return nil, fmt.Errorf("%d bytes from byte %d, of %d bytes", packed, h.firstPage, size)
	}
	return h, nil
}

// parsePages reads the page index of a chunk. Pages follow one another, and are within the chunk. b
// is the budget of the file.
func parsePages(data []byte, h *chunk, rows int64, b *budget.Budget) ([]format.PageLocation, error) {
	var index format.OffsetIndex
	if _, err := decode(data, &index, b, 24); err != nil {
		return nil, err
	}
	at, row, end := h.MetaData.DataPageOffset, int64(-1), h.firstPage+h.MetaData.TotalCompressedSize
	for _, p := range index.PageLocations {
		n := int64(p.CompressedPageSize)
		if p.Offset < at || n < 1 || n > end-p.Offset || p.FirstRowIndex <= row || p.FirstRowIndex >= rows || row < 0 && p.FirstRowIndex != 0 {
			return nil, fmt.Errorf("a page of row %d with %d bytes from byte %d", p.FirstRowIndex, n, p.Offset)
		}
		at, row = p.Offset+n, p.FirstRowIndex
	}
	if row < 0 {
		return nil, errors.New("no pages")
	}
	return index.PageLocations, nil
}

// decode has parquet-go read a structure of metadata, and returns the bytes after it. v may keep
// data. costs are the bytes that parquet-go takes for an element of a list of structures, of one in
// such an element, and so on; the last one is for all that are deeper.
func decode(data []byte, v any, b *budget.Budget, costs ...int64) (rest []byte, err error) {
	w := walk{data: data, budget: b, costs: costs}
	if w.value(tStruct); w.err != nil {
		return nil, fmt.Errorf("byte %d of the metadata: %w", w.at, w.err)
	}
	err = guarded(func() error {
		r := (&thrift.CompactProtocol{}).NewReaderFromBytes(data[:w.at:w.at])
		return thrift.NewDecoder(r).Decode(v)
	})
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	return data[w.at:], nil
}

// guarded calls parquet-go. Where it panics, the data is damaged.
func guarded(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("parquet-go cannot read it: %v", p)
		}
	}()
	return call()
}

// A walk passes over a value in the compact protocol of Apache Thrift, in which Parquet's metadata
// is written, before parquet-go reads it, which allocates as many elements as the header of a list
// promises and calls itself for each level of structures that it does not know.
//
// Source: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md.
type walk struct {
	data   []byte
	at     int
	budget *budget.Budget
	costs  []int64
	err    error
}

// The types of values that a walk tells apart.
const (
	tTrue   = 1
	tFalse  = 2
	tByte   = 3
	tInt16  = 4
	tInt64  = 6
	tDouble = 7
	tBinary = 8
	tList   = 9
	tStruct = 12
)

func (w *walk) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// take passes over n bytes, of which it returns the first one.
func (w *walk) take(n uint64) byte {
	if w.err == nil && n > uint64(len(w.data)-w.at) {
		w.fail(fmt.Errorf("%d bytes: %w", n, io.ErrUnexpectedEOF))
	}
	if w.err != nil || n == 0 {
		return 0
	}
	w.at += int(n)
	return w.data[w.at-int(n)]
}

func (w *walk) number() uint64 {
	v, n := binary.Uvarint(w.data[w.at:])
	if n <= 0 {
		w.fail(errors.New("want a number"))
	}
	w.take(uint64(max(n, 0)))
	return v
}

func (w *walk) value(kind byte) {
	switch kind {
	case tTrue, tFalse: // the type of a field is its value
	case tByte:
		w.take(1)
	case tInt16, tInt16 + 1, tInt64:
		w.number()
	case tDouble:
		w.take(8)
	case tBinary:
		w.take(w.number())
	case tList, tStruct:
		if err := w.budget.Enter(); err != nil {
			w.fail(err)
			return
		}
		defer w.budget.Leave()
		if kind == tStruct {
			w.fields()
		} else {
			w.list()
		}
	default:
		w.fail(fmt.Errorf("the type %d is not known", kind))
	}
}

func (w *walk) fields() {
	for w.err == nil {
		head := w.take(1)
		if head == 0 {
			return
		}
		if head>>4 == 0 { // the field's number does not follow from the one before
			w.number()
		}
		w.value(head & 15)
	}
}

func (w *walk) list() {
	head := w.take(1)
	n, kind := uint64(head>>4), head&15
	if n == 15 {
		n = w.number()
	}
	if n > uint64(len(w.data)-w.at) {
		w.fail(fmt.Errorf("a list of %d: %w", n, io.ErrUnexpectedEOF))
		return
	}
	cost, costs := int64(16), w.costs // of a text
	switch kind {
	case tTrue, tFalse:
		kind = tByte
	case tStruct:
		cost = w.costs[0]
		if len(w.costs) > 1 {
			w.costs = w.costs[1:]
		}
	}
	w.fail(w.budget.Memory(cost * int64(n)))
	for ; n > 0 && w.err == nil; n-- {
		w.value(kind)
	}
	w.costs = costs
}
