package tiff

import (
	"bytes"
	"testing"
)

// literals encodes every byte as a code of its own. Codes of old files begin with the lowest bit.
func literals(text []byte, old bool) []byte {
	var bits []byte
	width, next, early := 9, lzwFirst-1, 1
	if old {
		early = 0
	}
	add := func(code int) {
		for i := range width {
			shift := width - 1 - i
			if old {
				shift = i
			}
			bits = append(bits, byte(code>>shift&1))
		}
	}
	add(lzwClear)
	for _, b := range text {
		add(int(b))
		if next++; next >= 1<<width-early && width < 12 {
			width++
		}
	}
	add(lzwEnd)
	out := make([]byte, (len(bits)+7)/8)
	for i, bit := range bits {
		if old {
			out[i/8] |= bit << (i % 8)
		} else {
			out[i/8] |= bit << (7 - i%8)
		}
	}
	return out
}

func TestLZWOfOldAndNewFilesWidens(t *testing.T) {
	want := bytes.Repeat([]byte("penstock"), 300) // 2,400 codes: of 9 to 12 bits
	for _, old := range []bool{false, true} {
		var l lzw
		got := make([]byte, len(want))
		if err := l.decode(got, literals(want, old)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("old %v: %v, or other bytes", old, err)
		}
	}
}
