// Package resize computes Pillow's Image.resize for 8 bits per channel, bit for bit.
// It computes the weights of every output position, and applies them in two passes
// over the pixels, a horizontal and a vertical one. It also stores pixels as
// normalised floats.
//
// Pixels are 4 bytes: red, green, blue and one that is ignored.
package resize

import "math"

// A Filter is a filter of Pillow's Image.Resampling, or one of OpenCV, which [OpenCV] computes.
type Filter uint8

// The filters. All but Nearest and OpenCVLinear antialias: when an image shrinks they become wider, so
// that every source pixel contributes.
const (
	Bilinear Filter = iota
	Nearest
	Box
	Bicubic
	Lanczos
	Hamming
	OpenCVLinear
	OpenCVArea
)

// String is Pillow's name of the filter in lower case, or OpenCV's name.
func (f Filter) String() string {
	switch f {
	case Bilinear:
		return "bilinear"
	case Nearest:
		return "nearest"
	case Box:
		return "box"
	case Bicubic:
		return "bicubic"
	case Lanczos:
		return "lanczos"
	case Hamming:
		return "hamming"
	case OpenCVLinear:
		return "opencvlinear"
	case OpenCVArea:
		return "opencvarea"
	}
	return "unknown"
}

// One is the weight 1. Weights are fixed-point numbers with 22 bits of fraction. In
// sums of 32 bits that leaves 8 bits for the pixel and 2 for overshoot.
const (
	bits     = 22
	One      = 1 << bits
	halfUnit = 1 << (bits - 1)
)

// An Axis describes the resize along one dimension: In pixels become Out pixels. Only
// positions From to To-1 are computed, in reverse order if Reverse is set.
type Axis struct {
	Filter   Filter
	In, Out  int
	From, To int
	Reverse  bool
}

// Weights are the contributions of source pixels to every computed position.
type Weights struct {
	// Lo and Hi bound the source positions that contribute: Lo ≤ position < Hi.
	Lo, Hi int
	// For output i, First[i] is the first contributing position minus Lo, and
	// Count[i] is how many positions contribute. K[i*Taps:] holds their weights,
	// and zeros up to Taps.
	First, Count []int32
	Taps         int
	K            []int32

	float []float64
	taps  taps // the same weights in the kernels' layout
}

// Compute fills w for a, which must have 1 ≤ In, 1 ≤ Out, 0 ≤ From < To ≤ Out.
// It reuses w's memory.
func (w *Weights) Compute(a Axis) {
	n := a.To - a.From
	w.First, w.Count = grow(w.First, n), grow(w.Count, n)
	switch {
	case a.In == a.Out:
		w.identity(a)
	case a.Filter == Nearest:
		w.nearest(a)
	default:
		w.convolution(a)
	}
	w.rebase()
	if a.Reverse {
		w.reverse()
	}
	w.taps.pack(w)
}

// identity is a pass that Pillow skips.
func (w *Weights) identity(a Axis) {
	w.ones(len(w.First))
	for i := range w.First {
		w.First[i] = int32(a.From + i)
	}
}

// nearest takes the pixel under the output's centre. It adds up the step, as Pillow
// does, because a multiplication would round differently.
func (w *Weights) nearest(a Axis) {
	w.ones(len(w.First))
	step := float64(a.In) / float64(a.Out)
	at := float64(step * 0.5)
	for x := range a.To {
		if x >= a.From {
			w.First[x-a.From] = int32(min(int(at), a.In-1))
		}
		at += step
	}
}

func (w *Weights) ones(n int) {
	w.Taps = 1
	w.K = grow(w.K, n)
	for i := range n {
		w.Count[i], w.K[i] = 1, One
	}
}

// convolution evaluates the filter in float64, in Pillow's order of operations. The
// conversions prevent the compiler from fusing multiplication and addition.
func (w *Weights) convolution(a Axis) {
	scale := float64(a.In) / float64(a.Out)
	wide := max(scale, 1)
	support := float64(radius(a.Filter) * wide)
	narrow := 1 / wide
	w.Taps = 2*int(math.Ceil(support)) + 1
	w.K = grow(w.K, w.Taps*len(w.First))
	if cap(w.float) < w.Taps {
		w.float = make([]float64, w.Taps+w.Taps/4)
	}
	for i := range w.First {
		centre := float64((float64(a.From+i) + 0.5) * scale)
		first := max(int(centre-support+0.5), 0)
		count := min(int(centre+support+0.5), a.In) - first
		w.First[i], w.Count[i] = int32(first), int32(count)

		k := w.float[:count]
		sum := 0.0
		for j := range k {
			k[j] = weight(a.Filter, float64((float64(j+first)-centre+0.5)*narrow))
			sum += k[j]
		}
		fixed := w.K[i*w.Taps : (i+1)*w.Taps]
		clear(fixed[count:])
		for j, v := range k {
			if sum != 0 {
				v /= sum
			}
			fixed[j] = int32(math.Copysign(0.5, v) + float64(v*One))
		}
	}
}

func (w *Weights) rebase() {
	lo, hi := int32(math.MaxInt32), int32(0)
	for i, f := range w.First {
		lo, hi = min(lo, f), max(hi, f+w.Count[i])
	}
	for i := range w.First {
		w.First[i] -= lo
	}
	w.Lo, w.Hi = int(lo), int(hi)
}

func (w *Weights) reverse() {
	for i, j := 0, len(w.First)-1; i < j; i, j = i+1, j-1 {
		w.First[i], w.First[j] = w.First[j], w.First[i]
		w.Count[i], w.Count[j] = w.Count[j], w.Count[i]
		a, b := w.K[i*w.Taps:(i+1)*w.Taps], w.K[j*w.Taps:(j+1)*w.Taps]
		for t := range a {
			a[t], b[t] = b[t], a[t]
		}
	}
}

func grow(s []int32, n int) []int32 {
	if cap(s) < n {
		return make([]int32, n, n+n/4)
	}
	return s[:n]
}

// radius is how far the filter reaches, in pixels of the coarser image.
func radius(f Filter) float64 {
	switch f {
	case Box:
		return 0.5
	case Bilinear, Hamming:
		return 1
	case Bicubic:
		return 2
	default:
		return 3
	}
}

// weight is the filter's value x pixels off its centre.
func weight(f Filter, x float64) float64 {
	switch f {
	case Box:
		if x > -0.5 && x <= 0.5 {
			return 1
		}
		return 0
	case Bilinear:
		return max(1-math.Abs(x), 0)
	case Hamming:
		return hamming(math.Abs(x))
	case Bicubic:
		return bicubic(math.Abs(x))
	default:
		if x >= -3 && x < 3 {
			return float64(sinc(x) * sinc(x/3))
		}
		return 0
	}
}

func hamming(x float64) float64 {
	switch {
	case x == 0:
		return 1
	case x >= 1:
		return 0
	}
	x *= math.Pi
	return float64(math.Sin(x)/x) * (hamming54 + float64(hamming46*math.Cos(x)))
}

// In Pillow these are constants of type float.
const hamming54, hamming46 = 0x1.147ae2p-1, 0x1.d70a3ep-2 // 0.54 and 0.46 in 32 bits

// bicubic is Keys' cubic convolution with a = -0.5.
func bicubic(x float64) float64 {
	const a = -0.5
	switch {
	case x < 1:
		return float64(float64(float64(float64((a+2)*x)-(a+3))*x)*x) + 1
	case x < 2:
		return float64((float64((float64((x-5)*x)+8)*x) - 4) * a)
	}
	return 0
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	x *= math.Pi
	return math.Sin(x) / x
}

// A Cache keeps the weights of the axes used last, because many images have equal
// sizes. Its zero value is ready for use by one goroutine.
type Cache struct {
	entries [16]entry
	now     uint64
}

type entry struct {
	axis    Axis
	used    uint64 // Cache.now at the last use
	weights Weights
}

// Weights returns the weights of a. They are valid until the fifteenth call after
// this one.
func (c *Cache) Weights(a Axis) *Weights {
	if a.In == a.Out {
		a.Filter = Nearest // the filter does not matter, so all share one entry
	}
	c.now++
	oldest := &c.entries[0]
	for i := range c.entries {
		e := &c.entries[i]
		if e.axis == a {
			e.used = c.now
			return &e.weights
		}
		if e.used < oldest.used {
			oldest = e
		}
	}
	oldest.axis, oldest.used = a, c.now
	oldest.weights.Compute(a)
	return &oldest.weights
}
