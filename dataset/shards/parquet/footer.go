package parquet

import (
	"errors"
	"fmt"
	"math"

	"github.com/penstock-go/penstock/internal/budget"
)

// A footer is the metadata of a file, as far as it is of interest.
type footer struct {
	size     int64 // bytes
	elements []element
	rows     int64
	groups   []group
	features []byte // JSON of Hugging Face's datasets, or nil
}

// An element is a node of the schema.
type element struct {
	name       string
	physical   int // type, or -1 for a group
	length     int // bytes of a value of fixed size
	repetition int
	children   int
	converted  int // type, or -1
	logical    int // type, or 0
	bits       int // of a logical integer
	signed     bool
}

// A group is some rows of a file.
type group struct {
	rows   int64
	chunks []chunk
}

// A chunk is a column of a group.
type chunk struct {
	physical     int
	codec        int
	values       int64 // with nulls
	unpacked     int64 // bytes
	packed       int64 // bytes in the file
	data         int64 // offset of the first data page
	dictionary   int64 // offset, or 0
	index        int64 // offset of the page index, or 0
	indexLen     int64
	elsewhere    bool // in another file
	encrypted    bool
	hasMetadata  bool
	firstPage    int64 // offset
	dictionaryTo int64 // where the dictionary ends
}

// The physical types.
const (
	boolean = iota
	int32Type
	int64Type
	int96Type
	floatType
	doubleType
	byteArray
	fixedLen
)

// The kinds of repetition.
const (
	required = iota
	optional
	repeated
)

// maxElements limits the nodes of a schema.
const maxElements = 1 << 16

// parseFooter reads a file's metadata. Its numbers are checked when they are used.
//
// Source: https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift.
func parseFooter(data []byte) (*footer, error) {
	f := &footer{size: int64(len(data))}
	c := &compact{data: data}
	c.fields(tStruct, func(id int, kind byte) bool {
		switch id {
		case 2:
			c.list(kind, func(kind byte) {
				if len(f.elements) >= maxElements {
					c.fail(errors.New("too many columns"))
					return
				}
				f.elements = append(f.elements, c.element(kind))
			})
		case 3:
			f.rows = c.int(kind)
		case 4:
			c.list(kind, func(kind byte) { f.groups = append(f.groups, c.group(kind)) })
		case 5:
			c.list(kind, func(kind byte) {
				if key, value := c.keyValue(kind); string(key) == "huggingface" {
					f.features = value
				}
			})
		case 8:
			c.fail(errors.New("the file is encrypted"))
		default:
			return false
		}
		return true
	})
	return f, c.err
}

func (c *compact) keyValue(kind byte) (key, value []byte) {
	c.fields(kind, func(id int, kind byte) bool {
		switch id {
		case 1:
			key = c.bytes(kind)
		case 2:
			value = c.bytes(kind)
		default:
			return false
		}
		return true
	})
	return key, value
}

func (c *compact) element(kind byte) element {
	e := element{physical: -1, converted: -1}
	c.fields(kind, func(id int, kind byte) bool {
		switch id {
		case 1:
			e.physical = c.small(kind)
		case 2:
			e.length = c.small(kind)
		case 3:
			e.repetition = c.small(kind)
		case 4:
			e.name = string(c.bytes(kind))
		case 5:
			e.children = c.small(kind)
		case 6:
			e.converted = c.small(kind)
		case 10:
			c.logical(kind, &e)
		default:
			return false
		}
		return true
	})
	if len(e.name) == 0 && e.physical >= 0 {
		c.fail(errors.New("a column without a name"))
	}
	return e
}

// small reads a number that fits an int, and is not negative.
func (c *compact) small(kind byte) int {
	n := c.int(kind)
	if n < 0 || n > math.MaxInt32 {
		c.fail(fmt.Errorf("the number %d", n))
		return 0
	}
	return int(n)
}

// logical reads the logical type: a structure with one field, whose number it is.
func (c *compact) logical(kind byte, e *element) {
	c.fields(kind, func(id int, kind byte) bool {
		e.logical = id
		if id != logicalInteger {
			return false
		}
		c.fields(kind, func(id int, kind byte) bool {
			switch id {
			case 1:
				e.bits = c.small(kind)
			case 2:
				e.signed = c.bool(kind)
			default:
				return false
			}
			return true
		})
		return true
	})
}

func (c *compact) group(kind byte) (g group) {
	c.fields(kind, func(id int, kind byte) bool {
		switch id {
		case 1:
			c.list(kind, func(kind byte) { g.chunks = append(g.chunks, c.chunk(kind)) })
		case 3:
			g.rows = c.int(kind)
		default:
			return false
		}
		return true
	})
	if len(g.chunks) == 0 {
		c.fail(errors.New("rows without columns"))
	}
	return g
}

func (c *compact) chunk(kind byte) (h chunk) {
	c.fields(kind, func(id int, kind byte) bool {
		switch id {
		case 1:
			h.elsewhere = len(c.bytes(kind)) > 0
		case 3:
			c.columnMetadata(kind, &h)
		case 4:
			h.index = c.int(kind)
		case 5:
			h.indexLen = c.int(kind)
		case 8, 9:
			h.encrypted = true
			return false
		default:
			return false
		}
		return true
	})
	if !h.hasMetadata { // which also keeps chunks from being smaller than their memory
		c.fail(errors.New("a column without metadata"))
	}
	return h
}

func (c *compact) columnMetadata(kind byte, h *chunk) {
	h.hasMetadata = true
	c.fields(kind, func(id int, kind byte) bool {
		switch id {
		case 1:
			h.physical = c.small(kind)
		case 4:
			h.codec = c.small(kind)
		case 5:
			h.values = c.int(kind)
		case 6:
			h.unpacked = c.int(kind)
		case 7:
			h.packed = c.int(kind)
		case 9:
			h.data = c.int(kind)
		case 11:
			h.dictionary = c.int(kind)
		default:
			return false
		}
		return true
	})
}

// check compares the numbers of a chunk with the file and the group, and finds where it
// begins.
func (h *chunk) check(l *leaf, rows, size int64) error {
	switch {
	case h.elsewhere:
		return errors.New("it is in another file")
	case h.encrypted:
		return errors.New("it is encrypted")
	case h.physical != l.Physical:
		return fmt.Errorf("values of the type %d, want %d", h.physical, l.Physical)
	case h.values < 0 || len(l.Repeated) == 0 && h.values != rows:
		return fmt.Errorf("%d values in %d rows", h.values, rows)
	}
	h.firstPage, h.dictionaryTo = h.data, h.data
	if h.dictionary > 0 && h.dictionary < h.data {
		h.firstPage = h.dictionary
	}
	if h.firstPage < int64(len(magic)) || h.packed < 0 || h.unpacked < 0 || h.packed > size || h.firstPage > size-h.packed || h.data > h.firstPage+h.packed {
		return fmt.Errorf("%d bytes from byte %d, of %d bytes", h.packed, h.firstPage, size)
	}
	return nil
}

// A pagePlace is an entry of the page index.
type pagePlace struct{ off, len, row int64 }

const perPage = 48 // bytes of a pagePlace in a slice that grows

// parsePages reads the page index of a chunk, which must have been checked. Pages follow
// one another, and are within the chunk. b is the budget of the file.
func parsePages(data []byte, h *chunk, rows int64, b *budget.Budget) ([]pagePlace, error) {
	var pages []pagePlace
	at, row := h.data, int64(-1)
	c := &compact{data: data}
	c.fields(tStruct, func(id int, kind byte) bool {
		if id != 1 {
			return false
		}
		c.list(kind, func(kind byte) {
			var p pagePlace
			c.fields(kind, func(id int, kind byte) bool {
				switch id {
				case 1:
					p.off = c.int(kind)
				case 2:
					p.len = c.int(kind)
				case 3:
					p.row = c.int(kind)
				default:
					return false
				}
				return true
			})
			if p.off < at || p.len < 1 || p.len > h.firstPage+h.packed-p.off || p.row <= row || p.row >= rows || row < 0 && p.row != 0 {
				c.fail(fmt.Errorf("a page of row %d with %d bytes from byte %d", p.row, p.len, p.off))
				return
			}
			if err := b.Memory(perPage); err != nil {
				c.fail(err)
				return
			}
			at, row = p.off+p.len, p.row
			pages = append(pages, p)
		})
		return true
	})
	if c.err == nil && len(pages) == 0 {
		c.fail(errors.New("no pages"))
	}
	return pages, c.err
}
