package png

import (
	"encoding/binary"
	"fmt"
)

// unfilter undoes the filter of a row whose pixels have so many bytes. Above is the row before
// it, or zeros.
func unfilter(filter byte, row, above []byte, pixel int) error {
	above = above[:len(row)]
	switch filter {
	case 0:
	case 1:
		for i := pixel; i < len(row); i++ {
			row[i] += row[i-pixel]
		}
	case 2:
		addUp(row, above)
	case 3:
		for i := range min(pixel, len(row)) {
			row[i] += above[i] / 2
		}
		for i := pixel; i < len(row); i++ {
			row[i] += uint8((int(row[i-pixel]) + int(above[i])) / 2)
		}
	case 4:
		switch pixel {
		case 3:
			paeth3(row, above)
		case 4:
			paeth4(row, above)
		default:
			for c := range min(pixel, len(row)) {
				paethEvery(row[c:], above[c:], pixel)
			}
		}
	default:
		return fmt.Errorf("no filter has the number %d", filter)
	}
	return nil
}

// addUp adds the row above, 8 bytes at a time.
func addUp(row, above []byte) {
	const low = 0x7f7f7f7f7f7f7f7f
	for len(row) >= 8 && len(above) >= 8 {
		a, b := binary.LittleEndian.Uint64(row), binary.LittleEndian.Uint64(above)
		binary.LittleEndian.PutUint64(row, (a&low+b&low)^(a^b)&^low)
		row, above = row[8:], above[8:]
	}
	for i := range row {
		row[i] += above[i]
	}
}

// nearest is whichever of left, above and corner is nearest to left + above - corner: Paeth's
// predictor.
func nearest(a, b, c int32) int32 {
	pa, pb := b-c, a-c
	pc := pa + pb
	pa, pb, pc = pa^pa>>31-pa>>31, pb^pb>>31-pb>>31, pc^pc>>31-pc>>31
	if pb < pa {
		a, pa = b, pb
	}
	if pc < pa {
		a = c
	}
	return a
}

// paethEvery undoes the filter for one of the bytes of a pixel.
func paethEvery(row, above []byte, pixel int) {
	var a, c int32
	for i := 0; i < len(row); i += pixel {
		b := int32(above[i])
		a = (int32(row[i]) + nearest(a, b, c)) & 255
		row[i], c = byte(a), b
	}
}

// paeth3 is paethEvery for all bytes of pixels of 3. None of the three waits for the others.
func paeth3(row, above []byte) {
	var a0, a1, a2, c0, c1, c2 int32
	for len(row) >= 3 && len(above) >= 3 {
		b0, b1, b2 := int32(above[0]), int32(above[1]), int32(above[2])
		a0 = (int32(row[0]) + nearest(a0, b0, c0)) & 255
		a1 = (int32(row[1]) + nearest(a1, b1, c1)) & 255
		a2 = (int32(row[2]) + nearest(a2, b2, c2)) & 255
		row[0], row[1], row[2] = byte(a0), byte(a1), byte(a2)
		c0, c1, c2 = b0, b1, b2
		row, above = row[3:], above[3:]
	}
}

// paeth4 is paeth3 for pixels of 4 bytes.
func paeth4(row, above []byte) {
	var a0, a1, a2, a3, c0, c1, c2, c3 int32
	for len(row) >= 4 && len(above) >= 4 {
		b0, b1, b2, b3 := int32(above[0]), int32(above[1]), int32(above[2]), int32(above[3])
		a0 = (int32(row[0]) + nearest(a0, b0, c0)) & 255
		a1 = (int32(row[1]) + nearest(a1, b1, c1)) & 255
		a2 = (int32(row[2]) + nearest(a2, b2, c2)) & 255
		a3 = (int32(row[3]) + nearest(a3, b3, c3)) & 255
		row[0], row[1], row[2], row[3] = byte(a0), byte(a1), byte(a2), byte(a3)
		c0, c1, c2, c3 = b0, b1, b2, b3
		row, above = row[4:], above[4:]
	}
}
