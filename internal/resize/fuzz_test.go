package resize

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/penstock-go/penstock/internal/guard"
	"github.com/penstock-go/penstock/internal/hostile"
)

// axes adds the first inputs of both fuzz targets. The number of output positions
// fits one byte, and sizes are below 2¹⁶.
func axes(f *testing.F) {
	for filter := Bilinear; filter <= Hamming; filter++ {
		for _, size := range [][2]uint16{{1, 1}, {1, 300}, {300, 1}, {500, 341}, {224, 256}, {7, 7}, {65535, 3}, {2, 65535}, {5000, 9}} {
			f.Add(uint8(filter), size[0], size[1], uint16(0), uint8(200), uint64(size[0]))
			f.Add(uint8(filter)|0x80, size[0], size[1], uint16(size[1]-1), uint8(3), uint64(size[1]))
		}
	}
}

// axisOf makes a valid axis from any numbers. The highest bit of filter reverses it.
func axisOf(filter uint8, in, out, from uint16, n uint8) Axis {
	a := Axis{Filter: Filter(filter & 0x7f % 6), In: max(int(in), 1), Out: max(int(out), 1), Reverse: filter&0x80 != 0}
	a.From = int(from) % a.Out
	a.To = min(a.From+1+int(n), a.Out)
	return a
}

// weightMemory is that of a weight: also in float64, and in the layout of the kernels.
const weightMemory = 32

// FuzzWeights checks that the windows of weights are within the image and in the
// order of the outputs, and that the weights of a window add up to One. Each may be
// wrong by half a unit, because weights are rounded one by one.
func FuzzWeights(f *testing.F) {
	axes(f)
	var used Weights
	f.Fuzz(func(t *testing.T, filter uint8, in, out, from uint16, n uint8, _ uint64) {
		a := axisOf(filter, in, out, from, n)
		var w Weights
		w.Compute(a)
		hostile.Bounded(t, 0, int64(weightMemory*len(w.K)), func() { new(Weights).Compute(a) })
		if len(w.First) != a.To-a.From || len(w.Count) != len(w.First) || len(w.K) != w.Taps*len(w.First) {
			t.Fatalf("%+v: %d and %d windows and %d weights of %d taps", a, len(w.First), len(w.Count), len(w.K), w.Taps)
		}
		if w.Lo < 0 || w.Hi > a.In || w.Lo >= w.Hi {
			t.Fatalf("%+v: source positions %d to %d", a, w.Lo, w.Hi)
		}
		lo, hi := int32(math.MaxInt32), int32(0)
		for i, first := range w.First {
			count := w.Count[i]
			if first < 0 || count < 1 || int(count) > w.Taps || int(first+count) > w.Hi-w.Lo {
				t.Fatalf("%+v: window %d has %d positions from %d on", a, i, count, first)
			}
			lo, hi = min(lo, first), max(hi, first+count)
			if i > 0 && first != w.First[i-1] && first < w.First[i-1] != a.Reverse {
				t.Fatalf("%+v: window %d begins at %d, the one before at %d", a, i, first, w.First[i-1])
			}
			sum, size := int64(0), int64(0)
			for j, k := range w.K[i*w.Taps:][:w.Taps] {
				if j >= int(count) && k != 0 {
					t.Fatalf("%+v: weight %d of output %d is outside its window", a, j, i)
				}
				sum += int64(k)
				size += max(int64(k), -int64(k))
			}
			if off := sum - One; 2*max(off, -off) > int64(count) {
				t.Fatalf("%+v: %d weights of output %d add up to One%+d", a, count, i, off)
			}
			if (size+1)*255 > math.MaxInt32 {
				t.Fatalf("%+v: sums of output %d may exceed 32 bits", a, i)
			}
		}
		if lo != 0 || int(hi) != w.Hi-w.Lo {
			t.Fatalf("%+v: windows are %d to %d of %d positions", a, lo, hi, w.Hi-w.Lo)
		}
		used.Compute(a)
		if !same(&used, &w) {
			t.Fatalf("%+v: weights depend on those computed before", a)
		}
	})
}

func same(a, b *Weights) bool {
	bytesOf := func(w *Weights) []byte {
		var text []byte
		for _, s := range [][]int32{w.First, w.Count, w.K, {int32(w.Lo), int32(w.Hi), int32(w.Taps)}} {
			text, _ = binary.Append(text, binary.LittleEndian, s)
		}
		return text
	}
	return bytes.Equal(bytesOf(a), bytesOf(b))
}

// FuzzPasses checks that the results of the kernels, if the processor has them, are
// those of the portable code bit for bit. Source and destination are next to pages
// where any access crashes.
func FuzzPasses(f *testing.F) {
	axes(f)
	const most = 1 << 24
	source, destination := guard.New[byte](f, most), guard.New[byte](f, most)
	var w Weights
	f.Fuzz(func(t *testing.T, filter uint8, in, out, from uint16, n uint8, seed uint64) {
		a := axisOf(filter, in, out, from, n)
		w.Compute(a)
		r := rand.New(rand.NewPCG(seed, 3))

		rows, gap := r.IntN(14), 4*r.IntN(3)
		stride := 4*(w.Hi-w.Lo) + gap
		src := edge(r, source, max(rows*stride-gap, 0)) // the last row has no gap after it
		fillNoise(r, src)
		wide := 4*len(w.First) + gap
		got := edge(r, destination, rows*wide)
		want := make([]byte, len(got))
		hostile.Bounded(t, len(src), int64(weightMemory*len(w.K)), func() { Horizontal(got, wide, src, stride, rows, &w) })
		horizontal(want, wide, src, stride, rows, &w)
		for y := range rows {
			if x := differ(got[y*wide:][:4*len(w.First)], want[y*wide:]); x >= 0 {
				t.Fatalf("horizontal pass %+v: pixel %d of row %d of %d differs", a, x, y, rows)
			}
			if after := got[(y+1)*wide-gap:][:gap]; !bytes.Equal(after, make([]byte, gap)) {
				t.Fatalf("horizontal pass %+v: written after row %d of %d", a, y, rows)
			}
		}

		stride = 4 * (1 + r.IntN(60))
		src = edge(r, source, (w.Hi-w.Lo)*stride)
		fillNoise(r, src)
		got = edge(r, destination, stride)
		want = make([]byte, stride)
		for i := range w.First {
			Vertical(got, src, stride, &w, i)
			vertical(want, src, stride, &w, i)
			if x := differ(got, want); x >= 0 {
				t.Fatalf("vertical pass %+v: pixel %d of %d of row %d differs", a, x, stride/4, i)
			}
		}
	})
}

// edge returns n zeros at a side of the fence, more often at the end.
func edge[T any](r *rand.Rand, fence guard.Fence[T], n int) []T {
	s := fence.At(min(r.IntN(4), 1), n)
	clear(s)
	return s
}

// fillNoise fills b with random bytes, or only with bytes of 0 and 255.
func fillNoise(r *rand.Rand, b []byte) {
	mask := []uint64{0, 0x0101010101010101}[r.IntN(2)]
	for len(b) > 0 {
		v := r.Uint64()
		if mask != 0 {
			v = v & mask * 255
		}
		var eight [8]byte
		binary.LittleEndian.PutUint64(eight[:], v)
		b = b[copy(b, eight[:]):]
	}
}

// differ returns the first pixel in which red, green or blue differ, or -1.
func differ(got, want []byte) int {
	for i := range got {
		if i%4 < 3 && got[i] != want[i] {
			return i / 4
		}
	}
	return -1
}
