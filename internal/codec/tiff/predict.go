package tiff

import "encoding/binary"

// predict reverses the predictor in a chunk of one plane. Sources: TIFF 6.0, section
// 14, and TIFF Technical Note 3 for floating point.
func (d *Decoder) predict(chunk []byte) {
	p := &d.stored
	if p.predictor == 1 {
		return
	}
	step := p.samples
	if p.planes {
		step = 1
	}
	n := p.rowBytes()
	if p.predictor == 3 {
		d.row = grow(d.row, n)
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if p.high {
		order = binary.BigEndian
	}
	for row := chunk; len(row) >= n; row = row[n:] {
		switch {
		case p.predictor == 3:
			d.predictFloats(row[:n], step)
		case p.bits == 8:
			sumBytes(row[:n], step)
		case p.bits == 16:
			for i := 2 * step; i < n-1; i += 2 {
				order.PutUint16(row[i:], order.Uint16(row[i:])+order.Uint16(row[i-2*step:]))
			}
		default:
			for i := 4 * step; i < n-3; i += 4 {
				order.PutUint32(row[i:], order.Uint32(row[i:])+order.Uint32(row[i-4*step:]))
			}
		}
	}
}

func sumBytes(row []byte, step int) {
	switch step {
	case 1:
		var a byte
		for i, v := range row {
			a += v
			row[i] = a
		}
	case 3:
		var a, b, c byte
		for ; len(row) >= 3; row = row[3:] {
			a += row[0]
			b += row[1]
			c += row[2]
			row[0], row[1], row[2] = a, b, c
		}
	case 4:
		var sum uint32 // four sums of a byte each
		const even, odd = 0x00ff00ff, 0xff00ff00
		for ; len(row) >= 4; row = row[4:] {
			v := binary.LittleEndian.Uint32(row)
			sum = (sum&even+v&even)&even | (sum&odd+v&odd)&odd
			binary.LittleEndian.PutUint32(row, sum)
		}
	default:
		for i := step; i < len(row); i++ {
			row[i] += row[i-step]
		}
	}
}

// predictFloats is predict for a row of floats. The row has the highest bytes of all
// numbers first, then their second bytes, and so on, and each byte is a difference to
// an earlier one. The result has the file's order of bytes.
func (d *Decoder) predictFloats(row []byte, step int) {
	for i := step; i < len(row); i++ {
		row[i] += row[i-step]
	}
	copy(d.row, row)
	n := len(row) / 4
	for i := range n {
		for b := range 4 {
			at := 4*i + 3 - b
			if d.stored.high {
				at = 4*i + b
			}
			row[at] = d.row[b*n+i]
		}
	}
}
