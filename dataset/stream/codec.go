package stream

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/encoding"
)

// A codec turns a record into bytes: the values of all fields, in little-endian order. A
// ragged field has its number of bytes before them, as uint32.
type codec struct {
	spec   dataset.Spec
	values []encoding.Encoding
}

func newCodec(spec dataset.Spec) codec {
	c := codec{spec: spec}
	for _, f := range spec {
		c.values = append(c.values, encoding.Of(f.Dtype, false))
	}
	return c
}

// clear makes the fields zeros, or empty if they are ragged.
func (c codec) clear(slot dataset.Slot) {
	for k := range c.spec {
		if cell := slot.Cell(k); cell.Ragged() {
			cell.Grow(0)
		} else {
			clear(cell.Bytes())
		}
	}
}

// size is the number of bytes of a record.
func (c codec) size(slot dataset.Slot) (n int64) {
	for k := range c.spec {
		cell := slot.Cell(k)
		n += int64(len(cell.Bytes()))
		if cell.Ragged() {
			n += lengthBytes
		}
	}
	return n
}

const lengthBytes = 4

// append appends a record, of at most 1 GiB, to dst.
func (c codec) append(dst []byte, slot dataset.Slot) []byte {
	for k := range c.spec {
		cell := slot.Cell(k)
		if cell.Ragged() {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(len(cell.Bytes())))
		}
		start := len(dst)
		dst = append(dst, cell.Bytes()...)
		c.values[k].Encode(dst[start:])
	}
	return dst
}

// place writes a record into a slot.
func (c codec) place(record []byte, slot dataset.Slot) error {
	for k, f := range c.spec {
		cell := slot.Cell(k)
		n := len(cell.Bytes())
		if cell.Ragged() {
			if len(record) < lengthBytes {
				return fmt.Errorf("field %q: the record ends early", f.Name)
			}
			length := binary.LittleEndian.Uint32(record)
			record = record[lengthBytes:]
			if uint64(length) > uint64(len(record)) || int(length)%f.Bytes() != 0 {
				return fmt.Errorf("field %q: %d bytes, and %d remain of the record", f.Name, length, len(record))
			}
			n = int(length)
			cell.Grow(n)
		}
		if n > len(record) {
			return fmt.Errorf("field %q: the record ends early", f.Name)
		}
		values := cell.Bytes()
		copy(values, record[:n])
		c.values[k].Decode(values)
		record = record[n:]
	}
	if len(record) > 0 {
		return fmt.Errorf("%d bytes after the last field", len(record))
	}
	return nil
}

// oversized reports an error if a record has too many bytes.
func (c codec) oversized(slot dataset.Slot, most int) error {
	if n := c.size(slot); n > int64(most) || n > math.MaxInt32 {
		return fmt.Errorf("%d bytes, more than MaxRecordBytes(%d)", n, most)
	}
	return nil
}
