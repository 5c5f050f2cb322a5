package jpeg

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	stdjpeg "image/jpeg"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/testenv"
)

// usualTable is a table whose short codes are those of real files: small values after
// few zeros, and the end of the block.
func usualTable(r *rand.Rand, dc bool) *huffman {
	symbols := []uint8{0}
	for i := range 24 {
		symbols = append(symbols, uint8(1+i%6+i/6<<4*r.IntN(2)))
	}
	if dc {
		symbols = []uint8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	} else {
		slices.Sort(symbols)
		symbols = append(slices.Compact(symbols), 0xf0, 0x71, 0x92, 0xa7, 0x0a)
	}
	first := symbols[:min(len(symbols), 8+r.IntN(8))]
	r.Shuffle(len(first), func(i, j int) { first[i], first[j] = first[j], first[i] })
	var count [16]uint8
	code, total := 0, 0
	for length := 1; length <= 16; length++ {
		free := min(1<<length-1-code, len(symbols)-total)
		n := 0
		if length > r.IntN(4) {
			n = (free + 1) / (1 + r.IntN(3))
		}
		n = min(n, free)
		count[length-1] = uint8(n)
		code, total = (code+n)<<1, total+n
	}
	h := &huffman{}
	h.build(&count, symbols[:total], dc)
	return h
}

// randomScan is a Decoder at the start of a scan of random bits by random tables.
func randomScan(r *rand.Rand, round int) *Decoder {
	d := &Decoder{mcuWide: 1 + r.IntN(20), mcuHigh: 4}
	if r.IntN(3) == 0 {
		d.interval = 1 + r.IntN(2*d.mcuWide)
	}
	d.components = d.store[:1+r.IntN(4)]
	for i := range d.components {
		c := &d.components[i]
		c.h, c.v = 1, 1
		if len(d.components) > 1 && i%2 == 0 {
			c.h, c.v = 1+r.IntN(4), 1
			if c.h < 3 {
				c.v = 1 + r.IntN(2)
			}
		}
		c.progress[0] = -1
		d.scan.components = append(d.scan.components, i)
		d.scan.dc[i], d.scan.ac[i] = randomTable(r, true, false), randomTable(r, false, round%2 == 0)
		if round%4 > 0 {
			d.scan.dc[i], d.scan.ac[i] = usualTable(r, true), usualTable(r, false)
		}
	}
	for range 1 + r.IntN(4)*r.IntN(2) {
		for range r.IntN(3000) {
			d.stream.bytes = append(d.stream.bytes, byte(r.Uint32())&byte(r.Uint32()|uint32(round%3)*0x55))
		}
		d.stream.ends = append(d.stream.ends, len(d.stream.bytes))
		d.stream.restarts = append(d.stream.restarts, uint8(markerRST0+len(d.stream.restarts)))
	}
	d.stream.restarts = d.stream.restarts[:len(d.stream.ends)-1]
	d.stream.bytes = append(d.stream.bytes, make([]byte, slack)...)
	d.data = make([]byte, len(d.stream.bytes))
	d.stream.to = len(d.data)
	d.stream.cut = r.IntN(2) == 0
	d.AllowTruncated = r.IntN(2) == 0
	return d
}

// TestStretchesAreThePortableCodesBlocks decodes random bits with the kernel and
// without it: the same coefficients, the same errors, the same end.
func TestStretchesAreThePortableCodesBlocks(t *testing.T) {
	testenv.OneGoroutine(t)
	needKernels(t)
	if !pairsKernel() {
		t.Skip("the kernel needs BMI2")
	}
	r := rand.New(rand.NewPCG(7, 8))
	taken, refused, rows := 0, 0, 0
	for round := range rounds(4000) {
		got := randomScan(r, round)
		want := *got
		want.components = want.store[:len(got.components)]
		want.Portable()
		x0 := r.IntN(got.mcuWide + 1)
		x1 := x0 + r.IntN(got.mcuWide-x0+1)
		got.start()
		want.start()
		var err error
		for y := 0; y < got.mcuHigh && err == nil; y++ {
			err = got.decodeRow(x0, x1)
			if other := want.decodeRow(x0, x1); fmt.Sprint(other) != fmt.Sprint(err) {
				t.Fatalf("round %d, row %d: %v, want %v", round, y, err, other)
			}
			if err != nil {
				break
			}
			for i := range got.components {
				g, w := &got.components[i], &want.components[i]
				if !slices.Equal(g.row, w.row) {
					t.Fatalf("round %d, row %d, component %d of %d: other coefficients", round, y, i, len(got.components))
				}
				for j := range g.last {
					if g.last[j] < lastIndex(&g.row[j]) && g.last[j] < w.last[j] {
						t.Fatalf("round %d, row %d, component %d: last coefficient %d, want %d", round, y, i, g.last[j], w.last[j])
					}
				}
			}
			g, w := &got.scan, &want.scan
			if g.reader.at*8-int(g.reader.n) != w.reader.at*8-int(w.reader.n) || g.predicted != w.predicted || got.stream.next != want.stream.next ||
				got.exhausted != want.exhausted || got.interval > 0 && got.stream.remaining != want.stream.remaining {
				t.Fatalf("round %d, row %d: another state", round, y)
			}
			rows++
			if n, ok := got.fast(1, true); n == 1 && ok { // looks ahead
				taken++
			} else {
				refused++
			}
			got.scan.reader, got.scan.predicted = w.reader, w.predicted
			got.stream.remaining = want.stream.remaining
		}
	}
	if taken < rounds(500) || refused < rounds(500) {
		t.Errorf("of %d rows %d stretches were taken and %d refused, want more of both", rows, taken, refused)
	}
}

// TestDenseFilesDecodeAsWithoutTheKernel has noise of the highest quality, whose blocks
// are full, so that pairs straddle their ends.
func TestDenseFilesDecodeAsWithoutTheKernel(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, quality := range []int{100, 98, 90, 75, 30} {
		m := image.NewRGBA(image.Rect(0, 0, 333, 177))
		for y := range 177 {
			for x := range 333 {
				v := r.Uint32()
				m.Set(x, y, color.RGBA{uint8(v), uint8(v >> 8), uint8(v >> 16), 255})
			}
		}
		var file bytes.Buffer
		if err := stdjpeg.Encode(&file, m, &stdjpeg.Options{Quality: quality}); err != nil {
			t.Fatal(err)
		}
		var pixels [2][]byte
		for i := range pixels {
			var d Decoder
			d.stretch.off = i == 1
			c, err := d.Header(file.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			pixels[i] = make([]byte, 4*c.Width*c.Height)
			if err := d.Decode(pixels[i], 4*c.Width, image.Rect(0, 0, c.Width, c.Height)); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(pixels[0], pixels[1]) {
			t.Errorf("quality %d: other pixels than without the kernel", quality)
		}
	}
}
