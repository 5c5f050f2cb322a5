package resize

import (
	"encoding/binary"
	"math"
)

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
	if row := Unchanged(src, stride, len(dst), w, i); row != nil {
		copy(dst, row)
		return
	}
	if !verticalKernel(dst, src, stride, w, i) {
		vertical(dst, src, stride, w, i)
	}
}

// Unchanged returns the first n bytes of the row of src that [Vertical] would copy to output row i, or nil if it would compute
// that row.
func Unchanged(src []byte, stride, n int, w *Weights, i int) []byte {
	if w.Count[i] != 1 || w.K[i*w.Taps] != One {
		return nil
	}
	return src[int(w.First[i])*stride:][:n]
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

// FloatWeights are the contributions of source positions to every computed position in
// float32, for samples of more than 8 bits. They are those of torch's interpolate with
// antialias, and for Nearest those of its mode nearest-exact. The zero value is ready
// for use by one goroutine at a time.
type FloatWeights struct {
	// Lo and Hi bound the source positions that contribute: Lo ≤ position < Hi.
	Lo, Hi int

	axis         Axis
	memory       int64 // the most that weights have taken
	first, count []int32
	taps         int
	k            []float32
}

// Compute fills w for a, which must have 1 ≤ In, 1 ≤ Out, 0 ≤ From < To ≤ Out. It
// reuses w's memory, and returns at once if a is that of the last call.
func (w *FloatWeights) Compute(a Axis) {
	a = a.plain()
	if w.axis == a {
		return
	}
	w.axis, w.memory = a, w.Memory(a)
	n := a.To - a.From
	w.first, w.count = grow(w.first, n), grow(w.count, n)
	if a.Filter == Nearest {
		w.nearest(a)
	} else {
		w.convolution(a)
	}
	lo, hi := int32(math.MaxInt32), int32(0)
	for i, f := range w.first {
		lo, hi = min(lo, f), max(hi, f+w.count[i])
	}
	for i := range w.first {
		w.first[i] -= lo
	}
	w.Lo, w.Hi = int(lo), int(hi)
}

// Memory is how many bytes the weights take at most once those of an axis are there.
func (w *FloatWeights) Memory(a Axis) int64 { return max(w.memory, a.Memory()) }

// at is where position from a.From on is stored.
func (a *Axis) at(i int) int {
	if a.Reverse {
		return a.To - a.From - 1 - i
	}
	return i
}

func (w *FloatWeights) nearest(a Axis) {
	w.taps = 1
	scale := float32(a.In) / float32(a.Out)
	for i := range w.first {
		from := a.From + i
		if a.In != a.Out {
			from = min(int(float32((float64(from)+0.5)*float64(scale))), a.In-1)
		}
		w.first[a.at(i)], w.count[i] = int32(from), 1
	}
}

// convolution has torch's mixture of float32 and float64. Source:
// aten/src/ATen/native/cpu/UpSampleKernel.cpp. Box and Hamming, which torch has not, are
// computed in float64, as Pillow does.
func (w *FloatWeights) convolution(a Axis) {
	cut := func(v float64) float64 { return float64(float32(v)) }
	if a.Filter == Box || a.Filter == Hamming {
		cut = func(v float64) float64 { return v }
	}
	scale := cut(float64(a.In) / float64(a.Out))
	wide := max(scale, 1)
	support, narrow := cut(radius(a.Filter)*wide), cut(1/wide)
	w.taps = 2*int(math.Ceil(support)) + 1
	if n := w.taps * len(w.first); cap(w.k) < n {
		w.k = make([]float32, n, n+n/4)
	}
	w.k = w.k[:w.taps*len(w.first)]
	for i := range w.first {
		centre := cut(scale * (float64(a.From+i) + 0.5))
		// Places above 2^24 are not exact in float32, so the clamps keep them in the source.
		first := min(max(int(cut(centre-support)+0.5), 0), a.In-1)
		count := min(max(min(int(cut(centre+support)+0.5), a.In)-first, 1), w.taps)
		at := a.at(i)
		w.first[at], w.count[at] = int32(first), int32(count)
		k := w.k[at*w.taps:][:count]
		var sum float32
		for j := range k {
			k[j] = float32(weight(a.Filter, cut((cut(float64(first+j)-centre)+0.5)*narrow)))
			sum += k[j]
		}
		if sum == 0 {
			k[0], sum = 1, 1
		}
		for j := range k {
			k[j] /= sum
		}
		for ; count > 1 && k[count-1] == 0; count-- {
		}
		w.count[at] = int32(count)
	}
}

// Horizontal computes a number of rows. Every row of src begins at position w.Lo of the
// source. Strides are the values from a row to the next.
func (w *FloatWeights) Horizontal(dst []float32, dstStride int, src []float32, srcStride, rows int) {
	n, width := len(w.first), w.Hi-w.Lo
	for ; rows >= 4; rows -= 4 {
		var to, from [4][]float32
		for r := range 4 {
			to[r], from[r] = dst[r*dstStride:][:n], src[r*srcStride:][:width]
		}
		w.fourRows(to, from)
		if rows == 4 {
			return
		}
		dst, src = dst[4*dstStride:], src[4*srcStride:]
	}
	for r := range rows {
		w.row(dst[r*dstStride:][:n], src[r*srcStride:][:width])
	}
}

// fourRows is row for four rows at a time, which share the loads of weights.
func (w *FloatWeights) fourRows(dst, src [4][]float32) {
	n := len(dst[0])
	da, db, dc, dd := dst[0], dst[1][:n], dst[2][:n], dst[3][:n]
	a, b, c, d := src[0], src[1][:len(src[0])], src[2][:len(src[0])], src[3][:len(src[0])]
	first := w.first[:n]
	if w.taps == 1 {
		for i, f := range first {
			da[i], db[i], dc[i], dd[i] = a[f], b[f], c[f], d[f]
		}
		return
	}
	count := w.count[:n]
	for i, f := range first {
		k := w.k[i*w.taps : (i+1)*w.taps]
		if count[i] == 2 {
			k0, k1 := k[0], k[1]
			g := f + 1
			da[i] = float32(a[f]*k0) + float32(a[g]*k1)
			db[i] = float32(b[f]*k0) + float32(b[g]*k1)
			dc[i] = float32(c[f]*k0) + float32(c[g]*k1)
			dd[i] = float32(d[f]*k0) + float32(d[g]*k1)
			continue
		}
		var sa, sb, sc, sd float32
		for _, v := range k[:count[i]] {
			sa += float32(a[f] * v)
			sb += float32(b[f] * v)
			sc += float32(c[f] * v)
			sd += float32(d[f] * v)
			f++
		}
		da[i], db[i], dc[i], dd[i] = sa, sb, sc, sd
	}
}

func (w *FloatWeights) row(dst, src []float32) {
	for i, f := range w.first[:len(dst)] {
		if w.taps == 1 {
			dst[i] = src[f]
			continue
		}
		k := w.k[i*w.taps:][:w.count[i]]
		p := src[f:][:len(k)]
		var sum float32
		for j, c := range k {
			sum += float32(p[j] * c)
		}
		dst[i] = sum
	}
}

// Vertical computes row i. Src begins at row w.Lo of the source, and its rows are
// stride values apart.
func (w *FloatWeights) Vertical(dst, src []float32, stride, i int) {
	src = src[int(w.first[i])*stride:]
	if w.taps == 1 {
		copy(dst, src)
		return
	}
	k := w.k[i*w.taps:][:w.count[i]]
	row := func(j int) []float32 { return src[j*stride:][:len(dst)] }
	switch len(k) {
	case 1:
		for x, v := range row(0) {
			dst[x] = v * k[0]
		}
		return
	case 2:
		a, b, ka, kb := row(0), row(1), k[0], k[1]
		for x, v := range a {
			dst[x] = float32(v*ka) + float32(b[x]*kb)
		}
		return
	}
	a, b, c, ka, kb, kc := row(0), row(1), row(2), k[0], k[1], k[2]
	for x, v := range a {
		dst[x] = float32(v*ka) + float32(b[x]*kb) + float32(c[x]*kc)
	}
	j := 3
	for ; j+2 <= len(k); j += 2 {
		a, b, ka, kb := row(j), row(j+1), k[j], k[j+1]
		for x, v := range a {
			dst[x] = dst[x] + float32(v*ka) + float32(b[x]*kb)
		}
	}
	if j < len(k) {
		c := k[j]
		for x, v := range row(j) {
			dst[x] += float32(v * c)
		}
	}
}
