package sound

import (
	"reflect"
	"testing"

	"github.com/penstock-go/penstock/internal/cpu/cputest"
	"github.com/penstock-go/penstock/internal/guard"
)

// TestKernelsStayWithinTheirMemory has pages that must not be touched before or after all that kernels read and write.
func TestKernelsStayWithinTheirMemory(t *testing.T) {
	guard.Kernels(t, map[string]func(*testing.T){
		"pass2 pass4 pass5 last2 last4 last5 splitPower": spectraAtPages,
		"windows4 sums logs":                             framesAtPages,
		"greatest8 level8 product4":                      numbersAtPages,
	})
}

// at is a copy of s at a page that must not be touched.
func at[T any](t *testing.T, side int, s []T) []T {
	to := guard.At[T](t, side, len(s))
	copy(to, s)
	return to
}

// same compares what f makes with kernels and without.
func same(t *testing.T, what string, n int, f func() any) {
	t.Helper()
	got := f()
	var want any
	cputest.Portable(func() { want = f() })
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s of %d: other values", what, n)
	}
}

func numbers(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i*i%17) + 0.5
	}
	return x
}

func vecs(n int) []Vec {
	x := make([]Vec, n)
	for i, v := range numbers(n) {
		x[i] = Vec{float64(v), 2 * float64(v), 3, float64(i) + 1}
	}
	return x
}

func spectraAtPages(t *testing.T) {
	for _, n := range []int{2, 3, 4, 8, 10, 12, 25, 40, 50, 64, 400, 512} {
		for side := range guard.Sides {
			p, err := New(n)
			if err != nil {
				t.Fatal(err)
			}
			for i := range p.stages {
				p.stages[i].twiddles = at(t, side, p.stages[i].twiddles)
			}
			p.twist, p.places = at(t, side, p.twist), at(t, side, p.places)
			frames, power := guard.At[Vec](t, side, n), guard.At[Vec](t, side, p.Bins())
			for _, s := range p.stages {
				z := guard.At[Complex](t, side, p.m)
				same(t, "a stage", n, func() any {
					for i, v := range vecs(p.m) {
						z[i] = Complex{v, v}
					}
					s.run(z)
					return append([]Complex(nil), z...)
				})
			}
			same(t, "a spectrum", n, func() any {
				copy(frames, vecs(n))
				p.Power(power, frames, guard.At[Complex](t, side, p.Work()))
				return append([]Vec(nil), power...)
			})
		}
	}
}

func framesAtPages(t *testing.T) {
	for n := 1; n < 20; n++ {
		for side := range guard.Sides {
			var in [Lanes][]float32
			for l := range in {
				in[l] = at(t, side, numbers(n))
			}
			window := make([]float64, n)
			for i := range window {
				window[i] = 1 / float64(i+2)
			}
			window, out := at(t, side, window), guard.At[Vec](t, side, n)
			same(t, "a window", n, func() any { Window(out, &in, window); return append([]Vec(nil), out...) })

			var f Filters
			for k := range n {
				f.Add(k, window[:min(k%4, n-k)])
			}
			f.spans, f.weights = at(t, side, f.spans), at(t, side, f.weights)
			power := at(t, side, vecs(n))
			same(t, "sums", n, func() any { f.Sum(out, power); return append([]Vec(nil), out...) })

			logs := guard.At[[Lanes]float32](t, side, n)
			same(t, "logarithms", n, func() any { Logs(logs, power, 1e-10, 0.5, 2); return append([][Lanes]float32(nil), logs...) })
		}
	}
}

func numbersAtPages(t *testing.T) {
	for n := 1; n < 40; n++ {
		for side := range guard.Sides {
			x, y := at(t, side, numbers(n)), at(t, side, numbers(n))
			same(t, "the greatest", n, func() any { return Greatest(x) })
			same(t, "a product", n, func() any { return Product(x, y) })
			same(t, "levels", n, func() any { copy(y, x); Level(y, 2, 0.5, 3); return append([]float32(nil), y...) })
		}
	}
}
