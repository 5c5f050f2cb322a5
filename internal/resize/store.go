package resize

import (
	"bytes"
	"fmt"
	"math"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
)

// A Norm stores pixels as normalised values of type T: float32, or uint16 for the
// bits of float16 and bfloat16.
type Norm[T float32 | uint16] struct {
	table  [3][256]T
	lookup *lookup[T] // nil if there is no such kernel
	params params
	store  func(red, green, blue []T, row []byte, p *params) (done int) // computes what the table holds; nil if none does
	plane  func(dst []T, src []byte, p *params, c int) (done int)
}

// params are what kernels compute with, per channel.
type params struct {
	mean, std    [3]float32
	inverse, low [3]float32 // their sum is 1/std
	scale, shift [3]float32 // for halves
}

// NewNorm makes a Norm of (x/255 - mean)/std in float32, rounded after every
// operation as torch does. No std is 0.
func NewNorm(mean, std [3]float32) *Norm[float32] {
	n := newNorm(mean, std, func(x float32) float32 { return x })
	n.lookup = newLookup(lookups32(), &n.table)
	n.use(storeKernel, storePlaneKernel)
	return n
}

// NewTable makes a Norm of any values: values[c][x] is that of the byte x of
// channel c.
func NewTable[T float32 | uint16](values [3][256]T) *Norm[T] {
	n := &Norm[T]{table: values}
	switch n := any(n).(type) {
	case *Norm[float32]:
		n.lookup = newLookup(lookups32(), &n.table)
	case *Norm[uint16]:
		n.lookup = newLookup(lookups16(), &n.table)
	}
	return n
}

func newNorm[T float32 | uint16](mean, std [3]float32, convert func(float32) T) *Norm[T] {
	n := &Norm[T]{params: params{mean: mean, std: std}}
	for c := range 3 {
		n.params.inverse[c] = 1 / std[c]
		n.params.low[c] = float32(1/float64(std[c]) - float64(n.params.inverse[c]))
		for x := range 256 {
			n.table[c][x] = convert(float32(float32(x)/255-mean[c]) / std[c])
		}
	}
	return n
}

// use takes the kernels if they give what the table holds.
func (n *Norm[T]) use(store func(_, _, _ []T, _ []byte, _ *params) int, plane func([]T, []byte, *params, int) int) {
	var row [4 * 256]byte
	var one [256]byte
	for x := range 256 {
		row[4*x], row[4*x+1], row[4*x+2] = byte(x), byte(x), byte(x)
		one[x] = byte(x)
	}
	var planes, single [3][256]T
	done := store(planes[0][:], planes[1][:], planes[2][:], row[:], &n.params)
	for c := range 3 {
		done = min(done, plane(single[c][:], one[:], &n.params, c))
	}
	if done == 256 && sameBits(&planes, &n.table) && sameBits(&single, &n.table) {
		n.store, n.plane = store, plane
	}
}

// sameBits reports whether values have the same bits: == would take 0 and -0 for equal.
func sameBits[T float32 | uint16](a, b *[3][256]T) bool {
	for c := range a {
		if !bytes.Equal(dense.Bytes(a[c][:]), dense.Bytes(b[c][:])) {
			return false
		}
	}
	return true
}

// Store writes a row of pixels to a row of each plane. All have as many pixels.
func (n *Norm[T]) Store(red, green, blue []T, row []byte) {
	if n.lookup.storePixels(red, row, 0) && n.lookup.storePixels(green, row, 1) && n.lookup.storePixels(blue, row, 2) {
		return
	}
	done := 0
	if n.store != nil {
		done = n.store(red, green, blue, row, &n.params)
	}
	red, row = red[done:], row[4*done:]
	green, blue = green[done:][:len(red)], blue[done:][:len(red)]
	for x := range red {
		p := row[4*x : 4*x+4]
		red[x] = n.table[0][p[0]]
		green[x] = n.table[1][p[1]]
		blue[x] = n.table[2][p[2]]
	}
}

// StorePlane writes samples of channel c, as many as dst has room for.
func (n *Norm[T]) StorePlane(dst []T, src []byte, c int) {
	src = src[:len(dst)]
	if n.lookup.storeSamples(dst, src, c) {
		return
	}
	done := 0
	if n.plane != nil {
		done = n.plane(dst, src, &n.params, c)
	}
	for i, x := range src[done:] {
		dst[done+i] = n.table[c][x]
	}
}

// NewHalfNorm makes the Norm of the values of [NewNorm] rounded to dt, which is
// float16 or bfloat16.
func NewHalfNorm(mean, std [3]float32, dt dataset.Dtype) *Norm[uint16] {
	n := newNorm(mean, std, Round(dt))
	n.lookup = newLookup(lookups16(), &n.table)
	store, plane := storeBFloat16Kernel, storePlaneBFloat16Kernel
	if dt == dataset.Float16 {
		store, plane = storeFloat16Kernel, storePlaneFloat16Kernel
	}
	n.fit(plane)
	n.use(store, plane)
	return n
}

// Round is the conversion of float32 to the bits of dt, float16 or bfloat16.
func Round(dt dataset.Dtype) func(float32) uint16 {
	switch dt {
	case dataset.Float16:
		return func(x float32) uint16 { return uint16(dataset.ToF16(x)) }
	case dataset.BFloat16:
		return func(x float32) uint16 { return uint16(dataset.ToBF16(x)) }
	}
	panic(fmt.Sprintf("resize: no conversion to %v", dt))
}

// fit chooses scales and shifts with which a kernel that rounds x·scale + shift once,
// and then to a half, gives what the table holds. The table's values are float32
// rounded three times and then to a half. The half hides the difference, unless a
// value is close to the middle between two halves, or to 0. Then numbers some units in
// the last place away may fit. If none do, as for one in 150 random norms, the kernel
// will not be used.
func (n *Norm[T]) fit(plane func(dst []T, src []byte, p *params, c int) (done int)) {
	var bytes [256]byte
	for x := range bytes {
		bytes[x] = byte(x)
	}
	var got [256]T
	p := &n.params
	for c := range 3 {
		scale := float32(1 / (255 * float64(p.std[c])))
		shift := float32(-float64(p.mean[c]) / float64(p.std[c]))
		for try := range fits * fits {
			p.scale[c] = neighbour(scale, try/fits)
			p.shift[c] = neighbour(shift, try%fits)
			if plane(got[:], bytes[:], p, c) < len(got) || got == n.table[c] {
				break
			}
		}
	}
}

// fits is how many numbers fit tries for the scale, and for the shift.
const fits = 9

// neighbour is the i-th nearest float32 to v, on both sides in turn. The first is v.
func neighbour(v float32, i int) float32 {
	away := (i + 1) / 2
	if i%2 == 0 {
		away = -away
	}
	return math.Float32frombits(uint32(int32(math.Float32bits(v)) + int32(away)))
}
