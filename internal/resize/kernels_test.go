package resize

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/penstock-go/penstock/internal/cpu"
)

// TestKernelsEqualThePortableCode compares both passes on dark, bright and random
// pixels, for every filter, for larger and smaller outputs, in both directions.
func TestKernelsEqualThePortableCode(t *testing.T) {
	if !cpu.Kernels() {
		t.Skip("the kernels need AVX2 and FMA or NEON, and PENSTOCK_KERNELS not to be portable")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		a := Axis{Filter: Filter(r.IntN(6)), In: 1 + r.IntN(700), Out: 1 + r.IntN(300), Reverse: r.IntN(2) == 0}
		a.From = r.IntN(a.Out)
		a.To = a.From + 1 + r.IntN(a.Out-a.From)
		var w Weights
		w.Compute(a)
		compareHorizontal(t, a, &w, r)
		compareVertical(t, a, &w, r)
	}
}

func noise(r *rand.Rand, n, slack int) []byte {
	b := make([]byte, n, n+slack)
	pattern := r.IntN(3)
	for i := range b {
		switch v := byte(r.Uint32()); pattern {
		case 0:
			b[i] = v
		case 1:
			b[i] = 255 * (v & 1)
		case 2:
			b[i] = 250 + v%6
		}
	}
	return b
}

func compareHorizontal(t *testing.T, a Axis, w *Weights, r *rand.Rand) {
	t.Helper()
	rows, n, wide := 1+r.IntN(9), len(w.First), w.Hi-w.Lo
	stride := 4 * (wide + r.IntN(3))
	src := noise(r, rows*stride, r.IntN(80))
	want, got := make([]byte, rows*4*n), make([]byte, rows*4*n)
	horizontal(want, 4*n, src, stride, rows, w)
	Horizontal(got, 4*n, src, stride, rows, w)
	for i := 3; i < len(got); i += 4 {
		got[i], want[i] = 0, 0 // the fourth byte is ignored
	}
	if !bytes.Equal(got, want) {
		t.Errorf("horizontal pass %+v: %d rows differ", a, rows)
	}
}

func compareVertical(t *testing.T, a Axis, w *Weights, r *rand.Rand) {
	t.Helper()
	wide := 1 + r.IntN(40)
	src := noise(r, (w.Hi-w.Lo)*4*wide, r.IntN(2)*4*wide)
	want, got := make([]byte, 4*wide), make([]byte, 4*wide)
	for i := range w.First {
		vertical(want, src, 4*wide, w, i)
		Vertical(got, src, 4*wide, w, i)
		for i := 3; i < len(got); i += 4 {
			got[i], want[i] = 0, 0
		}
		if !bytes.Equal(got, want) {
			t.Errorf("vertical pass %+v: row %d of %d pixels differs", a, i, wide)
			return
		}
	}
}

// BenchmarkEval resamples a photo of 500×375 pixels as the evaluation preset does.
func BenchmarkEval(b *testing.B) {
	var wx, wy Weights
	wx.Compute(Axis{In: 500, Out: 341, From: 58, To: 282})
	wy.Compute(Axis{In: 375, Out: 256, From: 16, To: 240})
	rows, stride := wy.Hi-wy.Lo, 4*(wx.Hi-wx.Lo)
	src := noise(rand.New(rand.NewPCG(1, 1)), rows*stride, 64)
	mid := make([]byte, rows*4*224)
	row := make([]byte, 4*224)
	b.Run("horizontal", func(b *testing.B) {
		for b.Loop() {
			Horizontal(mid, 4*224, src, stride, rows, &wx)
		}
	})
	b.Run("vertical", func(b *testing.B) {
		for b.Loop() {
			for y := range 224 {
				Vertical(row, mid, 4*224, &wy, y)
			}
		}
	})
}
