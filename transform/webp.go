package transform

import (
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
)

// fromWebP gives a lossy WebP picture its colours. Its luma runs from 16 to 235,
// which x/image/webp leaves as it is in an image.YCbCr, whose luma would run
// from 0 to 255.
func fromWebP(img image.Image) image.Image {
	switch m := img.(type) {
	case *image.YCbCr:
		return &video{m}
	case *image.NYCbCrA:
		return &video{&m.YCbCr}
	}
	return img
}

// video is a picture of 4:2:0 in video range, ITU-R BT.601.
type video struct{ *image.YCbCr }

func (v *video) ColorModel() color.Model { return color.NRGBAModel }

func (v *video) At(x, y int) color.Color {
	r, g, b := v.rgb(x, y)
	return color.NRGBA{r, g, b, 255}
}

// rgb is libwebp's conversion: chroma from the four nearest samples, 9:3:3:1,
// and 14-bit fixed point.
func (v *video) rgb(x, y int) (r, g, b uint8) {
	luma := int(v.Y[v.YOffset(x, y)]) * 19077 >> 8
	cb := v.chroma(v.Cb, x, y)
	cr := v.chroma(v.Cr, x, y)
	r = sixth(luma + cr*26149>>8 - 14234)
	g = sixth(luma - cb*6419>>8 - cr*13320>>8 + 8708)
	b = sixth(luma + cb*33050>>8 - 17685)
	return r, g, b
}

// chroma interpolates as libwebp's fancy upsampler, rounding in two steps.
func (v *video) chroma(plane []uint8, x, y int) int {
	w, h := (v.Rect.Dx()+1)/2, (v.Rect.Dy()+1)/2
	near, far := x/2, min(max(x/2+x%2*2-1, 0), w-1)
	row, next := y/2, min(max(y/2+y%2*2-1, 0), h-1)
	a, b := int(plane[row*v.CStride+near]), int(plane[row*v.CStride+far])
	c, d := int(plane[next*v.CStride+near]), int(plane[next*v.CStride+far])
	if near == far {
		return (3*a + c + 2) >> 2
	}
	diagonal := (a + 3*b + 3*c + d + 8) >> 3
	return (diagonal + a) >> 1
}

// sixth drops 6 bits of fraction.
func sixth(v int) uint8 { return uint8(min(max(v>>6, 0), 255)) }

// lossless tells whether the file has pixels of the kind that takes no bits.
func lossless(file []byte) bool {
	chunk, _ := webpFrame(file)
	return chunk != "VP8 "
}

// checkWebP compares the size of the picture in the file with that of the
// header, from which an extended file can differ, before there is memory for it.
func checkWebP(file []byte, w, h int) error {
	switch chunk, data := webpFrame(file); {
	case chunk == "VP8 " && len(data) >= 10:
		fw, fh := int(binary.LittleEndian.Uint16(data[6:]))&0x3fff, int(binary.LittleEndian.Uint16(data[8:]))&0x3fff
		if fw == w && fh == h {
			return nil
		}
	case chunk == "VP8L" && len(data) >= 5:
		v := binary.LittleEndian.Uint32(data[1:])
		if int(v&0x3fff)+1 == w && int(v>>14&0x3fff)+1 == h {
			return nil
		}
	}
	return fmt.Errorf("no picture of %d×%d pixels in the file", w, h)
}

// webpFrame finds the chunk that holds the picture: its name and its bytes.
// Source: RFC 9649, section 2.
func webpFrame(file []byte) (chunk string, data []byte) {
	for at := 12; at <= len(file)-8; {
		name, size := string(file[at:at+4]), int64(binary.LittleEndian.Uint32(file[at+4:]))
		rest := file[at+8:]
		if name == "VP8 " || name == "VP8L" {
			return name, rest[:min(size, int64(len(rest)))]
		}
		size += size & 1
		if size > int64(len(rest)) {
			break
		}
		at += 8 + int(size)
	}
	return "", nil
}
