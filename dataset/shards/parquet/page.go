package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"

	"github.com/parquet-go/bitpack"
	"github.com/parquet-go/parquet-go/format"
)

// A pageReader reads the pages of a column, one after the other.
//
// parquet-go reads the header, packed numbers, differences and split streams. Decompression and
// runs are read here: parquet-go 0.32 decompresses without a limit, and allocates as many levels as
// a run promises, 256 MiB for 6 bytes; a check that finds that out is already the reader of runs.
type pageReader struct {
	*leaf
	codec  format.CompressionCodec
	codecs *codecs
	limit  int64    // of the bytes of a page, and of its values
	rows   int64    // that the pages have, less those of the pages that were begun; a list may be many values
	pieces [][]byte // with the pages
	memory []byte   // for a page
	header format.PageHeader

	dictionary *dictionary
	left       int // levels of the page
	repetition runs
	definition runs
	values     values
}

// next begins the next page with values. It returns io.EOF if there is none.
func (p *pageReader) next() error {
	for {
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
		case format.IndexPage:
			continue
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
		if p.left > 0 {
			return nil
		}
	}
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
		return nil, 0, fmt.Errorf("a page with %d values and %d bytes: %w", values, size, errTooLarge)
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
	if e := p.header.DictionaryPageHeader.V.Encoding; e != format.Plain && e != plainDictionary {
		return fmt.Errorf("a dictionary with the encoding %v", e)
	}
	data, err := p.codecs.decompress(p.codec, data, int(p.header.UncompressedPageSize), nil)
	if err == nil {
		p.dictionary, err = newDictionary(p.leaf, data, values)
	}
	return err
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

func (p *pageReader) begin(e format.Encoding, data []byte, values int) (err error) {
	p.values, err = p.newValues(e, data, values)
	p.left = values
	return err
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
