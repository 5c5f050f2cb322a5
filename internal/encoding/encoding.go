// Package encoding says how values are stored in files, and decodes them in place, for the formats of arrays:
// dataset/idx, dataset/npy, dataset/shards and dataset/stream.
package encoding

import (
	"encoding/binary"
	"math"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/bulk"
)

// An Encoding says how values are stored in a file and in memory.
type Encoding struct {
	Dtype dataset.Dtype // of the values in memory
	Size  int           // bytes of a value in the file

	part    int  // bytes that are swapped together: half of a complex number
	swap    bool // the file has the other byte order
	half    bool // float16, which becomes float32
	boolean bool // one byte each; any value except 0 is true
}

// Of is the encoding of values of dtype dt in a file of that byte order.
func Of(dt dataset.Dtype, bigEndian bool) Encoding {
	size := dt.Size()
	e := Encoding{Dtype: dt, Size: size, part: size, boolean: dt == dataset.Bool}
	if dt == dataset.Complex64 || dt == dataset.Complex128 {
		e.part /= 2
	}
	e.swap = e.part > 1 && bigEndian == bulk.LittleEndian()
	return e
}

// Float16 is the encoding of float16 values, which become float32.
func Float16(bigEndian bool) Encoding {
	return Encoding{Dtype: dataset.Float32, Size: 2, part: 2, swap: bigEndian == bulk.LittleEndian(), half: true}
}

// Stored is the size in the file of a row that has that many bytes in memory.
func (e Encoding) Stored(row int64) int64 {
	if e.half {
		return row / 2
	}
	return row
}

// Raw is the end of row, where the bytes of the file must be before
// [Encoding.Decode].
func (e Encoding) Raw(row []byte) []byte {
	return row[int64(len(row))-e.Stored(int64(len(row))):]
}

// Decode turns the bytes of the file, which are in [Encoding.Raw], into values.
func (e Encoding) Decode(row []byte) {
	raw := e.Raw(row)
	e.Encode(raw)
	switch {
	case e.half:
		widenHalves(row, raw)
	case e.boolean:
		for i, b := range raw {
			if b > 1 {
				raw[i] = 1
			}
		}
	}
}

// Encode puts values into the file's byte order, in place.
func (e Encoding) Encode(row []byte) {
	if e.swap {
		bulk.Swap(row, e.part)
	}
}

// widenHalves turns the float16 values of raw into float32 values of row. raw
// may be the end of row: values are written only where earlier ones were read.
func widenHalves(row, raw []byte) {
	for len(raw) >= 2 && len(row) >= 4 {
		x := dataset.F16(binary.NativeEndian.Uint16(raw)).Float32()
		binary.NativeEndian.PutUint32(row, math.Float32bits(x))
		row, raw = row[4:], raw[2:]
	}
}
