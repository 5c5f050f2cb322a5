package jpeg

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/penstock-go/penstock/internal/cpu"
)

func needKernels(t *testing.T) *rand.Rand {
	t.Helper()
	if !cpu.Kernels() {
		t.Skip("the kernels need AVX2 and FMA or NEON, and PENSTOCK_KERNELS not to be portable")
	}
	return rand.New(rand.NewPCG(1, 2))
}

func TestInverseKernelEqualsThePortableCode(t *testing.T) {
	r := needKernels(t)
	for n := range 30000 {
		blocks, last := make([]block, 2+r.IntN(6)), make([]uint8, 8)
		var quant block
		for i := range quant {
			quant[i] = int16(1 + r.IntN(60))
		}
		if n%10 == 0 { // hostile
			quant[r.IntN(64)] = int16(r.Uint32())
		}
		for i := range blocks {
			last[i] = uint8(r.IntN(64) * r.IntN(2))
			for place := range int(last[i]) + 1 {
				blocks[i][zigzag[place]] = int16(r.NormFloat64() * 40 * float64(r.IntN(2)))
				if n%20 == 0 {
					blocks[i][zigzag[place]] = int16(r.Uint32())
				}
			}
		}
		stride := 8*len(blocks) + r.IntN(9)
		want, got := make([]byte, 8*stride), make([]byte, 8*stride)
		inversePortable(want, stride, blocks, last, &quant)
		inverse(got, stride, blocks, last, &quant)
		if !bytes.Equal(got, want) {
			t.Fatalf("round %d: %d blocks differ", n, len(blocks))
		}
	}
}

func random(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
		if r.IntN(3) == 0 {
			b[i] = byte(255 * r.IntN(2))
		}
	}
	return b
}

func TestUpsamplingKernelsEqualThePortableCode(t *testing.T) {
	r := needKernels(t)
	for n := 2; n < 120; n++ {
		for range 20 {
			near, far := random(r, n), random(r, n)
			want, got := make([]byte, 2*n), make([]byte, 2*n)
			upsampleH2Portable(want, near)
			upsampleH2(got, near)
			if !bytes.Equal(got, want) {
				t.Fatalf("a row of %d samples differs", n)
			}
			upsampleH2V2Portable(want, near, far)
			upsampleH2V2(got, near, far)
			if !bytes.Equal(got, want) {
				t.Fatalf("two rows of %d samples differ", n)
			}
		}
	}
}

func TestColorKernelEqualsThePortableCode(t *testing.T) {
	r := needKernels(t)
	for n := 1; n < 100; n++ {
		luma, cb, cr := random(r, n), random(r, n), random(r, n)
		want, got := make([]byte, 4*n), make([]byte, 4*n)
		colorPortable(want, luma, cb, cr)
		colorYCbCr(got, luma, cb, cr)
		if !bytes.Equal(got, want) {
			t.Fatalf("a row of %d pixels differs", n)
		}
	}
}

// rounds is n, or a fifth of it in short tests, which the race detector makes slow.
func rounds(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}
