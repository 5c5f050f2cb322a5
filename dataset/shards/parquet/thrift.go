package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A compact reads the compact protocol of Apache Thrift, in which Parquet's metadata is
// written. It takes no memory. After an error all reads give zero.
//
// parquet-go's decoder of the protocol allocates as many elements as the header of a list
// promises, and 560 bytes for each column of a row group.
//
// Source: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md.
type compact struct {
	data []byte
	at   int
	err  error
}

// The types of values.
const (
	tTrue   = 1
	tFalse  = 2
	tByte   = 3
	tInt16  = 4
	tInt64  = 6
	tDouble = 7
	tBinary = 8
	tList   = 9
	tSet    = 10
	tMap    = 11
	tStruct = 12
)

const maxNesting = 16 // of values that are skipped

func (c *compact) fail(err error) {
	if c.err == nil {
		c.err = fmt.Errorf("byte %d of the metadata: %w", c.at, err)
	}
}

var errKind = errors.New("a value of another type")

func (c *compact) byte() byte {
	if c.err != nil {
		return 0
	}
	if c.at >= len(c.data) {
		c.fail(io.ErrUnexpectedEOF)
		return 0
	}
	c.at++
	return c.data[c.at-1]
}

func (c *compact) uvarint() uint64 {
	if c.err != nil {
		return 0
	}
	v, n := binary.Uvarint(c.data[c.at:])
	if n <= 0 {
		c.fail(errors.New("want a number"))
		return 0
	}
	c.at += n
	return v
}

func (c *compact) int(kind byte) int64 {
	switch {
	case kind == tByte:
		return int64(int8(c.byte()))
	case kind < tInt16 || kind > tInt64:
		c.fail(errKind)
		return 0
	}
	v := c.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

func (c *compact) bool(kind byte) bool {
	if kind != tTrue && kind != tFalse {
		c.fail(errKind)
	}
	return kind == tTrue
}

func (c *compact) bytes(kind byte) []byte {
	if kind != tBinary {
		c.fail(errKind)
	}
	n := c.uvarint()
	if c.err == nil && n > uint64(len(c.data)-c.at) {
		c.fail(fmt.Errorf("%d bytes: %w", n, io.ErrUnexpectedEOF))
	}
	if c.err != nil {
		return nil
	}
	c.at += int(n)
	return c.data[c.at-int(n) : c.at : c.at]
}

// list calls use for each element of a list, with its type.
func (c *compact) list(kind byte, use func(kind byte)) {
	if kind != tList && kind != tSet {
		c.fail(errKind)
	}
	head := c.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = c.uvarint()
	}
	for ; n > 0 && c.err == nil; n-- {
		use(head & 15)
	}
}

// fields calls use for each field of a structure, with its number and its type. use
// returns false if it has not read the value.
func (c *compact) fields(kind byte, use func(id int, kind byte) bool) {
	if kind != tStruct {
		c.fail(errKind)
	}
	id := 0
	for c.err == nil {
		head := c.byte()
		if head == 0 {
			return
		}
		if head>>4 != 0 {
			id += int(head >> 4)
		} else {
			id = int(int16(c.int(tInt16)))
		}
		if kind := head & 15; c.err == nil && !use(id, kind) {
			c.skip(kind, 0)
		}
	}
}

// skip reads a value that is of no interest.
func (c *compact) skip(kind byte, depth int) {
	if depth > maxNesting {
		c.fail(errors.New("nested too deeply"))
		return
	}
	switch kind {
	case tTrue, tFalse:
	case tByte:
		c.byte()
	case tInt16, tInt16 + 1, tInt64:
		c.uvarint()
	case tDouble:
		for range 8 {
			c.byte()
		}
	case tBinary:
		c.bytes(kind)
	case tList, tSet:
		c.list(kind, func(kind byte) { c.skipElement(kind, depth+1) })
	case tMap:
		n := c.uvarint()
		if n == 0 {
			return
		}
		kinds := c.byte()
		for ; n > 0 && c.err == nil; n-- {
			c.skipElement(kinds>>4, depth+1)
			c.skipElement(kinds&15, depth+1)
		}
	case tStruct:
		c.fields(kind, func(_ int, kind byte) bool {
			c.skip(kind, depth+1)
			return true
		})
	default:
		c.fail(fmt.Errorf("the type %d is not known", kind))
	}
}

// skipElement skips an element of a list or map, where a bool is a byte.
func (c *compact) skipElement(kind byte, depth int) {
	if kind == tTrue || kind == tFalse {
		kind = tByte
	}
	c.skip(kind, depth)
}
