package resize

import (
	"math/rand/v2"
	"testing"

	"github.com/penstock-go/penstock/internal/cpu/cputest"
	"github.com/penstock-go/penstock/internal/guard"
)

// TestKernelsStayWithinTheirMemory has pages that must not be touched before or after all that
// kernels read and write.
func TestKernelsStayWithinTheirMemory(t *testing.T) {
	each := func(test func(*testing.T)) func(*testing.T) {
		return func(t *testing.T) { cputest.Each(func() { test(t) }) }
	}
	guard.Kernels(t, map[string]func(*testing.T){
		"horizontal4 horizontal4x1 horizontalDigits horizontalDigits1 vertical8 verticalDigits verticalDigits1": each(passesAtPages),
		"store8 storePlane8 storeFloat16 storePlaneFloat16 storeBFloat16 storePlaneBFloat16 " +
			"lookupPixels16 lookupSamples16 lookupPixels32 lookupSamples32": each(storesAtPages),
		"interleaveBytes separateBytes": each(bytesAtPages),
	})
}

// fences are the memory of weights.
type fences struct {
	digits [2]guard.Fence[uint8]
	words  [2]guard.Fence[int16]
	longs  [4]guard.Fence[int32]
}

func newFences(t *testing.T, most int) *fences {
	f := &fences{}
	for i := range f.longs {
		f.longs[i] = guard.New[int32](t, most)
	}
	for i := range f.words {
		f.words[i] = guard.New[int16](t, most)
	}
	for i := range f.digits {
		f.digits[i] = guard.New[uint8](t, most)
	}
	return f
}

// fenced is a copy of s at a side of the fence.
func fenced[T any](f guard.Fence[T], side int, s []T) []T {
	to := f.At(side, len(s))
	copy(to, s)
	return to
}

// passesAtPages compares both passes with the portable code, with exact memory for pixels and
// weights, for all numbers of outputs and rows where the kernels' ends differ.
func passesAtPages(t *testing.T) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 8))
	const most = 1 << 17
	source, destination := guard.New[byte](t, most), guard.New[byte](t, most)
	f := newFences(t, most)
	for round := range 600 {
		side := round % guard.Sides
		a := Axis{Filter: Filter(r.IntN(6)), In: 1 + r.IntN(90), Out: 1 + r.IntN(70), Reverse: r.IntN(2) == 0}
		a.From = r.IntN(a.Out)
		a.To = a.From + 1 + r.IntN(min(a.Out-a.From, 1+round/8))
		var w Weights
		w.Compute(a)
		n, rows := len(w.First), 1+r.IntN(13)

		stride := 4 * (w.Hi - w.Lo)
		src, got, want := source.At(side, rows*stride), destination.At(side, rows*4*n), make([]byte, rows*4*n)
		fillNoise(r, src)
		Horizontal(got, 4*n, src, stride, rows, &w) // so that the kernels have their weights
		f.fence(&w, side)
		Horizontal(got, 4*n, src, stride, rows, &w)
		horizontal(want, 4*n, src, stride, rows, &w)
		if x := differ(got, want); x >= 0 {
			t.Fatalf("horizontal pass %+v of %d rows: pixel %d differs", a, rows, x)
		}

		stride = 4 * (1 + round%67)
		src, got, want = source.At(side, (w.Hi-w.Lo)*stride), destination.At(side, stride), make([]byte, stride)
		fillNoise(r, src)
		for i := range n {
			Vertical(got, src, stride, &w, i)
			if i == 0 {
				f.fence(&w, side)
				Vertical(got, src, stride, &w, i)
			}
			vertical(want, src, stride, &w, i)
			if x := differ(got, want); x >= 0 {
				t.Fatalf("vertical pass %+v of %d pixels: pixel %d of row %d differs", a, stride/4, x, i)
			}
		}
	}
}
