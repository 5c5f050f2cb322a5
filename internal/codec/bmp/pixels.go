package bmp

import "encoding/binary"

// A layout is where the colours are in pixels of 16 bits or more. Pixels of 16 bits
// have 5 bits per colour, or 6 for green. Larger pixels have one byte per colour.
type layout struct {
	sixGreen bool
	at       [3]int // which byte is red, green and blue
}

// layout returns the layout of the masks. Masks that Pillow does not read are an
// error.
func (h *header) layout() (layout, error) {
	switch {
	case h.compression == plain:
		return layout{at: [3]int{2, 1, 0}}, nil
	case h.bits == 24 && h.masks == [4]uint32{0xff0000, 0xff00, 0xff, h.masks[3]}:
		return layout{at: [3]int{2, 1, 0}}, nil
	case h.bits == 16 && h.masks == [4]uint32{0x7c00, 0x3e0, 0x1f, h.masks[3]}:
		return layout{}, nil
	case h.bits == 16 && h.masks == [4]uint32{0xf800, 0x7e0, 0x1f, h.masks[3]}:
		return layout{sixGreen: true}, nil
	case h.bits == 32:
		if at, ok := layouts[h.masks]; ok {
			return layout{at: at}, nil
		}
	}
	return layout{}, unsupported("%d bits per pixel with the masks %#x", h.bits, h.masks)
}

// layouts are the bytes of red, green and blue in a pixel of 4 bytes, by the masks of
// red, green, blue and alpha. Source: Pillow's BmpImagePlugin.
var layouts = map[[4]uint32][3]int{
	{0xff0000, 0xff00, 0xff, 0}:          {2, 1, 0},
	{0xff000000, 0xff0000, 0xff00, 0}:    {3, 2, 1},
	{0xff000000, 0xff00, 0xff, 0}:        {3, 1, 0},
	{0xff000000, 0xff0000, 0xff00, 0xff}: {3, 2, 1},
	{0xff, 0xff00, 0xff0000, 0xff000000}: {0, 1, 2},
	{0xff0000, 0xff00, 0xff, 0xff000000}: {2, 1, 0},
	{0xff000000, 0xff00, 0xff, 0xff0000}: {3, 1, 0},
	{}:                                   {2, 1, 0},
}

// row writes len(dst)/4 pixels of a row, from pixel x on.
func (d *Decoder) row(dst, src []byte, x int) {
	switch d.bits {
	case 1:
		for i := 0; i < len(dst); i += 4 {
			put(dst[i:], d.palette[src[x/8]>>(7-x%8)&1])
			x++
		}
	case 4:
		for i := 0; i < len(dst); i += 4 {
			put(dst[i:], d.palette[src[x/2]>>(4-x%2*4)&15])
			x++
		}
	case 8:
		for i, v := range src[x:][:len(dst)/4] {
			put(dst[4*i:], d.palette[v])
		}
	case 16:
		d.row16(dst, src[2*x:])
	case 24:
		src = src[3*x:][:len(dst)/4*3]
		for i := 0; i < len(dst); i += 4 {
			put(dst[i:], [3]uint8{src[2], src[1], src[0]})
			src = src[3:]
		}
	case 32:
		src = src[4*x:][:len(dst)]
		red, green, blue := d.layout.at[0]&3, d.layout.at[1]&3, d.layout.at[2]&3
		for i := 0; i < len(dst); i += 4 {
			v := src[i : i+4 : i+4]
			put(dst[i:], [3]uint8{v[red], v[green], v[blue]})
		}
	}
}

func (d *Decoder) row16(dst, src []byte) {
	for i := 0; i < len(dst); i += 4 {
		v := uint32(binary.LittleEndian.Uint16(src[i/2:]))
		c := [3]uint8{0, uint8(v >> 5 & 31 * 255 / 31), uint8(v & 31 * 255 / 31)}
		if d.layout.sixGreen {
			c[1] = uint8(v >> 5 & 63 * 255 / 63)
			v >>= 1
		}
		c[0] = uint8(v >> 10 & 31 * 255 / 31)
		put(dst[i:], c)
	}
}

func put(dst []byte, c [3]uint8) {
	dst[0], dst[1], dst[2], dst[3] = c[0], c[1], c[2], 255
}
