package dataset_test

import (
	"math"
	"testing"

	"github.com/penstock-go/penstock/dataset"
)

// nearest finds the neighbour of x among the finite numbers of a format by their
// distances alone: value(i) grows with i, from 0 to last, and beyond is what
// last's successor would be.
func nearest(x float64, last int, value func(int) float64, beyond float64) int {
	low, high := 0, last+1
	at := func(i int) float64 {
		if i > last {
			return beyond
		}
		return value(i)
	}
	for high-low > 1 {
		if mid := (low + high) / 2; at(mid) <= x {
			low = mid
		} else {
			high = mid
		}
	}
	below, above := x-at(low), at(low+1)-x
	if above < below || above == below && low%2 == 1 {
		return low + 1
	}
	return low
}

func TestEveryFloat16ComesBackFromFloat32(t *testing.T) {
	for i := range 1 << 16 {
		h := dataset.F16(i)
		got := dataset.ToF16(h.Float32())
		if h&0x7fff > 0x7c00 {
			h |= 0x200 // NaNs become quiet
		}
		if got != h {
			t.Fatalf("%#04x: got %#04x", i, got)
		}
	}
}

func TestEveryBFloat16ComesBackFromFloat32(t *testing.T) {
	for i := range 1 << 16 {
		h := dataset.BF16(i)
		got := dataset.ToBF16(h.Float32())
		if h&0x7fff > 0x7f80 {
			h |= 0x40
		}
		if got != h {
			t.Fatalf("%#04x: got %#04x", i, got)
		}
	}
}

func TestFloat16ValuesAreThoseOfTheStandard(t *testing.T) {
	for bits, want := range map[dataset.F16]float64{
		0x0001: 0x1p-24, 0x03ff: 1023 * 0x1p-24, 0x0400: 0x1p-14, 0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x3555: 0.333251953125,
	} {
		if got := bits.Float32(); float64(got) != want {
			t.Errorf("%#04x: got %v, want %v", uint16(bits), got, want)
		}
	}
	if x := dataset.F16(0x7c00).Float32(); !math.IsInf(float64(x), 1) {
		t.Errorf("0x7c00: got %v", x)
	}
}

func TestRoundingIsToTheNearestAndTiesToEven(t *testing.T) {
	f16 := func(i int) float64 { return float64(dataset.F16(i).Float32()) }
	bf16 := func(i int) float64 { return float64(dataset.BF16(i).Float32()) }
	// Steps of a prime number of representations visit all exponents, and the
	// numbers on and next to every tie of float16 are among the others.
	check := func(x float32) {
		t.Helper()
		v := float64(x)
		if got, want := int(dataset.ToF16(x)), nearest(v, 0x7bff, f16, 65536); got != want {
			t.Fatalf("float16 of %v (%#08x): got %#04x, want %#04x", x, math.Float32bits(x), got, want)
		}
		if got, want := int(dataset.ToBF16(x)), nearest(v, 0x7f7f, bf16, 0x1p128); got != want {
			t.Fatalf("bfloat16 of %v (%#08x): got %#04x, want %#04x", x, math.Float32bits(x), got, want)
		}
		if dataset.ToF16(-x) != dataset.ToF16(x)|0x8000 || dataset.ToBF16(-x) != dataset.ToBF16(x)|0x8000 {
			t.Fatalf("%v: the sign matters", x)
		}
	}
	for b := uint32(0); b < 0x7f800000; b += 65_537 - 4 {
		check(math.Float32frombits(b))
	}
	for i := range 0x7bff {
		tie := float32((f16(i) + f16(i+1)) / 2)
		check(tie)
		check(math.Nextafter32(tie, 0))
		check(math.Nextafter32(tie, math.MaxFloat32))
	}
	for i := range 0x7f7f {
		tie := float32((bf16(i) + bf16(i+1)) / 2)
		check(tie)
		check(math.Nextafter32(tie, 0))
		check(math.Nextafter32(tie, math.MaxFloat32))
	}
}
