package resize

import "encoding/binary"

// Interleave writes pixels of three bytes. Row has four bytes per pixel, and from says which three of them: red, green and blue, or
// the other way round. Dst has room for all pixels of the row.
func Interleave(dst, row []byte, from [3]int) {
	done := interleaveKernel(dst, row, from)
	interleave(dst[3*done:], row[4*done:], from)
}

// interleave takes eight pixels at once, as words of two.
func interleave(dst, row []byte, from [3]int) {
	const first, second = 0xffffff, 0xffffff << 24 // pixels, side by side
	const colour = 0x000000ff_000000ff
	backwards := from[0] != 0
	joined := func(v uint64) uint64 {
		if backwards {
			v = v>>16&colour | v&(colour<<8) | v&colour<<16
		}
		return v&first | v>>8&second
	}
	for len(row) >= 32 && len(dst) >= 24 {
		a, b := joined(binary.LittleEndian.Uint64(row)), joined(binary.LittleEndian.Uint64(row[8:]))
		c, d := joined(binary.LittleEndian.Uint64(row[16:])), joined(binary.LittleEndian.Uint64(row[24:]))
		binary.LittleEndian.PutUint64(dst, a|b<<48)
		binary.LittleEndian.PutUint64(dst[8:], b>>16|c<<32)
		binary.LittleEndian.PutUint64(dst[16:], c>>32|d<<16)
		row, dst = row[32:], dst[24:]
	}
	for ; len(row) >= 4 && len(dst) >= 3; row, dst = row[4:], dst[3:] {
		dst[0], dst[1], dst[2] = row[from[0]], row[from[1]], row[from[2]]
	}
}

// Separate writes a colour of the pixels of a row of four bytes per pixel, as many as dst has room for.
func Separate(dst, row []byte, colour int) {
	row = row[:4*len(dst)]
	done := separateKernel(dst, row, colour)
	separate(dst[done:], row[4*done:], colour)
}

// separate takes eight pixels at once, as words of two.
func separate(dst, row []byte, colour int) {
	const mask = 0x000000ff_000000ff
	shift := 8 * colour & 31
	for len(row) >= 32 && len(dst) >= 8 {
		a, b := binary.LittleEndian.Uint64(row)>>shift&mask, binary.LittleEndian.Uint64(row[8:])>>shift&mask
		c, d := binary.LittleEndian.Uint64(row[16:])>>shift&mask, binary.LittleEndian.Uint64(row[24:])>>shift&mask
		a, c = a|b<<16, c|d<<16 // pixels 0, 2, 1 and 3 in every second byte
		binary.LittleEndian.PutUint64(dst, uint64(uint32(a|a>>24))|(c|c>>24)<<32)
		row, dst = row[32:], dst[8:]
	}
	for x := range dst {
		dst[x] = row[4*x+colour]
	}
}
