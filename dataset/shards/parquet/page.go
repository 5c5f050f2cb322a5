package parquet

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
)

// The types of pages.
const (
	dataPage       = 0
	indexPage      = 1
	dictionaryPage = 2
	dataPage2      = 3
)

// A pageHeader precedes the bytes of a page.
type pageHeader struct {
	kind             int
	size             int // bytes after decompression
	packed           int // bytes in the file
	sum              uint32
	summed           bool
	values           int // with nulls
	encoding         int
	definition       int // encoding of the levels, or their bytes in a page of version 2
	repetition       int
	plain            bool // a page of version 2 that is not compressed
	hasData, hasDict bool
}

// readPageHeader reads a header, and returns the bytes that it takes.
func readPageHeader(data []byte) (h pageHeader, n int, err error) {
	c := &compact{data: data}
	c.fields(tStruct, func(id int, kind byte) bool {
		switch id {
		case 1:
			h.kind = c.small(kind)
		case 2:
			h.size = c.small(kind)
		case 3:
			h.packed = c.small(kind)
		case 4:
			h.sum, h.summed = uint32(c.int(kind)), true
		case 5, 8:
			h.hasData = id == 5 && h.kind == dataPage || id == 8 && h.kind == dataPage2
			c.dataHeader(kind, &h, id == 8)
		case 7:
			h.hasDict = h.kind == dictionaryPage
			c.dataHeader(kind, &h, false)
		default:
			return false
		}
		return true
	})
	switch {
	case c.err != nil:
		return h, 0, c.err
	case h.kind > dataPage2 || h.kind == dictionaryPage && !h.hasDict || (h.kind == dataPage || h.kind == dataPage2) && !h.hasData:
		return h, 0, fmt.Errorf("a page of the type %d, without its header", h.kind)
	case h.packed > len(data)-c.at:
		return h, 0, fmt.Errorf("a page of %d bytes: %w", h.packed, io.ErrUnexpectedEOF)
	}
	return h, c.at, nil
}

// dataHeader reads the header of a data page, or of a dictionary, which has only the first
// two fields.
func (c *compact) dataHeader(kind byte, h *pageHeader, second bool) {
	c.fields(kind, func(id int, kind byte) bool {
		switch {
		case id == 1:
			h.values = c.small(kind)
		case id == 2 && !second || id == 4 && second:
			h.encoding = c.small(kind)
		case id == 3 && !second || id == 5 && second:
			if kind == tTrue || kind == tFalse {
				return false // of a dictionary: whether it is sorted
			}
			h.definition = c.small(kind)
		case id == 4 || id == 6 && second:
			h.repetition = c.small(kind)
		case id == 7 && second:
			h.plain = !c.bool(kind)
		default:
			return false
		}
		return true
	})
}

// A pageReader reads the pages of a column, one after the other.
//
// parquet-go, which writes the files, would read them as fast, but its version 0.32 does not do
// for files that nobody has checked. What a page takes stands in its compressed bytes, so that
// checks of the headers are not enough:
//   - It decompresses without a limit. Damaged LZ4_RAW doubles the memory without end, and 28 kB
//     of Zstandard take 256 MiB, whatever the header says.
//   - A run of levels allocates its number of values, 256 MiB for 6 bytes, and differences
//     theirs, 512 MiB for 8 bytes. To check them takes as much code as to decode them.
//   - Bools in a run of 13 trues are read as a true, seven falses, and so on.
type pageReader struct {
	*leaf
	codec  int
	codecs *codecs
	limit  int64    // of the bytes of a page, and of its values
	rows   int64    // that the pages have, less those of the pages that were begun; a list may be many values
	pieces [][]byte // with the pages
	memory []byte   // for a page

	dictionary *dictionary
	left       int // levels of the page
	repetition hybrid
	definition hybrid
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
		h, n, err := readPageHeader(p.pieces[0])
		if err != nil {
			return err
		}
		data := p.pieces[0][n : n+h.packed : n+h.packed]
		p.pieces[0] = p.pieces[0][n+h.packed:]
		if int64(h.size) > p.limit || int64(h.values) > p.limit {
			return fmt.Errorf("a page with %d values and %d bytes: %w", h.values, h.size, errTooLarge)
		}
		if h.kind != dictionaryPage && len(p.Repeated) == 0 {
			if p.rows -= int64(h.values); p.rows < 0 {
				return fmt.Errorf("a page with %d values, %d more than rows", h.values, -p.rows)
			}
		}
		if h.summed {
			if sum := crc32.ChecksumIEEE(data); sum != h.sum {
				return fmt.Errorf("a page with the CRC-32 %08x, want %08x", sum, h.sum)
			}
		}
		switch h.kind {
		case indexPage:
			continue
		case dictionaryPage:
			err = p.readDictionary(&h, data)
		case dataPage:
			err = p.readPage(&h, data)
		case dataPage2:
			err = p.readPage2(&h, data)
		}
		if err != nil {
			return err
		}
		if p.left > 0 {
			return nil
		}
	}
}

func (p *pageReader) readDictionary(h *pageHeader, data []byte) error {
	if p.dictionary != nil {
		return errors.New("a second dictionary")
	}
	if h.encoding != plain && h.encoding != plainDictionary {
		return fmt.Errorf("a dictionary with the encoding %d", h.encoding)
	}
	data, err := p.codecs.decompress(p.codec, data, h.size, nil)
	if err == nil {
		p.dictionary, err = newDictionary(p.leaf, data, h.values)
	}
	return err
}

func (p *pageReader) unpack(data []byte, size int) ([]byte, error) {
	unpacked, err := p.codecs.decompress(p.codec, data, size, p.memory)
	if p.codec != uncompressed && cap(unpacked) > cap(p.memory) {
		p.memory = unpacked
	}
	return unpacked, err
}

// readPage begins a page of version 1: the levels precede the values, and are compressed
// with them.
func (p *pageReader) readPage(h *pageHeader, data []byte) (err error) {
	if data, err = p.unpack(data, h.size); err != nil {
		return err
	}
	for _, l := range []struct {
		levels   *hybrid
		most     int
		encoding int
	}{{&p.repetition, len(p.Repeated), h.repetition}, {&p.definition, p.Definition, h.definition}} {
		if l.most == 0 {
			continue
		}
		if l.encoding != runLength {
			return fmt.Errorf("levels with the encoding %d are not supported", l.encoding)
		}
		var levels []byte
		if levels, data, err = prefixed(data); err != nil {
			return fmt.Errorf("levels: %w", err)
		}
		*l.levels = hybrid{data: levels, width: bits.Len(uint(l.most))}
	}
	return p.begin(h, data)
}

// readPage2 begins a page of version 2, whose levels are not compressed.
func (p *pageReader) readPage2(h *pageHeader, data []byte) (err error) {
	levels := h.repetition + h.definition
	if h.repetition > len(data) || h.definition > len(data)-h.repetition || levels > h.size {
		return errors.New("levels that are longer than their page")
	}
	p.repetition = hybrid{data: data[:h.repetition], width: bits.Len(uint(len(p.Repeated)))}
	p.definition = hybrid{data: data[h.repetition:levels], width: bits.Len(uint(p.Definition))}
	data = data[levels:]
	if !h.plain && h.size > levels {
		if data, err = p.unpack(data, h.size-levels); err != nil {
			return err
		}
	}
	return p.begin(h, data)
}

func (p *pageReader) begin(h *pageHeader, data []byte) (err error) {
	p.values, err = newValues(h.encoding, p.leaf, data, h.values, p.dictionary)
	p.left = h.values
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
