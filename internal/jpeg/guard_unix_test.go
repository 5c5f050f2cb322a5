//go:build linux || darwin

package jpeg

import (
	"math/rand/v2"
	"testing"

	"github.com/penstock-go/penstock/internal/guard"
)

// TestStretchesStayWithinTheirMemory decodes random bits in stretches of full length,
// whose blocks, steps and samples, as the stream, are followed by a guard page.
func TestStretchesStayWithinTheirMemory(t *testing.T) {
	needKernels(t)
	if !pairsKernel() {
		t.Skip("the kernel needs BMI2")
	}
	r := rand.New(rand.NewPCG(11, 12))
	full := 0
	for round := range 300 {
		d := randomScan(r, round)
		d.mcuWide = stretchBlocks
		d.start()
		s := &d.stretch
		s.blocks, s.steps = guard.AtEnd[block](t, len(s.blocks)), guard.AtEnd[step](t, len(s.steps))
		s.open(d)
		stream := guard.AtEnd[byte](t, len(d.stream.bytes))
		copy(stream, d.stream.bytes)
		d.stream.bytes, d.scan.reader.bytes = stream, stream
		if s.mcus*s.per == stretchBlocks {
			full++
		}
		d.view = view{x1: d.mcuWide}
		for i := range d.components {
			d.components[i].setView(d.view)
		}
		d.painter.open(d)
		for i := range d.components {
			d.painter.strips[i] = guard.AtEnd[byte](t, len(d.painter.strips[i]))
		}
		for y := 0; y < d.mcuHigh && d.sampleRow(y) == nil; y++ {
		}
	}
	if full < 50 {
		t.Errorf("%d scans with stretches of %d blocks, want more", full, stretchBlocks)
	}
}

// TestUnstuffingStaysWithinItsMemory has streams of all lengths before a guard page.
func TestUnstuffingStaysWithinItsMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for n := range 300 {
		src, dst := guard.AtEnd[byte](t, n), guard.AtEnd[byte](t, n)
		for i := range src {
			src[i] = 0xff * byte((i+n)%2)
			if n%3 == 0 {
				src[i] = byte(r.Uint32())
			}
		}
		if read, written := unstuffKernel(dst, src); read > n || written > read {
			t.Fatalf("%d bytes: %d read and %d written", n, read, written)
		}
	}
}
