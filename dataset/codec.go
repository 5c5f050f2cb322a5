package dataset

import (
	"encoding/binary"
	"math"

	"github.com/penstock-go/penstock/internal/bulk"
)

// A codec says how values in a file differ from those in memory.
type codec struct {
	size    int  // bytes of a part that has a byte order: half of a complex number
	swap    bool // the file has the other byte order
	half    bool // float16, which becomes float32
	boolean bool // bytes, of which all but 0 are true
}

// stored is how many bytes of a file a row of that many bytes takes.
func (c codec) stored(row int64) int64 {
	if c.half {
		return row / 2
	}
	return row
}

// decode turns what the file holds, which lies at the row's end, into values.
func (c codec) decode(row []byte) {
	raw := row[int64(len(row))-c.stored(int64(len(row))):]
	if c.swap {
		bulk.Swap(raw, c.size)
	}
	switch {
	case c.half:
		widenHalves(row, raw)
	case c.boolean:
		for i, b := range raw {
			if b > 1 {
				raw[i] = 1
			}
		}
	}
}

// widenHalves makes float32 values of the float16 ones in raw. That may be the
// end of row: a value is written where those before it were read.
func widenHalves(row, raw []byte) {
	for len(raw) >= 2 && len(row) >= 4 {
		binary.NativeEndian.PutUint32(row, widenHalf(binary.NativeEndian.Uint16(raw)))
		row, raw = row[4:], raw[2:]
	}
}

// widenHalf is the float32 of the same value as an IEEE 754 binary16, both as bits.
func widenHalf(h uint16) uint32 {
	sign, rest := uint32(h&0x8000)<<16, uint32(h&0x7fff)
	if rest >= 0x7c00 { // infinite or not a number
		return sign | 0x7f800000 | rest<<13
	}
	// The exponent's bias differs by 112; multiplying moves subnormals right too.
	const twoTo112 = 1 << 112
	return sign | math.Float32bits(math.Float32frombits(rest<<13)*twoTo112)
}

// bigEndian reports whether this machine is.
func bigEndian() bool { return !bulk.LittleEndian() }
