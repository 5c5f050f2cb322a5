package tiff

import (
	"encoding/binary"
	"math"
)

// convert writes len(dst)/4 pixels of a row of interleaved samples, from pixel x on.
// Source: Pillow's Unpack.c and Convert.c.
func (d *Decoder) convert(dst, src []byte, x int) {
	p := &d.stored
	step := p.samples
	if p.planes {
		step = p.bands
	}
	switch p.kind {
	case indices:
		d.convertIndices(dst, src, x, step)
	case gray8:
		convertGray(dst, src[x*step:], step, p.invert)
	case colours8:
		convertColours(dst, src[x*step:], step, 1, 0, p.alpha)
	case colours16:
		convertColours(dst, src[2*x*step:], 2*step, 2, btoi(!p.high), p.alpha)
	default:
		for i := 0; i < len(dst); i += 4 {
			v := p.level(src, x)
			put(dst[i:], [3]uint8{v, v, v})
			x++
		}
	}
}

// level is the x-th sample of a row with more than 8 bits per sample, limited to the
// range 0 to 255.
func (p *storedImage) level(src []byte, x int) uint8 {
	order := binary.ByteOrder(binary.LittleEndian)
	if p.high {
		order = binary.BigEndian
	}
	switch p.kind {
	case gray16:
		return cut(int32(order.Uint16(src[2*x:])))
	case signed16:
		return cut(int32(int16(order.Uint16(src[2*x:]))))
	case signed32:
		return cut(int32(order.Uint32(src[4*x:])))
	}
	switch v := math.Float32frombits(order.Uint32(src[4*x:])); {
	case v >= 255:
		return 255
	case v > 0:
		return uint8(v)
	}
	return 0 // for NaN too
}

func cut(v int32) uint8 { return uint8(min(max(v, 0), 255)) }

// convertIndices is convert for indices. Those of 8 bits are step bytes apart.
func (d *Decoder) convertIndices(dst, src []byte, x, step int) {
	b := d.stored.bits
	if b == 8 {
		src = src[x*step:]
		for i := 0; i < len(dst); i += 4 {
			put(dst[i:], d.palette[src[i/4*step]])
		}
		return
	}
	each, mask := 8/b, byte(1<<b-1)
	for len(dst) > 0 {
		put(dst, d.palette[src[x/each]>>(8-b-x%each*b)&mask])
		dst = dst[4:]
		x++
	}
}

func convertGray(dst, src []byte, step int, invert bool) {
	var flip uint8
	if invert {
		flip = 255
	}
	for i := 0; i < len(dst); i += 4 {
		v := src[i/4*step] ^ flip
		put(dst[i:], [3]uint8{v, v, v})
	}
}

// convertColours is convert for colours. Samples have size bytes, and the highest is
// byte high of each.
func convertColours(dst, src []byte, step, size, high int, alpha bool) {
	switch {
	case step == 3:
		convertThree(dst, src)
	case step == 4 && size == 1:
		convertFour(dst, src, alpha)
	case alpha:
		for i := 0; i < len(dst); i += 4 {
			at := i/4*step + high
			a := int(src[at+3*size])
			put(dst[i:], [3]uint8{divide(src[at], a), divide(src[at+size], a), divide(src[at+2*size], a)})
		}
	default:
		for i := 0; i < len(dst); i += 4 {
			at := i/4*step + high
			put(dst[i:], [3]uint8{src[at], src[at+size], src[at+2*size]})
		}
	}
}

const opaque = 255 << 24

func convertThree(dst, src []byte) {
	src = src[:len(dst)/4*3]
	for ; len(src) > 3 && len(dst) > 4; dst, src = dst[4:], src[3:] {
		binary.LittleEndian.PutUint32(dst, binary.LittleEndian.Uint32(src)|opaque)
	}
	put(dst, [3]uint8(src))
}

func convertFour(dst, src []byte, alpha bool) {
	src = src[:len(dst)]
	for i := 0; i+4 <= len(dst) && i+4 <= len(src); i += 4 {
		v := binary.LittleEndian.Uint32(src[i:])
		if a := int(v >> 24); alpha && a != 255 {
			put(dst[i:], [3]uint8{divide(uint8(v), a), divide(uint8(v>>8), a), divide(uint8(v>>16), a)})
			continue
		}
		binary.LittleEndian.PutUint32(dst[i:], v|opaque)
	}
}

// divide divides a premultiplied sample by alpha.
func divide(v uint8, alpha int) uint8 {
	if alpha == 0 {
		return 0
	}
	return uint8(min(255, int(v)*255/alpha))
}

func put(dst []byte, c [3]uint8) {
	_ = dst[3]
	dst[0], dst[1], dst[2], dst[3] = c[0], c[1], c[2], 255
}
