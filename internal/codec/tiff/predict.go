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
	for i := step; i < len(row); i++ {
		row[i] += row[i-step]
	}
}

// predictFloats is predict for a row of floats. The row has the highest bytes of all
// numbers first, then their second bytes, and so on, and each byte is a difference to
// an earlier one. The result has the file's order of bytes.
func (d *Decoder) predictFloats(row []byte, step int) {
	sumBytes(row, step)
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
