package transform

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/png"

	"github.com/penstock-go/penstock/internal/dense"
)

// unfilter undoes the filter of a row whose pixels have so many bytes.
func unfilter(filter byte, row, above []byte, pixel int) error {
	above = above[:len(row)]
	if pixel > 1 {
		return unfilterWide(filter, row, above, pixel)
	}
	var a, c byte // at the left, and above that
	switch filter {
	case 0:
	case 1:
		for i := range row {
			a += row[i]
			row[i] = a
		}
	case 2:
		for i, b := range above {
			row[i] += b
		}
	case 3:
		for i, b := range above {
			a = row[i] + byte((int(a)+int(b))/2)
			row[i] = a
		}
	case 4:
		for i, b := range above {
			a = row[i] + paeth(a, b, c)
			row[i], c = a, b
		}
	default:
		return fmt.Errorf("PNG: no filter has the number %d", filter)
	}
	return nil
}

// unfilterWide is unfilter for pixels of several bytes.
func unfilterWide(filter byte, row, above []byte, pixel int) error {
	if filter > 4 {
		return fmt.Errorf("PNG: no filter has the number %d", filter)
	}
	for i, b := range above {
		var a, c byte
		if i >= pixel {
			a, c = row[i-pixel], above[i-pixel]
		}
		switch filter {
		case 1:
			row[i] += a
		case 2:
			row[i] += b
		case 3:
			row[i] += byte((int(a) + int(b)) / 2)
		case 4:
			row[i] += paeth(a, b, c)
		}
	}
	return nil
}

// paeth is whichever of left, above and corner is nearest to left + above - corner.
func paeth(left, above, corner byte) byte {
	a, b, c := int(left), int(above), int(corner)
	da, db, dc := abs(b-c), abs(a-c), abs(a+b-2*c)
	switch {
	case da <= db && da <= dc:
		return left
	case db <= dc:
		return above
	}
	return corner
}

func abs(n int) int { return max(n, -n) }

// unpack writes the numbers of a row. Grey values of 2 and 4 bits are spread over
// 0 to 255, and those of 1 bit stay 0 and 1, as in Pillow.
func (p *indexPNG) unpack(dst, row []byte) {
	switch p.size() {
	case 2:
		for x, out := 0, dense.Values[uint16](dst); x < len(out); x++ {
			out[x] = binary.BigEndian.Uint16(row[2*x:])
		}
		return
	case 4:
		pixel := p.bits() / 8
		for x, out := 0, dense.Values[int32](dst); x < len(out); x++ {
			out[x] = segmentID(row[pixel*x:])
		}
		return
	}
	if p.depth == 8 {
		copy(dst, row)
		return
	}
	mask := byte(1<<p.depth - 1)
	times := byte(1)
	if p.colour == pngGrey && p.depth > 1 {
		times = 255 / mask
	}
	for x := range dst {
		bit := x * p.depth
		dst[x] = row[bit/8] >> (8 - p.depth - bit%8) & mask * times
	}
}

// segmentID is the number that red, green and blue hold.
func segmentID(rgb []byte) int32 { return int32(rgb[0]) | int32(rgb[1])<<8 | int32(rgb[2])<<16 }

// decodeLaced reads an interlaced file with the standard library.
func (p *indexPNG) decodeLaced(dst []byte, rows int) (err error) {
	defer recovered(&err)
	m, err := png.Decode(bytes.NewReader(p.data))
	if err != nil {
		return err
	}
	for y := p.row; y < rows; y++ {
		n := p.w * p.size()
		out := dst[y*n:][:n]
		switch p.size() {
		case 2:
			for x, out := 0, dense.Values[uint16](out); x < len(out); x++ {
				switch m := m.(type) {
				case *image.Gray16:
					out[x] = m.Gray16At(x, y).Y
				case *image.NRGBA64: // grey with a transparent value
					out[x] = m.NRGBA64At(x, y).R
				}
			}
			continue
		case 4:
			for x, out := 0, dense.Values[int32](out); x < len(out); x++ {
				rgb := straight(m.At(x, y))
				out[x] = segmentID(rgb[:])
			}
			continue
		}
		switch m := m.(type) {
		case *image.Paletted:
			copy(out, m.Pix[y*m.Stride:])
		case *image.Gray:
			copy(out, m.Pix[y*m.Stride:])
		default: // grey with a transparent value
			for x := range out {
				out[x] = straight(m.At(x, y))[0]
			}
		}
		if p.colour == pngGrey && p.depth == 1 {
			for x := range out {
				out[x] &= 1
			}
		}
	}
	p.row = rows
	return nil
}
