package blockcode_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/codec/blockcode"
)

var levels = []blockcode.Level{blockcode.Fast, blockcode.Small}

// zigzag is the order of the coefficients (ITU-T T.81, figure A.6).
var zigzag = [64]int{
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
}

func lastPlace(b *blockcode.Block) uint8 {
	for k := 63; k > 0; k-- {
		if b[zigzag[k]] != 0 {
			return uint8(k)
		}
	}
	return 0
}

// randomRow returns n blocks, of which some are empty, some full, and some have large
// coefficients.
func randomRow(r *rand.Rand, n int) []blockcode.Block {
	blocks := make([]blockcode.Block, n)
	for i := range blocks {
		b := &blocks[i]
		places, size := r.IntN(64), []float64{1, 4, 30, 300}[r.IntN(4)]
		if r.IntN(4) == 0 {
			places = 63 * r.IntN(2)
		}
		b[0] = int16(r.NormFloat64() * 200)
		for k := 1; k <= places; k++ {
			b[zigzag[k]] = int16(r.NormFloat64() * size)
			if r.IntN(200) == 0 {
				b[zigzag[k]] = int16(r.Uint32())
			}
		}
	}
	return blocks
}

// encode returns the code with enough capacity for the kernels. The bytes after it are
// random.
func encode(tb testing.TB, level blockcode.Level, blocks []blockcode.Block) []byte {
	tb.Helper()
	var e blockcode.Encoder
	code, err := e.Append([]byte("before"), level, blocks)
	if err != nil {
		tb.Fatal(err)
	}
	n := len(code)
	for range blockcode.Slack {
		code = append(code, byte(rand.Uint32()))
	}
	return code[len("before"):n]
}

// checkRow checks that the blocks come back at both levels, with slack and without.
func checkRow(t *testing.T, d *blockcode.Decoder, want []blockcode.Block) {
	t.Helper()
	got, last := make([]blockcode.Block, len(want)), make([]uint8, len(want))
	for _, level := range levels {
		code := encode(t, level, want)
		for _, code := range [][]byte{code, slices.Clip(code)} {
			for i := range got { // an earlier row's blocks
				got[i] = blockcode.Block{-1, 1, 2, 3, 63: 4}
				last[i] = 99
			}
			if err := d.Decode(got, last, level, code); err != nil {
				t.Fatalf("level %d, %d blocks: %v", level, len(want), err)
			}
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("level %d: block %d of %d: got %v, want %v", level, i, len(want), got[i], want[i])
				}
				if last[i] != lastPlace(&want[i]) {
					t.Fatalf("level %d: block %d of %d: got last place %d, want %d", level, i, len(want), last[i], lastPlace(&want[i]))
				}
			}
		}
	}
}

func TestRowsComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var d blockcode.Decoder
	for n := range 150 {
		for range 8 {
			checkRow(t, &d, randomRow(r, n))
		}
	}
	checkRow(t, &d, make([]blockcode.Block, 100)) // all zero
}

func TestEveryCoefficientComesBack(t *testing.T) {
	var d blockcode.Decoder
	var blocks []blockcode.Block
	k := 64
	for v := math.MinInt16; v <= math.MaxInt16; v++ {
		if k == 64 {
			blocks, k = append(blocks, blockcode.Block{}), 1
		}
		blocks[len(blocks)-1][zigzag[k]] = int16(v)
		k++
	}
	checkRow(t, &d, blocks)
	for place := range 64 {
		for _, v := range []int16{-2047, -1024, -1023, -129, -128, -9, -8, -1, 1, 7, 8, 127, 128, 1023, 1024, 2047} {
			var b blockcode.Block
			b[place] = v
			checkRow(t, &d, []blockcode.Block{b})
		}
	}
}

func TestEveryDifferenceComesBack(t *testing.T) {
	var d blockcode.Decoder
	blocks := make([]blockcode.Block, 0, blockcode.MaxBlocks)
	dc := int16(0)
	for v := math.MinInt16; v <= math.MaxInt16; v++ {
		dc += int16(v)
		blocks = append(blocks, blockcode.Block{dc})
	}
	checkRow(t, &d, blocks)
	checkRow(t, &d, []blockcode.Block{{math.MinInt16}, {math.MaxInt16}, {math.MinInt16}, {0}, {math.MinInt16}})
}

func TestPatchesFarApartComeBack(t *testing.T) {
	var d blockcode.Decoder
	for _, distance := range []int{0, 1, 1022, 1023, 1024, 2046, 2047, 5000, blockcode.MaxBlocks - 1} {
		blocks := make([]blockcode.Block, distance+1)
		blocks[0][5] = 1000
		blocks[distance][63] = -1000
		checkRow(t, &d, blocks)
	}
}

func TestRowsWithoutACodeAreRefused(t *testing.T) {
	var e blockcode.Encoder
	var d blockcode.Decoder
	many := make([]blockcode.Block, blockcode.MaxBlocks+1)
	if code, err := e.Append(nil, blockcode.Fast, many); err == nil || code != nil {
		t.Errorf("%d blocks: got %d bytes and error %v", len(many), len(code), err)
	}
	if _, err := e.Append(nil, blockcode.Small+1, many[:1]); err == nil {
		t.Error("encoding with an unknown level: want an error")
	}
	one := encode(t, blockcode.Fast, many[:1])
	for what, err := range map[string]error{
		"too many blocks":        d.Decode(many, make([]uint8, len(many)), blockcode.Fast, one),
		"an unknown level":       d.Decode(many[:1], make([]uint8, 1), blockcode.Small+1, one),
		"fewer places":           d.Decode(many[:1], nil, blockcode.Fast, one),
		"a code without blocks":  d.Decode(nil, nil, blockcode.Fast, one),
		"blocks without a code":  d.Decode(many[:1], make([]uint8, 1), blockcode.Fast, nil),
		"a code of another size": d.Decode(many[:2], make([]uint8, 2), blockcode.Fast, one),
	} {
		if err == nil {
			t.Errorf("decoding %s: want an error", what)
		}
	}
}

// TestTheCodeIsFrozen fails if files of earlier versions can no longer be read.
func TestTheCodeIsFrozen(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var e blockcode.Encoder
	want := []string{"69c7420b65bf8550", "521916526aa55af8"}
	for _, level := range levels {
		hash := sha256.New()
		for n := range 60 {
			blocks := make([]blockcode.Block, n)
			for i := range blocks {
				for range r.IntN(70) {
					blocks[i][r.IntN(64)] = int16(r.Uint32()) >> r.IntN(16)
				}
			}
			code, err := e.Append(nil, level, blocks)
			if err != nil {
				t.Fatal(err)
			}
			hash.Write(code)
		}
		if got := hex.EncodeToString(hash.Sum(nil)[:8]); got != want[level] {
			t.Errorf("level %d: got %s, want %s", level, got, want[level])
		}
	}
}

func TestDecodingAllocatesNothing(t *testing.T) {
	row := randomRow(rand.New(rand.NewPCG(5, 6)), 64)
	last := make([]uint8, len(row))
	for _, level := range levels {
		code := encode(t, level, row)
		for _, code := range [][]byte{code, slices.Clip(code)} {
			var d blockcode.Decoder
			if got := allocs.PerRun(0, 20, func() {
				if err := d.Decode(row, last, level, code); err != nil {
					t.Fatal(err)
				}
			}); got != 0 {
				t.Errorf("level %d: got %v allocations, want 0", level, got)
			}
		}
	}
}

// TestASmallRowIsSmaller also checks that Append only appends.
func TestASmallRowIsSmaller(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var e blockcode.Encoder
	blocks := make([]blockcode.Block, 64)
	for i := range blocks {
		blocks[i][0] = int16(10 * r.NormFloat64())
		for k := 1; k < 64; k++ {
			blocks[i][zigzag[k]] = int16(r.NormFloat64() * 12 / float64(k))
		}
	}
	fast, err := e.Append([]byte("before"), blockcode.Fast, blocks)
	if err != nil {
		t.Fatal(err)
	}
	both, err := e.Append(fast, blockcode.Small, blocks)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(both, fast) || !bytes.HasPrefix(fast, []byte("before")) {
		t.Error("Append changes what is there already")
	}
	if n, m := len(fast)-len("before"), len(both)-len(fast); m > n*9/10 {
		t.Errorf("got %d bytes with Small, want fewer than 0.9 times %d", m, n)
	}
}
