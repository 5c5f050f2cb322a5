package sound

import "math"

// Window multiplies the frames' samples with a window, and writes them to dst, which is as long as the window.
func Window(dst []Vec, frames *[Lanes][]float32, window []float64) {
	n := len(window)
	dst = dst[:n]
	a, b, c, d := frames[0][:n], frames[1][:n], frames[2][:n], frames[3][:n]
	for i := windowKernel(dst, a, b, c, d, window); i < n; i++ {
		w := window[i]
		dst[i] = Vec{float64(a[i]) * w, float64(b[i]) * w, float64(c[i]) * w, float64(d[i]) * w}
	}
}

// Filters sum up weighted frequencies.
type Filters struct {
	spans   []span
	weights []float64 // of all filters
	end     int       // all frequencies are below it
}

// A span is which frequencies a filter sums up.
type span struct{ first, n int32 }

// Add adds a filter that has weights for the frequencies from first on.
func (f *Filters) Add(first int, weights []float64) {
	f.spans = append(f.spans, span{int32(first), int32(len(weights))})
	f.weights = append(f.weights, weights...)
	f.end = max(f.end, first+len(weights))
}

// Sum writes what every filter makes of a spectrum to dst, in the order of the frequencies.
func (f *Filters) Sum(dst, power []Vec) {
	dst, power = dst[:len(f.spans)], power[:f.end]
	if sumKernel(dst, power, f.spans, f.weights) {
		return
	}
	weights := f.weights
	for k, s := range f.spans {
		var sum Vec
		for i := range power[s.first:][:s.n] {
			w, p := weights[i], &power[int(s.first)+i]
			for l := range Lanes {
				sum[l] = fma(w, p[l], sum[l])
			}
		}
		dst[k], weights = sum, weights[s.n:]
	}
}

// Logs writes factor·ln(max(x, floor) + offset) of every value to dst.
func Logs(dst [][Lanes]float32, src []Vec, floor, offset, factor float64) {
	dst = dst[:len(src)]
	if logKernel(dst, src, floor, offset, factor) {
		return
	}
	for k := range src {
		for l, x := range src[k] {
			dst[k][l] = float32(ln(max(x, floor)+offset) * factor)
		}
	}
}

// Greatest is the greatest of the numbers, or not a number if one of them is not. There must be one or more.
func Greatest(x []float32) float32 {
	greatest, done := greatestKernel(x)
	if done == 0 {
		greatest = x[0]
	}
	for _, v := range x[done:] {
		greatest = max(greatest, v)
	}
	return greatest
}

// Level makes (max(x, least) - mean)/std of every number.
func Level(x []float32, least, mean, std float32) {
	x = x[levelKernel(x, least, mean, std):]
	if f, _ := math.Frexp(float64(std)); f == 0.5 { // the inverse of a power of 2 is exact
		inverse := 1 / std
		for i, v := range x {
			x[i] = (max(v, least) - mean) * inverse
		}
		return
	}
	for i, v := range x {
		x[i] = (max(v, least) - mean) / std
	}
}

// Product is the sum of the products of weights and samples, of which there must be as many: in float64, in four sums.
func Product(weights, samples []float32) float32 {
	samples = samples[:len(weights)]
	sum, done := productKernel(weights, samples)
	if done == 0 {
		var s [4]float64
		for ; done+4 <= len(weights); done += 4 {
			w, x := weights[done:done+4], samples[done:done+4]
			for k := range s {
				s[k] += float64(float64(w[k]) * float64(x[k]))
			}
		}
		sum = (s[0] + s[2]) + (s[1] + s[3])
	}
	for i := done; i < len(weights); i++ {
		sum += float64(float64(weights[i]) * float64(samples[i]))
	}
	return float32(sum)
}

// The bits of the root of 1/2, and the coefficients of FreeBSD's logarithm, which math.Log has, too.
const (
	rootHalf = 0x3fe6a09e667f3bcd
	l1       = 6.666666666666735130e-01 // 3FE55555 55555593
	l2       = 3.999999999940941908e-01 // 3FD99999 9997FA04
	l3       = 2.857142874366239149e-01 // 3FD24924 94229359
	l4       = 2.222219843214978396e-01 // 3FCC71C5 1D8E78AF
	l5       = 1.818357216161805012e-01 // 3FC74664 96CB03DE
	l6       = 1.531383769920937332e-01 // 3FC39A09 D078C69F
	l7       = 1.479819860511658591e-01 // 3FC2F112 DF3E5244
)

// ln is the natural logarithm with the series of math.Log, but without the terms for its last bit, and with the same bits everywhere.
func ln(x float64) float64 {
	bits := math.Float64bits(x)
	if bits-0x0010000000000000 >= 0x7ff0000000000000-0x0010000000000000 {
		return math.Log(x) // 0, negative, infinite, no number, or too small
	}
	offset := int64(bits - rootHalf)
	k := float64(offset >> 52)
	f := math.Float64frombits(bits-uint64(offset>>52)<<52) - 1
	s := f / (2 + f)
	s2 := float64(s * s)
	s4 := float64(s2 * s2)
	odd := fma(s4, fma(s4, fma(s4, l7, l5), l3), l1)
	even := fma(s4, fma(s4, l6, l4), l2)
	return fma(k, math.Ln2, s*fma(s4, even, fma(s2, odd, 2)))
}
