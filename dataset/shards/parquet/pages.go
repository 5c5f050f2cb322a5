package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"

	"github.com/parquet-go/bitpack"
	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
)

// A pageReader reads the pages of a column, one after the other.
//
// parquet-go reads the header, packed numbers, differences and split streams. Decompression and
// runs are read here: parquet-go 0.32 decompresses without a limit, allocates as many levels as a
// run promises, 256 MiB for 6 bytes, and reads a run of 13 trues as a true, seven falses, and so on.
type pageReader struct {
	*leaf
	codec  format.CompressionCodec
	codecs *codecs
	limit  int64    // of the bytes of a page, and of its values
	rows   int64    // that the pages have, less those of the pages that were begun; a list may be many values
	pieces [][]byte // with the pages
	memory []byte   // for a page
	header format.PageHeader

	dictionary *table
	left       int // levels of the page
	repetition runs
	definition runs
	values     *table
	taken      int   // values of the page, if they are one after the other
	indexed    bool  // whether they are not
	indices    runs  // of the values
	ends       []int // memory for those of a page
}

// next begins the next page with values. It returns io.EOF if there is none.
func (p *pageReader) next() error {
	for p.left == 0 {
		for len(p.pieces) > 0 && len(p.pieces[0]) == 0 {
			p.pieces = p.pieces[1:]
		}
		if len(p.pieces) == 0 {
			return io.EOF
		}
		h := &p.header
		*h = format.PageHeader{}
		rest, err := decode(p.pieces[0], h, &p.codecs.budget, 32)
		if err != nil {
			return err
		}
		data, values, err := p.check(rest)
		if err != nil {
			return err
		}
		p.pieces[0] = rest[len(data):]
		switch h.Type {
		case format.DictionaryPage:
			err = p.readDictionary(data, values)
		case format.DataPage:
			err = p.readPage(data, values)
		case format.DataPageV2:
			err = p.readPage2(data, values)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// check compares a page's header with the bytes that follow it, and returns those of the page and
// how many values it has, with nulls.
func (p *pageReader) check(rest []byte) (data []byte, values int, err error) {
	h := &p.header
	size, packed := h.UncompressedPageSize, h.CompressedPageSize
	known := h.Type == format.IndexPage
	switch {
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		values, known = int(h.DataPageHeader.V.NumValues), true
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		values, known = int(h.DataPageHeaderV2.V.NumValues), true
	case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
		values, known = int(h.DictionaryPageHeader.V.NumValues), true
	}
	switch {
	case !known:
		return nil, 0, fmt.Errorf("a page of the type %d, without its header", h.Type)
	case size < 0 || packed < 0 || values < 0:
		return nil, 0, fmt.Errorf("a page with %d values and %d bytes, %d in the file", values, size, packed)
	case int(packed) > len(rest):
		return nil, 0, fmt.Errorf("a page of %d bytes: %w", packed, io.ErrUnexpectedEOF)
	case int64(size) > p.limit || int64(values) > p.limit:
		return nil, 0, fmt.Errorf("a page with %d values and %d bytes: %w", values, size, shardfmt.ErrTooLarge)
	}
	if h.Type != format.DictionaryPage && len(p.Repeated) == 0 {
		if p.rows -= int64(values); p.rows < 0 {
			return nil, 0, fmt.Errorf("a page with %d values, %d more than rows", values, -p.rows)
		}
	}
	data = rest[:packed:packed]
	if h.CRC != 0 { // parquet-go does not tell a checksum of 0 from none
		if sum := crc32.ChecksumIEEE(data); sum != uint32(h.CRC) {
			return nil, 0, fmt.Errorf("a page with the CRC-32 %08x, want %08x", sum, uint32(h.CRC))
		}
	}
	return data, values, nil
}

// plainDictionary is the encoding PLAIN_DICTIONARY, which the format has replaced, and which files still have.
const plainDictionary = format.Encoding(2)

func (p *pageReader) readDictionary(data []byte, values int) error {
	if p.dictionary != nil {
		return errors.New("a second dictionary")
	}
	if e := p.header.DictionaryPageHeader.V.Encoding; e != format.Plain && e != plainDictionary || p.Physical == format.Boolean {
		return fmt.Errorf("a dictionary with the encoding %v", e)
	}
	data, err := p.codecs.decompress(p.codec, data, int(p.header.UncompressedPageSize), nil)
	if err != nil {
		return err
	}
	d, err := p.plain(data, values, nil)
	if err == nil && d.n < values {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("a dictionary: %w", err)
	}
	p.dictionary = d
	return nil
}

func (p *pageReader) unpack(data []byte, size int) ([]byte, error) {
	unpacked, err := p.codecs.decompress(p.codec, data, size, p.memory)
	if p.codec != format.Uncompressed && cap(unpacked) > cap(p.memory) {
		p.memory = unpacked
	}
	return unpacked, err
}

// readPage begins a page of version 1: the levels precede the values, and are compressed
// with them.
func (p *pageReader) readPage(data []byte, values int) (err error) {
	if data, err = p.unpack(data, int(p.header.UncompressedPageSize)); err != nil {
		return err
	}
	h := &p.header.DataPageHeader.V
	for _, l := range []struct {
		levels   *runs
		most     int
		encoding format.Encoding
	}{{&p.repetition, len(p.Repeated), h.RepetitionLevelEncoding}, {&p.definition, p.Definition, h.DefinitionLevelEncoding}} {
		if l.most == 0 {
			continue
		}
		if l.encoding != format.RLE {
			return fmt.Errorf("levels with the encoding %v are not supported", l.encoding)
		}
		var levels []byte
		if levels, data, err = prefixed(data); err != nil {
			return fmt.Errorf("levels: %w", err)
		}
		l.levels.begin(levels, bits.Len(uint(l.most)))
	}
	return p.begin(h.Encoding, data, values)
}

// readPage2 begins a page of version 2, whose levels are not compressed.
func (p *pageReader) readPage2(data []byte, values int) (err error) {
	h := &p.header.DataPageHeaderV2.V
	repetition, definition, size := int(h.RepetitionLevelsByteLength), int(h.DefinitionLevelsByteLength), int(p.header.UncompressedPageSize)
	if repetition < 0 || definition < 0 || repetition > len(data) || definition > len(data)-repetition || repetition+definition > size {
		return errors.New("levels that are longer than their page")
	}
	levels := repetition + definition
	p.repetition.begin(data[:repetition], bits.Len(uint(len(p.Repeated))))
	p.definition.begin(data[repetition:levels], bits.Len(uint(p.Definition)))
	data = data[levels:]
	if (!h.IsCompressed.Valid || h.IsCompressed.V) && size > levels {
		if data, err = p.unpack(data, size-levels); err != nil {
			return err
		}
	}
	return p.begin(h.Encoding, data, values)
}

// begin begins the values of a page: n of them or fewer.
//
// Source: https://parquet.apache.org/docs/file-format/data-pages/encodings/.
func (p *pageReader) begin(e format.Encoding, data []byte, n int) (err error) {
	p.left, p.taken, p.indexed = n, 0, false
	width := p.width()
	switch {
	case p.Physical == format.Boolean && (e == format.Plain || e == format.RLE):
		p.values, p.indexed = bools, true
		if e == format.Plain { // one run
			p.indices = runs{width: 1, packed: data, count: 8 * uint64(len(data))}
			return nil
		}
		data, _, err = prefixed(data)
		p.indices.begin(data, 1)
	case e == format.Plain:
		if p.values, err = p.plain(data, n, p.ends[:0]); err == nil {
			p.ends = p.values.ends
		}
	case (e == plainDictionary || e == format.RLEDictionary) && len(data) == 0: // nothing but nulls
		p.values = &table{width: width}
	case e == plainDictionary || e == format.RLEDictionary:
		switch {
		case p.dictionary == nil:
			return errors.New("a page needs a dictionary, and there is none")
		case data[0] > 32:
			return errRuns
		}
		p.values, p.indexed = p.dictionary, true
		p.indices.begin(data[1:], int(data[0]))
	case e == format.DeltaBinaryPacked && (p.Physical == format.Int32 || p.Physical == format.Int64):
		if _, err = differences(data, n, 8*width); err == nil {
			err = p.decode(e, data, n*width)
		}
	case e == format.ByteStreamSplit && width > 0 && p.Physical != format.Boolean:
		err = p.decode(e, data, len(data))
	case e == format.DeltaLengthByteArray && width < 0, e == format.DeltaByteArray && (width < 0 || p.Physical == format.FixedLenByteArray):
		p.values, err = p.texts(data, n, e == format.DeltaByteArray)
	default:
		err = fmt.Errorf("the encoding %v of such values is not supported", e)
	}
	return err
}

// decode has parquet-go decode values of fixed size, of size bytes together or fewer.
func (p *pageReader) decode(e format.Encoding, data []byte, size int) error {
	if err := p.codecs.budget.Memory(int64(size)); err != nil {
		return err
	}
	t := pq.FixedLenByteArrayType(max(p.Length, 1))
	switch p.Physical {
	case format.Int32:
		t = pq.Int32Type
	case format.Int64:
		t = pq.Int64Type
	case format.Float:
		t = pq.FloatType
	case format.Double:
		t = pq.DoubleType
	}
	return guarded(func() error {
		v, err := t.Decode(t.NewValues(make([]byte, 0, size), nil), data, pq.LookupEncoding(e))
		data, _ := v.Data()
		p.values = &table{data: data, width: p.width(), n: len(data) / p.width()}
		return err
	})
}

// value is the next value that is not null. It is valid until the next page.
func (p *pageReader) value() ([]byte, error) {
	k := p.taken
	p.taken++
	if p.indexed {
		index, err := p.indices.next()
		if err != nil {
			return nil, err
		}
		if uint64(index) >= uint64(p.values.n) {
			return nil, fmt.Errorf("value %d of a dictionary of %d", index, p.values.n)
		}
		k = int(index)
	}
	if k >= p.values.n {
		return nil, io.ErrUnexpectedEOF
	}
	return p.values.at(k), nil
}

// levels reads the next levels. There must be some left.
func (p *pageReader) levels() (repetition, definition int, err error) {
	p.left--
	definition = p.Definition
	if len(p.Repeated) > 0 {
		v, err := p.repetition.next()
		if err != nil {
			return 0, 0, err
		}
		repetition = int(v)
	}
	if p.Definition > 0 {
		v, err := p.definition.next()
		if err != nil {
			return 0, 0, err
		}
		definition = int(v)
	}
	if repetition > len(p.Repeated) || definition > p.Definition {
		return 0, 0, errRuns
	}
	return repetition, definition, nil
}

// A table is the values of a page, or the different ones of a chunk, without nulls.
type table struct {
	data   []byte
	n      int
	width  int   // of each, or -1
	ends   []int // of each, if the width varies
	prefix int   // bytes before each, if the width varies
}

// bools has the values of a column of bools.
var bools = &table{data: []byte{0, 1}, n: 2, width: 1}

func (t *table) at(k int) []byte {
	if t.width >= 0 {
		return t.data[k*t.width:][:t.width]
	}
	begin := t.prefix
	if k > 0 {
		begin += t.ends[k-1]
	}
	return t.data[begin:t.ends[k]]
}

// plain is n values or fewer as they are, each with its length before it if the width varies.
func (p *pageReader) plain(data []byte, n int, ends []int) (*table, error) {
	t := &table{data: data, width: p.width(), ends: ends, prefix: 4}
	if t.width >= 0 {
		t.n = len(data) / t.width
		return t, nil
	}
	if most := min(n, len(data)/4); most > cap(ends) {
		if err := p.codecs.budget.Memory(8 * int64(most)); err != nil {
			return nil, err
		}
		t.ends = make([]int, 0, most)
	}
	for rest := data; len(rest) > 0 && t.n < n; t.n++ {
		var err error
		if _, rest, err = prefixed(rest); err != nil {
			return nil, err
		}
		t.ends = append(t.ends, len(data)-len(rest))
	}
	return t, nil
}

// prefixed cuts off data that begins with its length.
func prefixed(data []byte) (part, rest []byte, err error) {
	if len(data) < 4 {
		return nil, nil, io.ErrUnexpectedEOF
	}
	n := binary.LittleEndian.Uint32(data)
	if uint64(n) > uint64(len(data)-4) {
		return nil, nil, io.ErrUnexpectedEOF
	}
	return data[4 : 4+n : 4+n], data[4+n:], nil
}

var errDelta = errors.New("a page of differences is damaged")

// texts is n values or fewer whose lengths precede all of them (DELTA_LENGTH_BYTE_ARRAY). With
// shared, a value is only what differs from the one before, and before the lengths stand those of
// what does not (DELTA_BYTE_ARRAY).
func (p *pageReader) texts(data []byte, n int, shared bool) (_ *table, err error) {
	var kept []int32
	if shared {
		if kept, data, err = p.lengths(data, n); err != nil {
			return nil, err
		}
	}
	lengths, data, err := p.lengths(data, n)
	if err != nil {
		return nil, err
	}
	if shared && len(kept) != len(lengths) {
		return nil, errDelta
	}
	t := &table{width: -1, n: len(lengths), ends: make([]int, len(lengths))}
	if shared {
		total := int64(len(data))
		for _, k := range kept {
			total += int64(max(k, 0))
		}
		if err := p.codecs.budget.Memory(total); err != nil {
			return nil, err
		}
		t.data = make([]byte, 0, total)
	} else {
		t.data = data
	}
	at, last := 0, 0
	for k, length := range lengths {
		size := int(length)
		if size < 0 || size > len(data) {
			return nil, io.ErrUnexpectedEOF
		}
		if shared {
			before := t.data[last:at]
			if kept[k] < 0 || int(kept[k]) > len(before) {
				return nil, errDelta
			}
			t.data = append(append(t.data, before[:kept[k]]...), data[:size]...)
			size += int(kept[k])
		}
		data = data[length:]
		if width := p.width(); width >= 0 && size != width {
			return nil, errDelta
		}
		last, at = at, at+size
		t.ends[k] = at
	}
	return t, nil
}

// lengths reads at most n lengths, and returns what follows them.
func (p *pageReader) lengths(data []byte, n int) (lengths []int32, rest []byte, err error) {
	if rest, err = differences(data, n, 32); err != nil {
		return nil, nil, err
	}
	if err := p.codecs.budget.Memory(12 * int64(n)); err != nil { // with the ends of the values
		return nil, nil, err
	}
	err = guarded(func() (err error) {
		lengths, err = pq.DeltaBinaryPacked.DecodeInt32(make([]int32, 0, n), data[:len(data)-len(rest):len(data)-len(rest)])
		return err
	})
	return lengths, rest, err
}

// differences passes over at most n integers of bits bits as differences, in blocks of some
// miniblocks, each with its number of bits (DELTA_BINARY_PACKED), and returns what follows them.
// parquet-go, which decodes them, allocates as many as the header says, and does not say where they
// end. A miniblock takes one step: numbers without bits are many in few bytes.
func differences(data []byte, n, bits int) (rest []byte, err error) {
	number := func() (v uint64) {
		var k int
		if v, k = binary.Uvarint(data); k <= 0 {
			err = errDelta
			return 0
		}
		data = data[k:]
		return v
	}
	block, minis, left := number(), number(), number()
	number() // the first one
	switch {
	case err != nil || minis < 1 || minis > block || block > math.MaxInt32:
		return nil, errDelta
	case left > uint64(n):
		return nil, fmt.Errorf("%d lengths or differences of %d values", left, n)
	}
	each := block / minis
	for left = max(left, 1) - 1; left > 0; {
		number() // the least difference
		if err != nil || uint64(len(data)) < minis {
			return nil, io.ErrUnexpectedEOF
		}
		var widths []byte
		widths, data = data[:minis], data[minis:]
		for k := 0; k < len(widths) && left > 0; k++ {
			width, count := uint64(widths[k]), min(left, each)
			if width > uint64(bits) {
				return nil, errDelta
			}
			size := min(each/8*width, uint64(len(data))) // the last one may be cut short
			if count*width > 8*size {
				return nil, io.ErrUnexpectedEOF
			}
			data, left = data[size:], left-count
		}
	}
	return data, nil
}

var errRuns = errors.New("the runs of levels or indices are damaged")

// runs reads numbers of up to 32 bits, in runs: of one number, or of packed ones. These
// are levels, indices of dictionaries and bools.
//
// Source: https://parquet.apache.org/docs/file-format/data-pages/encodings/#RLE.
type runs struct {
	data  []byte
	width int // bits

	same     uint64 // numbers left of a run of value
	value    uint32
	packed   []byte // of the run that is read, if it is packed
	count    uint64 // numbers left in packed
	unpacked [64]uint32
	ahead    []uint32 // of unpacked, that are next
}

func (r *runs) begin(data []byte, width int) {
	r.data, r.width, r.same, r.count, r.ahead = data, width, 0, 0, nil
}

func (r *runs) next() (uint32, error) {
	for r.same == 0 && len(r.ahead) == 0 {
		if err := r.more(); err != nil {
			return 0, err
		}
	}
	if r.same > 0 {
		r.same--
		return r.value, nil
	}
	v := r.ahead[0]
	r.ahead = r.ahead[1:]
	return v, nil
}

// more reads on: the packed run that was begun, or the next run.
func (r *runs) more() error {
	if r.count > 0 {
		// The last run may be cut short: it has groups of eight numbers, but may need fewer.
		n := min(uint64(len(r.unpacked)), r.count, uint64(len(r.packed))*8/uint64(r.width))
		if n == 0 {
			return errRuns
		}
		var padded [4*len(r.unpacked) + bitpack.PaddingInt32]byte
		size := bitpack.ByteCount(uint(n) * uint(r.width))
		copy(padded[:], r.packed[:size])
		r.ahead = r.unpacked[:n]
		bitpack.Unpack(r.ahead, padded[:], uint(r.width))
		r.packed, r.count = r.packed[size:], r.count-n
		return nil
	}
	if len(r.data) == 0 {
		return io.ErrUnexpectedEOF
	}
	head, n := binary.Uvarint(r.data)
	if n <= 0 {
		return errRuns
	}
	r.data = r.data[n:]
	if head&1 == 0 {
		size := bitpack.ByteCount(uint(r.width))
		if len(r.data) < size {
			return io.ErrUnexpectedEOF
		}
		r.value = 0
		for k := range size {
			r.value |= uint32(r.data[k]) << (8 * k)
		}
		r.same, r.data = head>>1, r.data[size:]
		return nil
	}
	if head>>1 > 1<<40 {
		return errRuns
	}
	if r.width == 0 {
		r.same, r.value = head>>1*8, 0
		return nil
	}
	size := min(head>>1*uint64(r.width), uint64(len(r.data)))
	r.packed, r.data, r.count = r.data[:size], r.data[size:], head>>1*8
	return nil
}
