package jpeg

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/penstock-go/penstock/internal/testenv"
)

// randomProgression is a Decoder at the start of a random AC scan of one component. Its
// blocks are in the stream's order if zigzag, and irregular means that it takes no
// shortcut.
func randomProgression(seed uint64, zigzagged, irregular bool) *Decoder {
	r := rand.New(rand.NewPCG(seed, 3))
	d := &Decoder{zigzag: zigzagged, irregular: irregular}
	d.config.Progressive = true
	d.config.Sampling[0] = Sampling{1, 1}
	d.mcuWide, d.mcuHigh = 1+r.IntN(90), 1+r.IntN(3)
	d.components = d.store[:1]
	c := &d.components[0]
	c.across, c.down = d.mcuWide, d.mcuHigh
	c.wide, c.high = 8*d.mcuWide, 8*d.mcuHigh
	if r.IntN(3) == 0 {
		d.interval = 1 + r.IntN(2*d.mcuWide)
	}
	d.stream.cut, d.AllowTruncated = r.IntN(2) == 0, r.IntN(2) == 0

	s := &d.scan
	s.components = s.order[:1]
	s.place = &zigzag
	if zigzagged {
		s.place = &inOrder
	}
	s.from = 1 + r.IntN(63)
	s.to = s.from + r.IntN(64-s.from)
	if r.IntN(2) == 0 {
		s.from, s.to = 1, 63
	}
	s.low = uint(r.IntN(4))
	c.coefficients, c.nonzero = make([]block, c.across*c.down), make([]uint64, c.across*c.down)
	for k := range c.progress {
		c.progress[k] = -1
	}
	refine := r.IntN(2) == 0
	if refine {
		s.high = s.low + 1
		fill := 1 + r.IntN(8)
		for i := range c.coefficients {
			for k := 1; k < 64; k++ {
				if r.IntN(fill) == 0 {
					v := int16(r.IntN(9)-4) << s.high
					c.coefficients[i][s.place[k]] = v
					if v != 0 {
						c.nonzero[i] |= 1 << k
					}
				}
			}
		}
		for k := range c.progress {
			c.progress[k] = int8(s.high)
		}
	}
	s.ac[0] = progressiveTable(r, refine)
	for range 1 + r.IntN(3) {
		for range r.IntN(4000) {
			d.stream.bytes = append(d.stream.bytes, byte(r.Uint32())&byte(r.Uint32()|uint32(seed%3)*0x55))
		}
		d.stream.ends = append(d.stream.ends, len(d.stream.bytes))
		d.stream.restarts = append(d.stream.restarts, uint8(markerRST0+len(d.stream.restarts)))
	}
	d.stream.restarts = d.stream.restarts[:len(d.stream.ends)-1]
	d.stream.bytes = append(d.stream.bytes, make([]byte, slack)...)
	d.data = make([]byte, len(d.stream.bytes))
	d.stream.to = len(d.data)
	return d
}

// progressiveTable has the symbols of an AC scan, and sometimes others.
func progressiveTable(r *rand.Rand, refine bool) *huffman {
	var symbols []uint8
	runs := 1 + r.IntN(16)
	for _, symbol := range r.Perm(256) {
		size := symbol & 15
		if size > 0 && symbol>>4 >= runs {
			continue
		}
		if size == 0 || size == 1 || !refine && size < 1+r.IntN(16) || refine && r.IntN(1000) == 0 {
			symbols = append(symbols, uint8(symbol))
		}
	}
	var count [16]uint8
	code, total := 0, 0
	for length := 1; length <= 16; length++ {
		free := min(1<<length-1-code, len(symbols)-total)
		n := free
		if length < 16 {
			n = r.IntN(1 + free/(1+r.IntN(3)))
		}
		count[length-1] = uint8(n)
		code, total = (code+n)<<1, total+n
	}
	h := &huffman{}
	h.build(&count, symbols[:total], false)
	return h
}

// TestProgressiveScansAreTheirSymbolsOneByOne decodes random bits with the kernel, with
// portable code, and one symbol after the other: the same coefficients, the same errors,
// the same end.
func TestProgressiveScansAreTheirSymbolsOneByOne(t *testing.T) {
	testenv.OneGoroutine(t)
	full, wrong, beyond := 0, 0, 0
	for seed := range uint64(rounds(3000)) {
		want := randomProgression(seed, false, true)
		want.start()
		wantErr := want.decodeProgressive()
		for _, zigzagged := range []bool{false, true} {
			if zigzagged && !pairsKernel() {
				continue
			}
			got := randomProgression(seed, zigzagged, false)
			got.start()
			err := got.decodeProgressive()
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("scan %d, kernel %v: %v, want %v", seed, zigzagged, err, wantErr)
			}
			if got.irregular {
				beyond++
			}
			if err != nil {
				wrong++
				continue
			}
			full++
			g, w := &got.components[0], &want.components[0]
			for i := range g.coefficients {
				nonzero := uint64(0)
				for k := range 64 {
					v := g.coefficients[i][got.scan.place[k]]
					if v != w.coefficients[i][zigzag[k]] {
						t.Fatalf("scan %d, kernel %v, block %d, place %d: %d, want %d", seed, zigzagged, i, k, v, w.coefficients[i][zigzag[k]])
					}
					if v != 0 {
						nonzero |= 1 << k
					}
				}
				if !got.irregular && g.nonzero[i] != nonzero {
					t.Fatalf("scan %d, kernel %v, block %d: nonzero %x, want %x", seed, zigzagged, i, g.nonzero[i], nonzero)
				}
			}
			gr, wr := &got.scan.reader, &want.scan.reader
			if gr.at*8-int(gr.n) != wr.at*8-int(wr.n) || got.whole == got.mcuHigh && got.scan.run != want.scan.run || got.whole != want.whole || got.stream.next != want.stream.next {
				t.Fatalf("scan %d, kernel %v: another state", seed, zigzagged)
			}
		}
	}
	if least := rounds(500); full < least || wrong < least || beyond < least {
		t.Errorf("%d scans were read, %d are wrong and %d go beyond their selections, want more", full, wrong, beyond)
	}
	t.Logf("%d scans were read, %d are wrong and %d go beyond their selections", full, wrong, beyond)
}
