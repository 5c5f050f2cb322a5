package resize

import "math"

// FloatWeights are the contributions of source positions to every computed position in
// float32, for samples of more than 8 bits. They are those of torch's interpolate with
// antialias, and for Nearest those of its mode nearest-exact. The zero value is ready
// for use by one goroutine at a time.
type FloatWeights struct {
	// Lo and Hi bound the source positions that contribute: Lo ≤ position < Hi.
	Lo, Hi int

	axis         Axis
	first, count []int32
	taps         int
	k            []float32
}

// Compute fills w for a, which must have 1 ≤ In, 1 ≤ Out, 0 ≤ From < To ≤ Out. It
// reuses w's memory, and returns at once if a is that of the last call.
func (w *FloatWeights) Compute(a Axis) {
	if a.In == a.Out {
		a.Filter = Nearest // all filters are the identity
	}
	if w.axis == a {
		return
	}
	w.axis = a
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
		first := max(int(cut(centre-support)+0.5), 0)
		count := min(int(cut(centre+support)+0.5), a.In) - first
		at := a.at(i)
		w.first[at], w.count[at] = int32(first), int32(count)
		k := w.k[at*w.taps:][:count]
		var sum float32
		for j := range k {
			k[j] = float32(weight(a.Filter, cut((cut(float64(first+j)-centre)+0.5)*narrow)))
			sum += k[j]
		}
		for j := range k {
			k[j] /= sum
		}
	}
}

// Horizontal computes a row: len(dst) is the number of computed positions. Src begins
// at position w.Lo of the source and ends at w.Hi or later.
func (w *FloatWeights) Horizontal(dst, src []float32) {
	if w.taps == 1 {
		for i, first := range w.first[:len(dst)] {
			dst[i] = src[first]
		}
		return
	}
	for i := range dst {
		k := w.k[i*w.taps:][:w.count[i]]
		p := src[w.first[i]:][:len(k)]
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
	clear(dst)
	for ; len(k) >= 4; k = k[4:] {
		a, b, c, d := src[:len(dst)], src[stride:][:len(dst)], src[2*stride:][:len(dst)], src[3*stride:][:len(dst)]
		for x, sum := range dst {
			sum += float32(a[x] * k[0])
			sum += float32(b[x] * k[1])
			sum += float32(c[x] * k[2])
			dst[x] = sum + float32(d[x]*k[3])
		}
		if len(k) == 4 {
			return
		}
		src = src[4*stride:]
	}
	for j, c := range k {
		row := src[j*stride:][:len(dst)]
		for x, v := range row {
			dst[x] += float32(v * c)
		}
	}
}
