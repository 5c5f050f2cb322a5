package blockcode

import (
	"encoding/binary"
	"math/bits"
)

// wideDC in the stream of DC differences stands for one in the stream wide.
const wideDC = -128

// goOn is the furthest that a patch goes on, in blocks.
const goOn = 1<<10 - 1

// An Encoder encodes rows and keeps its memory between them. The zero value is ready
// for use by one goroutine at a time.
type Encoder struct {
	streams
	nibbles [2][]byte // of lengths and values, one per byte
	lanes   [lanes]bitWriter
}

// Append appends the code of the blocks to dst. It fails for more than MaxBlocks blocks
// and for an unknown level. Slack for the decoder is the caller's to add.
func (e *Encoder) Append(dst []byte, level Level, blocks []Block) ([]byte, error) {
	if len(blocks) > MaxBlocks {
		return dst, errBlocks
	}
	if level > Small {
		return dst, errLevel
	}
	if len(blocks) == 0 {
		return dst, nil
	}
	e.gather(blocks)
	dst = binary.AppendUvarint(dst, uint64(len(e.patches)/patchSize))
	if level == Small {
		return e.appendSmall(dst), nil
	}
	for _, s := range [][]byte{e.lengths, e.dcs, e.masks, e.values, e.escapes, e.wide, e.patches} {
		dst = append(dst, s...)
	}
	return dst, nil
}

// gather fills the streams.
func (e *Encoder) gather(blocks []Block) {
	for _, s := range []*[]byte{&e.dcs, &e.masks, &e.escapes, &e.wide, &e.patches, &e.nibbles[0], &e.nibbles[1]} {
		*s = (*s)[:0]
	}
	lengths, values := e.nibbles[0], e.nibbles[1]
	predicted, patched := int16(0), 0
	for i := range blocks {
		b := &blocks[i]
		difference := b[0] - predicted // modulo 65536
		predicted = b[0]
		if difference > wideDC && difference <= 127 {
			e.dcs = append(e.dcs, byte(difference))
		} else {
			e.dcs = append(e.dcs, wideDC&0xff)
			e.wide = binary.LittleEndian.AppendUint16(e.wide, uint16(difference))
		}

		var mask uint64
		for k := 1; k < 64; k++ {
			v := b[zigzag[k]]
			if v == 0 {
				continue
			}
			mask |= 1 << (k - 1)
			if v >= -8 && v <= 7 {
				values = append(values, byte(v)&15)
				continue
			}
			values = append(values, 0)
			e.escapes = append(e.escapes, byte(v))
			if v != int16(int8(v)) {
				for ; i-patched > goOn; patched += goOn {
					e.patch(goOn, 0, 0)
				}
				e.patch(i-patched, k, v)
				patched = i
			}
		}
		length := (bits.Len64(mask) + 7) / 8
		lengths = append(lengths, byte(length))
		e.masks = binary.LittleEndian.AppendUint64(e.masks, mask)
		e.masks = e.masks[:len(e.masks)-8+length]
	}
	e.nibbles = [2][]byte{lengths, values}
	e.lengths = appendNibbles(e.lengths[:0], lengths, 0)
	e.values = appendNibbles(e.values[:0], values, 1)
}

func (e *Encoder) patch(on, place int, v int16) {
	e.patches = append(e.patches, byte(on), byte(on>>8|place<<2), byte(uint16(v)>>8))
}

// appendNibbles packs values below 16, and fills up with last.
func appendNibbles(dst, nibbles []byte, last byte) []byte {
	for i := 0; i+1 < len(nibbles); i += 2 {
		dst = append(dst, nibbles[i]|nibbles[i+1]<<4)
	}
	if n := len(nibbles); n%2 == 1 {
		dst = append(dst, nibbles[n-1]|last<<4)
	}
	return dst
}
