//go:build amd64 && !purego

package resize

import (
	"math/rand/v2"
	"testing"

	"github.com/penstock-go/penstock/internal/cpu"
)

// TestDigitsAddUp splits weights as large as the sizes of all weights of an output
// allow.
func TestDigitsAddUp(t *testing.T) {
	const most = 3 * One / 2
	for k := int32(-One); k <= most; k += 37 {
		var b [9]uint8
		split(b[:], 4, k)
		if got := int32(int8(b[0])) + int32(int8(b[4]))<<8 + int32(int8(b[8]))<<16; got != k {
			t.Fatalf("the digits of %d add up to %d", k, got)
		}
	}
}

// TestUsualAxesUseDigits checks that the kernels with VNNI do not leave usual resizes to
// others.
func TestUsualAxesUseDigits(t *testing.T) {
	if !cpu.VNNI() {
		t.Skip("the kernels need AVX-512 VNNI")
	}
	r := rand.New(rand.NewPCG(5, 6))
	for _, in := range []int{120, 224, 375, 500, 900} {
		var w Weights
		w.Compute(Axis{In: in, Out: 225, To: 225})
		stride := 4 * in
		src := noise(r, 9*stride, loaded)
		dst := make([]byte, 9*4*225)
		if done := w.taps.digits.horizontal(dst, 4*225, src, stride, 9, &w); done != 9 {
			t.Errorf("%d pixels to 225: %d of 9 rows", in, done)
		}
		tall := noise(r, 64*in, 0)
		for i := range 225 {
			if !w.taps.digits.vertical(dst[:64], tall, 64, &w, i) {
				t.Errorf("%d rows to 225: not row %d", in, i)
				break
			}
		}
	}
}
