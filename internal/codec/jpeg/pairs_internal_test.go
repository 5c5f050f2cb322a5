package jpeg

import (
	"math/rand/v2"
	"testing"

	"github.com/penstock-go/penstock/internal/testenv"
)

// randomTable is a valid table of random codes. Few gives most codes a short length.
func randomTable(r *rand.Rand, dc, few bool) *huffman {
	symbols := r.Perm(256)
	if dc {
		symbols = r.Perm(16)
	}
	var count [16]uint8
	code, total := 0, 0
	for length := 1; length <= 16; length++ {
		free := min(1<<length-1-code, len(symbols)-total)
		n := 0
		if free > 0 && (!few || length < 5 || length > 9) {
			n = r.IntN(1 + free/(1+r.IntN(4)))
		}
		count[length-1] = uint8(n)
		code, total = (code+n)<<1, total+n
	}
	used := make([]uint8, total)
	for i := range used {
		used[i] = uint8(symbols[i])
	}
	h := &huffman{}
	h.build(&count, used, dc)
	return h
}

// plainBlock is block by section F.2.2 of the standard, one symbol after the other.
func (r *reader) plainBlock(b *block, dc, ac *huffman, predicted *int32) int {
	start := *r
	if !r.difference(dc, predicted) {
		*r = start
		return -1
	}
	b[0] = int16(*predicted)
	k := uint(1)
	for k < 64 {
		symbol, ok := r.code(ac)
		if !ok {
			*r = start
			return -1
		}
		run, size := symbol>>4, symbol&15
		if size == 0 && run < 15 {
			break
		}
		k += run + 1
		if size > 0 {
			b[zigzag[min(k-1, 63)]] = int16(extend(r.acc, size))
			r.drop(size)
		}
	}
	return int(min(k, 64)) - 1
}

// TestPairsAreTheSymbolsOneByOne decodes random bits by random tables. There pairs
// straddle the ends of blocks, blocks end beyond their last coefficient, and codes are
// invalid.
func TestPairsAreTheSymbolsOneByOne(t *testing.T) {
	testenv.OneGoroutine(t)
	r := rand.New(rand.NewPCG(5, 6))
	full, short, invalid := 0, 0, 0
	for round := range 3000 {
		dc, ac := randomTable(r, true, false), randomTable(r, false, round%2 == 0)
		if dc.wrong != "" || ac.wrong != "" {
			t.Fatalf("round %d: %q, %q", round, dc.wrong, ac.wrong)
		}
		dc.pairs.build(dc)
		ac.pairs.build(ac)
		bytes := make([]byte, 2000+slack)
		for i := range 2000 {
			bytes[i] = byte(r.Uint32()) & byte(r.Uint32()|uint32(round%3)*0x55)
		}
		got, want := reader{bytes: bytes, end: 2000}, reader{bytes: bytes, end: 2000}
		var gotDC, wantDC int32
		for !want.overrun() {
			var a, b block
			gotLast := got.block(&a, dc, ac, &gotDC)
			wantLast := want.plainBlock(&b, dc, ac, &wantDC)
			if gotLast != wantLast || a != b || gotDC != wantDC || got.at*8-int(got.n) != want.at*8-int(want.n) {
				t.Fatalf("round %d: last coefficient %d, want %d; byte %d, want %d;\n%v, want\n%v",
					round, gotLast, wantLast, got.at, want.at, a, b)
			}
			switch {
			case wantLast < 0:
				invalid++
			case wantLast == 63:
				full++
			default:
				short++
			}
			if wantLast < 0 {
				break
			}
		}
	}
	if full < 1000 || short < 1000 || invalid < 100 {
		t.Errorf("%d full blocks, %d others and %d invalid codes, want more", full, short, invalid)
	}
}
