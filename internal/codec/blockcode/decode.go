package blockcode

import (
	"encoding/binary"
	"math/bits"
)

// A Decoder decodes rows and keeps its memory between them. The zero value is ready for
// use by one goroutine at a time.
type Decoder struct {
	streams
	flat  []int8 // the values and, in their places, the escapes, and then slack
	small []byte // streams of level Small, decompressed

	kernels kernels // tests compare them
	running kernels // in this row
}

// flatSlack is how many elements the kernels may read and write after the values.
const flatSlack = 64

// Decode fills the blocks from src, the whole code of a row. It sets last[i] to the place
// in zigzag order of block i's last coefficient that may differ from zero, 0 if only
// the DC coefficient may. Src that cannot be the code of so many blocks is an error.
// Then the contents of blocks and last are undefined.
func (d *Decoder) Decode(blocks []Block, last []uint8, level Level, src []byte) error {
	switch {
	case len(last) != len(blocks):
		return errSizes
	case len(blocks) > MaxBlocks:
		return errBlocks
	case level > Small:
		return errLevel
	case len(blocks) == 0 && len(src) > 0:
		return corrupt("length of the row")
	case len(blocks) == 0:
		return nil
	}
	d.running = d.kernels.choose(src)
	var err error
	if level == Small {
		err = d.splitSmall(src, len(blocks))
	} else {
		err = d.split(src, len(blocks))
	}
	if err != nil {
		return err
	}
	if n := d.count; n%2 == 1 && d.values[n/2]>>4 != 1 {
		return corrupt("end of the values")
	}
	d.flat = grow(d.flat, 2*len(d.values)+flatSlack)
	if !d.flatten() {
		return corrupt("number of escapes")
	}
	if !d.expand(blocks, last) {
		return corrupt("mask")
	}
	return d.patch(blocks, last)
}

// flatten fills flat. It reports whether there are as many escapes as values of zero.
func (d *Decoder) flatten() bool {
	if d.running != portable {
		return d.flattenKernel()
	}
	flat, escapes := d.flat[:2*len(d.values)], d.escapes
	e := 0
	for i, v := range d.values {
		x, y := int32(int8(v<<4))>>4, int32(int8(v))>>4
		if e+1 < len(escapes) { // without further branches
			first := int32(int8(escapes[e]))
			if x == 0 {
				x = first
			}
			e += int((uint32(v&15) - 1) >> 31)
			second := int32(int8(escapes[e]))
			if y == 0 {
				y = second
			}
			e += int((uint32(v>>4) - 1) >> 31)
		} else {
			if x == 0 {
				if e == len(escapes) {
					return false
				}
				x = int32(int8(escapes[e]))
				e++
			}
			if y == 0 {
				if e == len(escapes) {
					return false
				}
				y = int32(int8(escapes[e]))
				e++
			}
		}
		flat[2*i], flat[2*i+1] = int8(x), int8(y)
	}
	return e == len(escapes)
}

// scatter is the index of the coefficient for each bit of a mask, and 0 for bit 64.
var scatter = func() (order [128]uint8) {
	copy(order[:], zigzag[1:])
	return order
}()

// expand fills the blocks from flat, without the patches. It reports whether no mask has
// a coefficient 64.
func (d *Decoder) expand(blocks []Block, last []uint8) bool {
	if d.running != portable {
		return d.expandKernel(blocks, last)
	}
	var all uint64
	var dc int16
	masks, flat, wide := d.masks, d.flat, d.wide
	last = last[:len(blocks)]
	for i := range blocks {
		b := &blocks[i]
		*b = Block{}
		if difference := int8(d.dcs[i]); difference != wideDC {
			dc += int16(difference)
		} else {
			dc += int16(binary.LittleEndian.Uint16(wide))
			wide = wide[2:]
		}

		length := int(d.lengths[i/2] >> (i % 2 * 4) & 15)
		var mask uint64
		if len(masks) >= 8 {
			mask = binary.LittleEndian.Uint64(masks) & (1<<(8*length) - 1)
		} else {
			for j, m := range masks[:length] {
				mask |= uint64(m) << (8 * j)
			}
		}
		masks = masks[length:]
		all |= mask
		last[i] = uint8(bits.Len64(mask))
		values := (*[64]int8)(flat)
		count := uint(bits.OnesCount64(mask))
		flat = flat[count:]
		for j := uint(0); j < count; j += 4 { // values too many go to the DC coefficient
			b[scatter[bits.TrailingZeros64(mask)&127]&63] = int16(values[j&63])
			mask &= mask - 1
			b[scatter[bits.TrailingZeros64(mask)&127]&63] = int16(values[(j+1)&63])
			mask &= mask - 1
			b[scatter[bits.TrailingZeros64(mask)&127]&63] = int16(values[(j+2)&63])
			mask &= mask - 1
			b[scatter[bits.TrailingZeros64(mask)&127]&63] = int16(values[(j+3)&63])
			mask &= mask - 1
		}
		b[0] = dc
	}
	return all>>63 == 0
}

// patch adds the patches.
func (d *Decoder) patch(blocks []Block, last []uint8) error {
	i := 0
	for p := d.patches; len(p) >= patchSize; p = p[patchSize:] {
		place := p[1] >> 2
		i += int(p[0]) | int(p[1]&3)<<8
		if i >= len(blocks) || place > last[i] {
			return corrupt("patch")
		}
		if place > 0 {
			v := &blocks[i][zigzag[place&63]]
			*v = int16(p[2])<<8 | *v&0xff
		}
	}
	return nil
}

// grow returns a slice of n elements, in the memory of s if that is large enough.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
