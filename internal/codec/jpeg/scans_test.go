package jpeg_test

import (
	"bytes"
	"errors"
	"image"
	"testing"

	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/codec/jpeg"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/internal/testenv"
)

// A code is entropy code.
type code struct {
	bytes []byte
	acc   uint
	n     int
}

func (c *code) put(v uint, n int) {
	for i := n - 1; i >= 0; i-- {
		c.acc = c.acc<<1 | v>>i&1
		if c.n++; c.n == 8 {
			c.bytes = append(c.bytes, byte(c.acc))
			if byte(c.acc) == 0xff {
				c.bytes = append(c.bytes, 0)
			}
			c.acc, c.n = 0, 0
		}
	}
}

func (c *code) end() []byte {
	for c.n > 0 {
		c.put(1, 1)
	}
	return c.bytes
}

// runs says that in n blocks no more coefficients begin, and gives each of them the bits.
func (c *code) runs(n int, bits string) {
	for n > 0 {
		k := min(n, 1<<15-1)
		if k >= 1<<14 {
			c.put(0, 2)
			c.put(uint(k-1<<14), 14)
		} else {
			k = 1
			c.put(2, 2)
		}
		for range k {
			c.put(0, len(bits))
		}
		n -= k
	}
}

// A script is a valid progressive file of side×side gray pixels with a scan of DC coefficients
// and n of AC coefficients.
type script struct {
	side, n int
	low     int  // missing bits of the first scan of a coefficient; encoders leave 3 at most
	full    bool // all coefficients differ from zero, so that further scans have a bit for each
	again   bool // every scan is the first one of its coefficients, or refines them once
	tables  bool // every scan has tables of its own
}

func (s script) file() []byte {
	file := []byte{0xff, 0xd8}
	segment := func(marker byte, body ...byte) {
		file = append(file, 0xff, marker, byte((len(body)+2)>>8), byte(len(body)+2))
		file = append(file, body...)
	}
	table := func(id byte, twoBits ...byte) {
		body := make([]byte, 17)
		body[0], body[2] = id, byte(len(twoBits))
		segment(0xc4, append(body, twoBits...)...)
	}
	side := s.side
	segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)
	segment(0xc2, 8, byte(side>>8), byte(side), byte(side>>8), byte(side), 1, 1, 0x11, 0)
	segment(0xc4, append([]byte{0, 1}, make([]byte, 16)...)...)
	table(0x10, 0xe0, 1, 0)
	blocks := (side + 7) / 8 * ((side + 7) / 8)
	segment(0xda, 1, 1, 0, 0, 0, 1)
	var dc code
	dc.put(0, blocks)
	file = append(file, dc.end()...)
	for i := range s.n {
		from, to := byte(1+i/(s.low+1)), byte(1+i/(s.low+1))
		low := byte(s.low - i%(s.low+1))
		first := i%(s.low+1) == 0
		if s.again {
			from, to, low, first = 1, 63, byte((i+1)%2), i%2 == 0
		}
		approximation := (low+1)<<4 | low
		if first {
			approximation = low
		}
		if s.tables {
			table(0x10, 0xe0, byte(1+16*(i%2)), 0)
		}
		segment(0xda, 1, 1, 0, from, to, approximation)
		var c code
		switch {
		case s.full && first:
			for range blocks {
				c.put(1, 2) // the next coefficient is 1
				c.put(1, 1)
				if from < to {
					c.put(2, 2)
				}
			}
		case s.full:
			c.runs(blocks, "0")
		default:
			c.runs(blocks, "")
		}
		file = append(file, c.end()...)
	}
	return append(file, 0xff, 0xd9)
}

// corner decodes 8×8 pixels.
func corner(d *jpeg.Decoder, data []byte) error {
	if _, err := d.Header(data); err != nil {
		return err
	}
	return d.Decode(make([]byte, 4*64), 32, image.Rect(0, 0, 8, 8))
}

func TestUsualScansAreNotTooMany(t *testing.T) {
	testenv.OneGoroutine(t)
	for _, s := range []script{
		{side: 64, n: 200, low: 3}, {side: 512, n: 60, low: 3}, {side: 2048, n: 40, low: 3}, {side: 8000, n: 33, low: 3},
		{side: 512, n: 250, low: 3, full: true}, {side: 1024, n: 60, low: 12, full: true},
	} {
		if err := corner(new(jpeg.Decoder), s.file()); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

func TestScansTakeWhatTheFileAndThePixelsJustify(t *testing.T) {
	testenv.OneGoroutine(t)
	for _, s := range []script{
		{side: 2048, n: 100, low: 12}, {side: 4096, n: 100, low: 12}, {side: 8000, n: 100, low: 12},
		{side: 2048, n: 100, low: 3}, {side: 4096, n: 250, low: 3},
		{side: 4096, n: 100, again: true}, {side: 8, n: 20000, again: true},
	} {
		data := s.file()
		for _, tolerant := range []bool{false, true} {
			d := jpeg.Decoder{AllowTruncated: tolerant}
			const blockMemory = 64*2 + 8
			memory := int64(s.side+7) / 8 * int64(s.side+7) / 8 * blockMemory
			if testing.Short() && s.side > 4096 {
				continue
			}
			hostile.Bounded(t, len(data), memory, func() { corner(&d, data) })
			// Now that the decoder has the memory, it takes time only, and an eighth of what the limits allow.
			hostile.Bounded(t, len(data), memory/8, func() {
				if err := corner(&d, data); !errors.Is(err, budget.ErrExceeded) {
					t.Errorf("%+v: error %v, want the budget's", s, err)
				}
			})
		}
	}
}

func TestManyScansThatTheirBytesJustifyAreFast(t *testing.T) {
	testenv.OneGoroutine(t)
	for _, s := range []script{
		{side: 1024, n: 250, low: 3, full: true}, {side: 1024, n: 60, low: 12, full: true}, {side: 1024, n: 400, full: true, again: true},
		{side: 64, n: 5000, again: true}, {side: 8, n: 20000, again: true, tables: true},
	} {
		data := s.file()
		var d jpeg.Decoder
		_ = corner(&d, data)
		hostile.Bounded(t, len(data), 0, func() {
			if err := corner(&d, data); err != nil {
				t.Errorf("%+v: %v", s, err)
			}
		})
	}
}
