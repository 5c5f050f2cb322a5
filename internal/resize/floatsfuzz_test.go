package resize

import (
	"math"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/hostile"
)

// FuzzFloatWeights checks that the windows of weights are within the source, also where float32
// has no odd numbers, that the weights of a window add up to 1, and that they do not depend on those computed
// before. Sides are up to 2²⁶, and become up to 4 times as long or 64 times shorter.
func FuzzFloatWeights(f *testing.F) {
	for filter := Bilinear; filter <= Hamming; filter++ {
		f.Add(uint8(filter), uint32(1), uint8(255), uint32(0), uint8(9))
		f.Add(uint8(filter)|0x80, uint32(224), uint8(41), uint32(20), uint8(200))
		f.Add(uint8(filter), uint32(5000), uint8(0), uint32(20), uint8(9))
		f.Add(uint8(filter), uint32(1<<24+1), uint8(62), uint32(1<<24-300000), uint8(9))
		f.Add(uint8(filter)|0x80, uint32(1<<26-1), uint8(64), uint32(math.MaxUint32), uint8(5))
	}
	var used FloatWeights
	f.Fuzz(func(t *testing.T, filter uint8, side uint32, ratio uint8, from uint32, n uint8) {
		a := Axis{Filter: Filter(filter & 0x7f % 6), In: max(int(side&(1<<26-1)), 1), Reverse: filter&0x80 != 0}
		a.Out = max(int(int64(a.In)*(1+int64(ratio))/64), 1)
		a.From = int(int64(from) % int64(a.Out))
		a.To = min(a.From+1+int(n), a.Out)
		var w FloatWeights
		w.Compute(a)
		hostile.Bounded(t, 0, int64(weightMemory*len(w.k)), func() { new(FloatWeights).Compute(a) })
		if w.Lo < 0 || w.Hi > a.In || w.Lo >= w.Hi {
			t.Fatalf("%+v: source positions %d to %d", a, w.Lo, w.Hi)
		}
		for i, first := range w.first {
			count := w.count[i]
			if first < 0 || count < 1 || int(count) > w.taps || int(first+count) > w.Hi-w.Lo {
				t.Fatalf("%+v: window %d has %d positions from %d on", a, i, count, first)
			}
			if w.taps == 1 {
				continue
			}
			sum := 0.0
			for _, k := range w.k[i*w.taps:][:count] {
				sum += float64(k)
			}
			if !(math.Abs(sum-1) < 1e-4) {
				t.Fatalf("%+v: the weights of output %d add up to %v", a, i, sum)
			}
		}
		used.Compute(a)
		same := used.Lo == w.Lo && used.Hi == w.Hi && slices.Equal(used.first, w.first) && slices.Equal(used.count, w.count)
		for i := 0; same && w.taps > 1 && i < len(w.first); i++ {
			same = slices.Equal(used.k[i*w.taps:][:w.count[i]], w.k[i*w.taps:][:w.count[i]])
		}
		if !same {
			t.Fatalf("%+v: weights depend on those computed before", a)
		}
	})
}
