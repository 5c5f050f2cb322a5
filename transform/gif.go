package transform

import (
	"image"
	"image/color"
)

// decodeFrame writes a window of a GIF's first frame, which may be smaller than
// the picture: around it is the background.
func decodeFrame(dst []byte, stride int, window image.Rectangle, img image.Image, file []byte) error {
	if m, ok := img.(*image.Paletted); ok {
		if p := gifPalette(file); len(p) > 0 {
			m.Palette = p
		}
		if shown := window.Intersect(m.Rect); shown != window {
			background(dst, stride, window, m.Palette, file)
			if shown.Empty() {
				return nil
			}
			dst = dst[stride*(shown.Min.Y-window.Min.Y)+4*(shown.Min.X-window.Min.X):]
			window = shown
		}
	}
	convert(dst, stride, img, window)
	return nil
}

func background(dst []byte, stride int, window image.Rectangle, p color.Palette, file []byte) {
	var c [3]uint8
	if len(file) > 11 && int(file[11]) < len(p) {
		c = straight(p[file[11]])
	}
	for y := range window.Dy() {
		fillRow(dst[y*stride:][:4*window.Dx()], c)
	}
}

// gifPalette is the palette of the first frame with the colour of transparent
// pixels, which image/gif forgets and Pillow shows. It is nil in a damaged file.
func gifPalette(file []byte) color.Palette {
	global, frame := gifDescriptor(file)
	if frame == nil {
		return nil
	}
	if local, _ := colourTable(frame[8], frame[9:]); local != nil {
		return local
	}
	return global
}

// gifFrame is the size of the first frame.
func gifFrame(file []byte) (w, h int, ok bool) {
	_, frame := gifDescriptor(file)
	if frame == nil {
		return 0, 0, false
	}
	return int(frame[4]) | int(frame[5])<<8, int(frame[6]) | int(frame[7])<<8, true
}

// gifDescriptor finds the palette of all frames, and the first frame: 9 bytes of
// its descriptor and what follows. The frame is nil in a damaged file.
// Source: GIF89a specification, sections 18 to 25.
func gifDescriptor(file []byte) (global color.Palette, frame []byte) {
	if len(file) < 13 {
		return nil, nil
	}
	global, rest := colourTable(file[10], file[13:])
	for len(rest) > 1 {
		switch rest[0] {
		case 0x21: // extension: label, blocks
			rest = skipBlocks(rest[2:])
		case 0x2c: // image descriptor
			if len(rest) < 10 {
				return nil, nil
			}
			return global, rest[1:]
		default:
			return nil, nil
		}
	}
	return nil, nil
}

// colourTable reads the table that flags announce from the beginning of data.
func colourTable(flags byte, data []byte) (color.Palette, []byte) {
	n := 2 << (flags & 7)
	if flags&0x80 == 0 {
		return nil, data
	}
	if len(data) < 3*n {
		return nil, nil
	}
	p := make(color.Palette, n)
	for i := range p {
		p[i] = color.NRGBA{data[3*i], data[3*i+1], data[3*i+2], 255}
	}
	return p, data[3*n:]
}

// skipBlocks goes past sub-blocks, each with its length before it, and the
// empty one that ends them.
func skipBlocks(data []byte) []byte {
	for len(data) > 0 {
		n := int(data[0])
		if n+1 > len(data) {
			return nil
		}
		data = data[n+1:]
		if n == 0 {
			return data
		}
	}
	return nil
}
