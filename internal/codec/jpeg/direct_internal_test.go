package jpeg

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/penstock-go/penstock/internal/cpu/cputest"
)

// TestSamplesOfStretchesAreThoseOfRows decodes random bits, with blocks of all kinds and
// with damage, straight from stretches and by rows of coefficients, with the kernels of every generation.
func TestSamplesOfStretchesAreThoseOfRows(t *testing.T) {
	needKernels(t)
	if !pairsKernel() || group() == 0 {
		t.Skip("the kernels need BMI2")
	}
	cputest.Each(func() { samplesOfStretches(t) })
}

func samplesOfStretches(t *testing.T) {
	t.Helper()
	r := rand.New(rand.NewPCG(13, 14))
	rows, exhausted := 0, 0
	for round := range rounds(3000) {
		got := randomScan(r, round)
		for i := range got.components {
			q := &got.components[i].quant
			for k := range q {
				q[k] = int16(1 + r.IntN(30))
			}
			if round%5 == 0 { // hostile
				q[r.IntN(64)*r.IntN(2)] = int16(r.Uint32())
			}
		}
		want := *got
		want.components = want.store[:len(got.components)]
		x0 := r.IntN(got.mcuWide)
		x1 := x0 + 1 + r.IntN(got.mcuWide-x0)
		for _, d := range []*Decoder{got, &want} {
			d.view = view{x0: x0, x1: x1}
			for i := range d.components {
				d.components[i].setView(d.view)
			}
			d.painter.open(d)
			d.start()
		}
		want.stretch.direct = false
		for y := 0; y < got.mcuHigh; y++ {
			err, other := got.sampleRow(y), want.sampleRow(y)
			if fmt.Sprint(err) != fmt.Sprint(other) {
				t.Fatalf("round %d, row %d: %v, want %v", round, y, err, other)
			}
			if err != nil {
				break
			}
			for i := range got.components {
				c := &got.components[i]
				for row := range 8*c.v + 1 {
					span := func(d *Decoder) []byte { return d.painter.strips[i][row*c.stride:][:c.span] }
					if !bytes.Equal(span(got), span(&want)) {
						t.Fatalf("round %d, row %d, component %d of %d: other samples", round, y, i, len(got.components))
					}
				}
			}
			rows++
			if got.exhausted {
				exhausted++
			}
		}
	}
	if rows < rounds(1000) || exhausted < rounds(100) {
		t.Errorf("%d rows, of which %d after the end, want more of both", rows, exhausted)
	}
}

// TestUnstuffingKernelStopsAtMarkers compares it with removing zeros byte by byte.
func TestUnstuffingKernelStopsAtMarkers(t *testing.T) {
	needKernels(t)
	if read, _ := unstuffKernel(make([]byte, 65), make([]byte, 65)); read == 0 {
		t.Skip("the kernel needs AVX-512 VBMI2")
	}
	r := rand.New(rand.NewPCG(15, 16))
	whole := 0
	for round := range 20000 {
		src := make([]byte, r.IntN(400))
		for i := range src {
			src[i] = byte(r.Uint32())
			if r.IntN(1+round%40) == 0 {
				src[i] = 0xff
			}
			if i > 0 && src[i-1] == 0xff && r.IntN(1000) > 0 {
				src[i] = 0
			}
		}
		dst := make([]byte, len(src))
		read, written := unstuffKernel(dst, src)
		want := []byte{}
		for i := 0; i < read; i++ {
			want = append(want, src[i])
			if src[i] == 0xff {
				if i++; i == read || src[i] != 0 {
					t.Fatalf("round %d: a marker at byte %d of the %d that were read", round, i-1, read)
				}
			}
		}
		if !bytes.Equal(dst[:written], want) {
			t.Fatalf("round %d: %d bytes are wrong, of %d", round, written, read)
		}
		if read >= 64 && len(src)-read <= 64 {
			whole++
		}
	}
	if whole < 2000 {
		t.Errorf("%d of 20000 streams are read to their ends, want more", whole)
	}
}
