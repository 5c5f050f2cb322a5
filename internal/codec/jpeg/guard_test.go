package jpeg

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
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
		"inverse2 inverse4":         each(inverseAtPages),
		"colorYCbCr16 colorYCbCr32": each(colorAtPages),
		"upsampleH2x16 upsampleH2x32 upsampleH2V2x16 upsampleH2V2x32":  each(upsamplingAtPages),
		"decodePairs inverseStretch2 inverseStretch4 reorder reorder4": each(stretchesAtPages),
		"unstuff64":        each(unstuffingAtPages),
		"natural natural4": each(naturalAtPages),
		"decodeFirst nonzero refinePlaces refineBlocks reverseBits": each(progressionsAtPages),
	})
}

func inverseAtPages(t *testing.T) {
	t.Helper()
	r := rand.New(rand.NewPCG(21, 22))
	const most = 9
	blockFence, lastFence, quantFence := guard.New[block](t, most), guard.New[uint8](t, most), guard.New[block](t, 1)
	dstFence := guard.New[byte](t, 64*most)
	for round := range 1000 {
		n, side := 1+r.IntN(most), round%guard.Sides
		blocks, last, quant, got := blockFence.At(side, n), lastFence.At(side, n), &quantFence.At(side, 1)[0], dstFence.At(side, 64*n)
		for i := range quant {
			quant[i] = int16(1 + r.IntN(60))
		}
		for i := range blocks {
			blocks[i] = block{}
			last[i] = uint8(r.IntN(64) * r.IntN(2))
			for place := range int(last[i]) + 1 {
				blocks[i][zigzag[place]] = int16(r.Uint32()) >> (7 * r.IntN(2))
			}
		}
		want := make([]byte, len(got))
		inversePortable(want, 8*n, blocks, last, quant)
		inverse(got, 8*n, blocks, last, quant)
		if !bytes.Equal(got, want) {
			t.Fatalf("round %d: %d blocks differ", round, n)
		}
	}
}

func colorAtPages(t *testing.T) {
	t.Helper()
	r := rand.New(rand.NewPCG(23, 24))
	const most = 150
	var planes [3]guard.Fence[byte]
	for i := range planes {
		planes[i] = guard.New[byte](t, most)
	}
	dstFence := guard.New[byte](t, 4*most)
	for round := range guard.Sides * most {
		n, side := 1+round/guard.Sides, round%guard.Sides
		var samples [3][]byte
		for i := range samples {
			samples[i] = planes[i].At(side, n)
			copy(samples[i], random(r, n))
		}
		got, want := dstFence.At(side, 4*n), make([]byte, 4*n)
		colorPortable(want, samples[0], samples[1], samples[2])
		colorYCbCr(got, samples[0], samples[1], samples[2])
		if !bytes.Equal(got, want) {
			t.Fatalf("a row of %d pixels differs", n)
		}
	}
}

func upsamplingAtPages(t *testing.T) {
	t.Helper()
	r := rand.New(rand.NewPCG(25, 26))
	const most = 150
	nearFence, farFence, dstFence := guard.New[byte](t, most), guard.New[byte](t, most), guard.New[byte](t, 2*most)
	for round := range guard.Sides * (most - 1) {
		n, side := 2+round/guard.Sides, round%guard.Sides
		near, far, got, want := nearFence.At(side, n), farFence.At(side, n), dstFence.At(side, 2*n), make([]byte, 2*n)
		copy(near, random(r, n))
		copy(far, random(r, n))
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

// stretchesAtPages decodes random bits, in rows that often end before their interval and in stretches
// of full length: to coefficients, as the portable code has them, and to samples.
func stretchesAtPages(t *testing.T) {
	t.Helper()
	if !pairsKernel() {
		return
	}
	r := rand.New(rand.NewPCG(11, 12))
	const mostStream, mostStrip = 1 << 14, 1 << 18
	blockFence, stepFence := guard.New[block](t, stretchBlocks+zeroBlocks), guard.New[step](t, 2*stretchBlocks+2)
	streamFence, unreadFence := guard.New[byte](t, mostStream), guard.New[uint8](t, stretchBlocks)
	var strips [4]guard.Fence[byte]
	var rows [4]guard.Fence[block]
	var ends [4]guard.Fence[uint8]
	for i := range strips {
		strips[i], rows[i], ends[i] = guard.New[byte](t, mostStrip), guard.New[block](t, 8*stretchBlocks), guard.New[uint8](t, 8*stretchBlocks)
	}
	full := 0
	for round := range 200 {
		side := round % guard.Sides
		d := randomScan(r, round)
		samples := round%4 > 1
		if samples && round%8 > 3 {
			d.mcuWide = stretchBlocks
		}
		stream := streamFence.At(side, len(d.stream.bytes))
		copy(stream, d.stream.bytes)
		d.stream.bytes = stream
		want := *d
		want.components = want.store[:len(d.components)]
		want.Portable()

		s := &d.stretch
		s.blocks, s.steps, s.unread = blockFence.At(side, stretchBlocks+zeroBlocks), stepFence.At(side, 2*stretchBlocks+2), unreadFence.At(side, stretchBlocks)
		clear(s.blocks)
		clear(s.steps) // whose tables the garbage collector may have freed
		for i := range d.components {
			c := &d.components[i]
			n := d.mcuWide * c.h * c.v
			c.row, c.last = rows[i].At(side, n), ends[i].At(side, n)
		}
		d.start()
		if s.mcus*s.per == stretchBlocks {
			full++
		}
		if !samples {
			want.start()
			for range d.mcuHigh {
				err, wrong := d.decodeRow(0, d.mcuWide), want.decodeRow(0, d.mcuWide)
				if fmt.Sprint(err) != fmt.Sprint(wrong) {
					t.Fatalf("round %d: error %v, want %v", round, err, wrong)
				}
				if err != nil {
					break
				}
				for i := range d.components {
					if !slices.Equal(d.components[i].row, want.components[i].row) {
						t.Fatalf("round %d, component %d: other coefficients", round, i)
					}
				}
			}
			continue
		}
		d.view = view{x1: d.mcuWide}
		for i := range d.components {
			d.components[i].setView(d.view)
		}
		d.painter.open(d)
		for i := range d.components {
			d.painter.strips[i] = strips[i].At(side, len(d.painter.strips[i]))
		}
		for y := 0; y < d.mcuHigh && d.sampleRow(y) == nil; y++ {
		}
	}
	if full < 15 {
		t.Errorf("%d scans with stretches of %d blocks, want more", full, stretchBlocks)
	}
}

// unstuffingAtPages has streams of all lengths.
func unstuffingAtPages(t *testing.T) {
	t.Helper()
	r := rand.New(rand.NewPCG(17, 18))
	const most = 300
	srcFence, dstFence := guard.New[byte](t, most), guard.New[byte](t, most)
	for round := range guard.Sides * most {
		n, side := round/guard.Sides, round%guard.Sides
		src, dst := srcFence.At(side, n), dstFence.At(side, n)
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

func naturalAtPages(t *testing.T) {
	t.Helper()
	if !pairsKernel() {
		return
	}
	const most = 30
	dstFence, srcFence := guard.New[block](t, most), guard.New[block](t, most)
	for round := range guard.Sides * most {
		n, side := 1+round/guard.Sides, round%guard.Sides
		dst, src := dstFence.At(side, n), srcFence.At(side, n)
		for i := range src {
			for k := range src[i] {
				src[i][k] = int16(1000*i + k)
			}
		}
		(&Decoder{zigzag: true}).natural(dst, src)
		for i := range dst {
			for k, at := range zigzag[:64] {
				if dst[i][at] != src[i][k] {
					t.Fatalf("%d blocks: place %d of block %d differs", n, k, i)
				}
			}
		}
	}
}

// progressionsAtPages decodes random bits of AC scans to the coefficients of the portable code. What
// the scans of a file need besides is fenced, too.
func progressionsAtPages(t *testing.T) {
	t.Helper()
	if !pairsKernel() {
		return
	}
	const mostBlocks, mostStream = 90 * 3, 1 << 14
	blockFence, maskFence := guard.New[block](t, mostBlocks), guard.New[uint64](t, mostBlocks)
	streamFence, reversedFence := guard.New[byte](t, mostStream), guard.New[byte](t, refineMargin+mostStream)
	progressionFence := guard.New[progression](t, 1)
	full := 0
	for seed := range uint64(300) {
		side := int(seed % guard.Sides)
		want, got := randomProgression(seed, false, false), randomProgression(seed, true, false)
		c := &got.components[0]
		c.coefficients, c.nonzero = fenced(blockFence, side, c.coefficients), fenced(maskFence, side, c.nonzero)
		got.stream.bytes = fenced(streamFence, side, got.stream.bytes)
		got.progression = &progressionFence.At(side, 1)[0]
		*got.progression = progression{}
		got.progression.refiner.reversed = reversedFence.At(side, refineMargin+len(got.stream.bytes))
		got.start()
		want.start()
		err, wrong := got.decodeProgressive(), want.decodeProgressive()
		if fmt.Sprint(err) != fmt.Sprint(wrong) {
			t.Fatalf("scan %d: error %v, want %v", seed, err, wrong)
		}
		if err != nil {
			continue
		}
		full++
		for i, b := range c.coefficients {
			for k, at := range zigzag[:64] {
				if b[k] != want.components[0].coefficients[i][at] {
					t.Fatalf("scan %d, block %d: place %d differs", seed, i, k)
				}
			}
		}
	}
	if full < 50 {
		t.Errorf("%d scans were read, want more", full)
	}
}

// fenced is a copy of s at a side of the fence.
func fenced[T any](f guard.Fence[T], side int, s []T) []T {
	to := f.At(side, len(s))
	copy(to, s)
	return to
}
