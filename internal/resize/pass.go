package resize

import "encoding/binary"

// Horizontal runs the horizontal pass on a number of rows. It writes len(w.First)
// pixels per row to dst. Every row of src begins at position w.Lo of the source and
// ends at w.Hi or later. Strides are in bytes. Kernels may read beyond the end of
// src, up to its capacity.
func Horizontal(dst []byte, dstStride int, src []byte, srcStride, rows int, w *Weights) {
	done := horizontalKernel(dst, dstStride, src, srcStride, rows, w)
	if done < rows {
		horizontal(dst[done*dstStride:], dstStride, src[done*srcStride:], srcStride, rows-done, w)
	}
}

func horizontal(dst []byte, dstStride int, src []byte, srcStride, rows int, w *Weights) {
	width := len(w.First)
	for y := range rows {
		horizontalRow(dst[y*dstStride:][:4*width], src[y*srcStride:][:4*(w.Hi-w.Lo)], w)
	}
}

// horizontalRow adds up red and blue in the two halves of one 64-bit sum. A negative
// red subtracts one from blue, which pack adds again.
func horizontalRow(dst, src []byte, w *Weights) {
	count := w.Count[:len(w.First)]
	for i, first := range w.First {
		k := w.K[i*w.Taps:][:count[i]]
		p := src[4*first:][:4*len(k)]
		rb, g := int64(halfUnit)<<32+halfUnit, int64(halfUnit)
		for _, c := range k {
			if len(p) < 4 {
				break
			}
			v := int64(binary.LittleEndian.Uint32(p))
			p = p[4:]
			rb += (v&0xff | v&0xff0000<<16) * int64(c)
			g += v >> 8 & 0xff * int64(c)
		}
		binary.LittleEndian.PutUint32(dst[4*i:4*i+4], pack(rb, g))
	}
}

// Vertical runs the vertical pass for output row i of w. It writes len(dst)/4 pixels
// to dst. Src begins at row w.Lo of the source, and its rows are stride bytes apart.
func Vertical(dst, src []byte, stride int, w *Weights, i int) {
	if w.Count[i] == 1 && w.K[i*w.Taps] == One {
		copy(dst, src[int(w.First[i])*stride:])
		return
	}
	if !verticalKernel(dst, src, stride, w, i) {
		vertical(dst, src, stride, w, i)
	}
}

func vertical(dst, src []byte, stride int, w *Weights, i int) {
	k := w.K[i*w.Taps:][:w.Count[i]]
	src = src[int(w.First[i])*stride:]
	for x := 0; x+4 <= len(dst); x += 4 {
		rb, g := int64(halfUnit)<<32+halfUnit, int64(halfUnit)
		at := x
		for _, c := range k {
			v := int64(binary.LittleEndian.Uint32(src[at : at+4]))
			at += stride
			rb += (v&0xff | v&0xff0000<<16) * int64(c)
			g += v >> 8 & 0xff * int64(c)
		}
		binary.LittleEndian.PutUint32(dst[x:x+4], pack(rb, g))
	}
}

func pack(rb, g int64) uint32 {
	r := int32(rb)
	b := int32((rb - int64(r)) >> 32)
	return 0xff<<24 | clip(b)<<16 | clip(int32(g))<<8 | clip(r)
}

func clip(v int32) uint32 {
	v >>= bits
	if uint32(v) > 255 {
		return uint32(^(v >> 31)) & 255
	}
	return uint32(v)
}
