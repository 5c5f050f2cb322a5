package tiff

import (
	"bytes"
	"errors"
	"testing"
)

// literals encodes every byte as a code of its own.
func literals(text []byte) []byte {
	var bits []byte
	width, next := 9, lzwFirst-1
	add := func(code int) {
		for i := range width {
			bits = append(bits, byte(code>>(width-1-i)&1))
		}
	}
	add(lzwClear)
	for _, b := range text {
		add(int(b))
		if next++; next >= 1<<width-1 && width < 12 {
			width++
		}
	}
	add(lzwEnd)
	out := make([]byte, (len(bits)+7)/8)
	for i, bit := range bits {
		out[i/8] |= bit << (7 - i%8)
	}
	return out
}

func TestLZWWidens(t *testing.T) {
	want := bytes.Repeat([]byte("penstock"), 300) // 2,400 codes: of 9 to 12 bits
	var l lzw
	got := make([]byte, len(want))
	if err := l.decode(got, literals(want)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v, or other bytes", err)
	}
	if err := l.decode(got, []byte{0, 1, 2, 3}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("codes of old files: error %v, want one that is unsupported", err)
	}
}
