package resize

import (
	"fmt"
	"math"

	"github.com/penstock-go/penstock/dataset"
)

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
