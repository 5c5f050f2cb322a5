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

func TestStoreIsTorchsArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var mean, std [3]float32
		for c := range 3 {
			mean[c], std[c] = r.Float32(), r.Float32()*3+1e-3
		}
		n := NewNorm(mean, std)
		wide := 1 + r.IntN(40)
		row := noise(r, 4*wide, 0)
		planes := [3][]float32{make([]float32, wide), make([]float32, wide), make([]float32, wide)}
		n.Store(planes[0], planes[1], planes[2], row)
		for c, plane := range planes {
			for x, got := range plane {
				want := float32(row[4*x+c]) / 255
				want -= mean[c]
				want /= std[c]
				if got != want {
					t.Fatalf("(%d/255 - %v)/%v: got %v, want %v", row[4*x+c], mean[c], std[c], got, want)
				}
			}
		}
	}
}

func TestStorePlaneIsTorchsArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		var mean, std [3]float32
		for c := range 3 {
			mean[c], std[c] = r.Float32(), r.Float32()*3+1e-3
		}
		n := NewNorm(mean, std)
		src := noise(r, 1+r.IntN(40), 0)
		got := make([]float32, len(src))
		c := r.IntN(3)
		n.StorePlane(got, src, c)
		for i, x := range src {
			want := float32(x) / 255
			want -= mean[c]
			want /= std[c]
			if got[i] != want {
				t.Fatalf("(%d/255 - %v)/%v: got %v, want %v", x, mean[c], std[c], got[i], want)
			}
		}
	}
}

func TestStoreOfCommonNormsUsesTheKernel(t *testing.T) {
	if !cpu.Kernels() {
		t.Skip("the kernels need AVX2 and FMA or NEON, and PENSTOCK_KERNELS not to be portable")
	}
	for _, n := range []*Norm{
		NewNorm([3]float32{0.485, 0.456, 0.406}, [3]float32{0.229, 0.224, 0.225}),
		NewNorm([3]float32{}, [3]float32{1, 1, 1}),
		NewNorm([3]float32{0.5, 0.5, 0.5}, [3]float32{0.5, 0.5, 0.5}),
	} {
		if !n.kernel {
			t.Errorf("mean %v, deviation %v: the kernel differs from the table", n.mean, n.std)
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
	out := make([]float32, 3*224*224)
	norm := NewNorm([3]float32{0.485, 0.456, 0.406}, [3]float32{0.229, 0.224, 0.225})
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
	b.Run("store", func(b *testing.B) {
		for b.Loop() {
			for y := range 224 {
				plane := out[224*y:]
				norm.Store(plane[:224], plane[224*224:][:224], plane[2*224*224:][:224], row)
			}
		}
	})
}
