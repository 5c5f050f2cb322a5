// Package resize computes Pillow's Image.resize for 8 bits per channel, bit for bit.
// It computes the weights of every output position, and applies them in two passes
// over the pixels, a horizontal and a vertical one. It also stores pixels as
// normalised floats.
//
// Pixels are 4 bytes: red, green, blue and one that is ignored.
package resize

import (
	"math"
	"slices"
)

// A Filter is a filter of Pillow's Image.Resampling, one of OpenCV, which [OpenCV] computes, that of [TensorFlow], or one of
// torch's interpolate for uint8 with antialias, with which torchvision resizes tensors.
type Filter uint8

// The filters. All but Nearest, OpenCVLinear and TensorFlowBilinear antialias: when an image shrinks they become wider, so
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
	TensorFlowBilinear
	TorchBilinear
	TorchBicubic
	TorchLanczos
)

// String is Pillow's name of the filter in lower case, or that of OpenCV, TensorFlow or torch.
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
	case TensorFlowBilinear:
		return "tensorflowbilinear"
	case TorchBilinear:
		return "torchbilinear"
	case TorchBicubic:
		return "torchbicubic"
	case TorchLanczos:
		return "torchlanczos"
	}
	return "unknown"
}

// IsTorch reports whether the filter is one of torch.
func (f Filter) IsTorch() bool { return f >= TorchBilinear && f <= TorchLanczos }

// curve is Pillow's filter of the same form.
func (f Filter) curve() Filter {
	switch f {
	case TorchBilinear:
		return Bilinear
	case TorchBicubic:
		return Bicubic
	case TorchLanczos:
		return Lanczos
	}
	return f
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

// plain is the axis without its filter if that does not matter.
func (a Axis) plain() Axis {
	if a.In == a.Out {
		a.Filter = Nearest
	}
	return a
}

// Memory is how many bytes the weights of the axis take at most: those of Weights and of their kernels, which are more than
// FloatWeights, OpenCV and TensorFlow take.
func (a Axis) Memory() int64 {
	taps, n := int64(1), int64(a.To-a.From)
	switch a = a.plain(); a.Filter {
	case Nearest:
	case OpenCVLinear, TensorFlowBilinear:
		taps = 2
	default:
		taps = 2*int64(math.Ceil(radius(a.Filter)*max(float64(a.In)/float64(a.Out), 1))) + 1
	}
	const copies = 5 // of a weight: as it is, and for four kernels, whose taps come in groups of four
	bytes := 8*taps + 32*n + copies*4*n*(taps+3)
	return bytes + bytes/4
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
	c := curveOf(a)
	w.Taps = c.taps()
	w.K = grow(w.K, w.Taps*len(w.First))
	if cap(w.float) < w.Taps {
		w.float = make([]float64, w.Taps+w.Taps/4)
	}
	digits := bits
	if a.Filter.IsTorch() {
		digits = w.torchBits(c, a.Out)
	}
	unit := float64(int(1) << digits)
	for i := range w.First {
		first, k := c.at(a.From+i, w.float)
		w.First[i], w.Count[i] = int32(first), int32(len(k))
		fixed := w.K[i*w.Taps : (i+1)*w.Taps]
		clear(fixed[len(k):])
		for j, v := range k {
			fixed[j] = int32(math.Copysign(0.5, v)+float64(v*unit)) << (bits - digits)
		}
	}
}

// torchBits are the binary digits after the point of torch's weights: as many as let the greatest one fit into 16 bits, but no
// more than here. Sums of such weights round as torch's do. Source: aten/src/ATen/native/cpu/UpSampleKernel.cpp.
func (w *Weights) torchBits(c curve, out int) int {
	most := 0.0
	for x := 0; x < out && most < 1; x++ { // none is 2 or more, so the first of 1 or more decides, which is an image's edge if it grows
		_, k := c.at(x, w.float)
		most = max(most, slices.Max(k))
	}
	n := 0
	for n < bits && int(0.5+float64(most*float64(int(2)<<n))) < 1<<15 {
		n++
	}
	return n
}

// A curve is the filter of an axis, as wide as the resize needs it.
type curve struct {
	filter                 Filter
	in                     int
	scale, support, narrow float64
}

func curveOf(a Axis) curve {
	scale := float64(a.In) / float64(a.Out)
	wide := max(scale, 1)
	return curve{a.Filter.curve(), a.In, scale, float64(radius(a.Filter) * wide), 1 / wide}
}

// taps is how many weights a position has at most.
func (c *curve) taps() int { return 2*int(math.Ceil(c.support)) + 1 }

// at is what source positions from first on weigh in position x, in memory of c.taps weights.
func (c *curve) at(x int, memory []float64) (first int, k []float64) {
	centre := float64((float64(x) + 0.5) * c.scale)
	first = max(int(centre-c.support+0.5), 0)
	k = memory[:min(int(centre+c.support+0.5), c.in)-first]
	sum := 0.0
	for j := range k {
		k[j] = weight(c.filter, float64((float64(j+first)-centre+0.5)*c.narrow))
		sum += k[j]
	}
	if sum != 0 {
		for j := range k {
			k[j] /= sum
		}
	}
	return first, k
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
	switch f.curve() {
	case Box, OpenCVArea:
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
	memory  int64 // the most that they have taken
}

// Weights returns the weights of a. They are valid until the fifteenth call after
// this one.
func (c *Cache) Weights(a Axis) *Weights {
	a = a.plain() // so all filters share one entry
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
	oldest.axis, oldest.used, oldest.memory = a, c.now, max(oldest.memory, a.Memory())
	oldest.weights.Compute(a)
	return &oldest.weights
}

// Memory is how many bytes all weights take at most once those of two axes are there.
func (c *Cache) Memory(x, y Axis) (n int64) {
	x, y = x.plain(), y.plain()
	more := [2]int64{x.Memory(), y.Memory()}
	for i := range c.entries {
		e := &c.entries[i]
		n += e.memory
		if e.axis == x {
			more[0] = 0
		}
		if e.axis == y {
			more[1] = 0
		}
	}
	return n + more[0] + more[1]
}
