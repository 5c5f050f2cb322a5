package blockcode

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/hostile"
)

// sets are the kernels that run here, and the portable code.
func sets() []kernels {
	switch best() {
	case avx512:
		return []kernels{portable, avx2, avx512}
	case portable:
		return []kernels{portable}
	}
	return []kernels{portable, best()}
}

// decodeAll decodes src with all kernels, with slack after it. It returns the blocks, unless
// it is invalid.
func decodeAll(tb testing.TB, n int, level Level, src []byte) []Block {
	tb.Helper()
	code := append(slices.Clone(src), make([]byte, Slack)...)[:len(src)]
	var first []Block
	var firstLast []uint8
	var firstError error
	for i, k := range sets() {
		blocks, last := make([]Block, n), make([]uint8, n)
		d := Decoder{kernels: k}
		err := d.Decode(blocks, last, level, code)
		if i == 0 {
			first, firstLast, firstError = blocks, last, err
			continue
		}
		if (err == nil) != (firstError == nil) || err != nil && err.Error() != firstError.Error() {
			tb.Fatalf("level %d: got error %v with kernels %d, and %v without", level, err, k, firstError)
		}
		if err == nil && (!slices.Equal(blocks, first) || !slices.Equal(last, firstLast)) {
			tb.Fatalf("level %d: kernels %d give other blocks", level, k)
		}
	}
	if firstError != nil {
		return nil
	}
	return first
}

// FuzzDecode changes codes: all kernels must agree, and blocks that they accept must come
// back from a code of their own.
func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 12 {
		for level := range Small + 1 {
			var e Encoder
			code, err := e.Append(nil, level, noise(r, n))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(byte(n), byte(level), code)
		}
	}
	f.Fuzz(func(t *testing.T, n, level byte, src []byte) {
		checkHostile(t, int(n), Level(level)%(Small+1), src)
	})
}

// blockMemory is that of a block, of its last place and of what the decoder keeps of it.
const blockMemory = 8 * 64

func checkHostile(t *testing.T, n int, level Level, src []byte) {
	t.Helper()
	hostile.Bounded(t, len(src), int64(n)*blockMemory, func() {
		_ = new(Decoder).Decode(make([]Block, n), make([]uint8, n), level, append(slices.Clone(src), make([]byte, Slack)...)[:len(src)])
	})
	blocks := decodeAll(t, n, level, src)
	if blocks == nil {
		return
	}
	var e Encoder
	code, err := e.Append(nil, level, blocks)
	if err != nil {
		t.Fatal(err)
	}
	if again := decodeAll(t, n, level, code); !slices.Equal(again, blocks) {
		t.Fatalf("level %d: blocks of an accepted code do not come back", level)
	}
}

// noise returns blocks with some coefficients of all sizes.
func noise(r *rand.Rand, n int) []Block {
	blocks := make([]Block, n)
	for i := range blocks {
		for range r.IntN(70) {
			blocks[i][r.IntN(64)] = int16(r.Uint32()) >> r.IntN(16)
		}
	}
	return blocks
}

func TestChangedCodesGiveErrorsOrBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var e Encoder
	rounds := 4000
	if testing.Short() {
		rounds = 400
	}
	for range rounds {
		n := 1 + r.IntN(20)
		for level := range Small + 1 {
			code, err := e.Append(nil, level, noise(r, n))
			if err != nil {
				t.Fatal(err)
			}
			for range 1 + r.IntN(3) {
				switch at := r.IntN(len(code)); r.IntN(4) {
				case 0:
					code[at] = byte(r.Uint32())
				case 1:
					code[at] ^= 1 << r.IntN(8)
				case 2: // a byte more
					code = slices.Insert(code, at, byte(r.Uint32()))
				case 3:
					code = append(code[:at], code[min(len(code), at+r.IntN(9)):]...)
				}
				if len(code) == 0 {
					code = []byte{0}
				}
			}
			checkHostile(t, n, level, code)
		}
	}
}

func TestCutCodesAreErrors(t *testing.T) {
	var e Encoder
	blocks := noise(rand.New(rand.NewPCG(5, 6)), 30)
	for level := range Small + 1 {
		code, err := e.Append(nil, level, blocks)
		if err != nil {
			t.Fatal(err)
		}
		for n := range code {
			if decodeAll(t, len(blocks), level, code[:n]) != nil {
				t.Fatalf("level %d: %d of %d bytes are accepted", level, n, len(code))
			}
		}
		if decodeAll(t, len(blocks), level, append(code, 0)) != nil {
			t.Fatalf("level %d: a byte more is accepted", level)
		}
	}
}

func TestRulesOfTheCode(t *testing.T) {
	for name, c := range map[string]struct {
		n    int
		code string
		want error
	}{
		"an empty block":                {1, "\x00" + "\x00" + "\x05", nil},
		"a number without an end":       {1, "\xff", corrupt("number of patches")},
		"more patches than bytes":       {1, "\x09\x00\x00", corrupt("number of patches")},
		"no differences":                {1, "\x00\x00", corrupt("length of the row")},
		"a mask of 9 bytes":             {1, "\x00" + "\x09" + "\x05" + "123456789", corrupt("length of a mask")},
		"a length too many":             {1, "\x00" + "\x10" + "\x05", corrupt("length of a mask")},
		"a mask without values":         {1, "\x00" + "\x01" + "\x05" + "\x01", corrupt("length of the values")},
		"a value":                       {1, "\x00" + "\x01" + "\x05" + "\x01" + "\x12", nil},
		"a value too many":              {1, "\x00" + "\x01" + "\x05" + "\x01" + "\x22", corrupt("end of the values")},
		"an escape":                     {1, "\x00" + "\x01" + "\x05" + "\x01" + "\x10" + "\x80", nil},
		"no escape":                     {1, "\x00" + "\x01" + "\x05" + "\x01" + "\x10", corrupt("number of escapes")},
		"an escape too many":            {1, "\x00" + "\x01" + "\x05" + "\x01" + "\x12" + "\x80", corrupt("number of escapes")},
		"an escape without values":      {1, "\x00" + "\x00" + "\x05" + "\x80", corrupt("number of escapes")},
		"coefficient 64":                {1, "\x00" + "\x08" + "\x05" + "\x00\x00\x00\x00\x00\x00\x00\x80" + "\x12", corrupt("mask")},
		"a wide difference":             {1, "\x00" + "\x00" + "\x80" + "\x00\x10", nil},
		"half a wide difference":        {1, "\x00" + "\x00" + "\x80" + "\x00", corrupt("length of the values")},
		"a patch":                       {1, "\x01" + "\x01" + "\x05" + "\x02" + "\x12" + "\x00\x08\x07", nil},
		"a patch after the last place":  {1, "\x01" + "\x01" + "\x05" + "\x02" + "\x12" + "\x00\x0c\x07", corrupt("patch")},
		"a patch after the last block":  {1, "\x01" + "\x01" + "\x05" + "\x02" + "\x12" + "\x01\x04\x07", corrupt("patch")},
		"a patch that goes on too far":  {2, "\x01" + "\x00" + "\x05\x05" + "\x02\x00\x00", corrupt("patch")},
		"a patch that only goes on":     {2, "\x01" + "\x00" + "\x05\x05" + "\x01\x00\x00", nil},
		"a patch that goes on 256 more": {2, "\x01" + "\x00" + "\x05\x05" + "\x00\x01\x00", corrupt("patch")},
	} {
		for _, k := range sets() {
			d := Decoder{kernels: k}
			code := append([]byte(c.code), make([]byte, Slack)...)[:len(c.code)]
			err := d.Decode(make([]Block, c.n), make([]uint8, c.n), Fast, code)
			if (err == nil) != (c.want == nil) || err != nil && err.Error() != c.want.Error() {
				t.Errorf("%s, kernels %d: got %v, want %v", name, k, err, c.want)
			}
		}
	}
}

// TestPromisesAllocateNothing decodes headers with numbers far beyond the code.
func TestPromisesAllocateNothing(t *testing.T) {
	var before, after runtime.MemStats
	blocks, last := make([]Block, 8), make([]uint8, 8)
	codes := []string{
		"\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
		"\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x00\x00\x00\x00",
		"\x00\x01\x00\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x00\x00\x00",
		"\x00\x01\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x00\x00",
		"\x00\x01\x7f\x00\x03\x00\x00abcdefghijklmnopqrstuvwxyz",
	}
	runtime.ReadMemStats(&before)
	for _, code := range codes {
		for level := range Small + 1 {
			var d Decoder
			if err := d.Decode(blocks, last, level, []byte(code)); err == nil {
				t.Errorf("level %d: %q: want an error", level, code)
			}
		}
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("%d bytes were allocated, want fewer than 1 MiB", got)
	}
}

func TestUnknownCodeSetsAreErrors(t *testing.T) {
	var e Encoder
	blocks := make([]Block, 4)
	code, err := e.Append(nil, Small, blocks)
	if err != nil {
		t.Fatal(err)
	}
	code[1] = codeSets
	var d Decoder
	want := corrupt("header")
	if err := d.Decode(blocks, make([]uint8, 4), Small, code); err == nil || err.Error() != want.Error() {
		t.Errorf("got %v, want %v", err, want)
	}
}

// TestCodeSetsAreComplete checks that every byte has a code, and every bit pattern a byte.
func TestCodeSetsAreComplete(t *testing.T) {
	for set := range codeSets {
		for s := range compressed {
			for symbol, w := range codes().words[set][s] {
				if w.length == 0 || w.length > codeBits {
					t.Fatalf("set %d, stream %d: byte %d has a code of %d bits", set, s, symbol, w.length)
				}
			}
			for pattern, e := range codes().tables[set][s] {
				w := codes().words[set][s][e>>8]
				if uint16(w.length) != e&0xff || uint16(pattern)&(1<<w.length-1) != w.bits {
					t.Fatalf("set %d, stream %d: pattern %b decodes to byte %d, whose code is %b", set, s, pattern, e>>8, w.bits)
				}
			}
		}
	}
}
