package blockcode

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// patchSize is the size of a patch in bytes.
const patchSize = 3

// streams are the parts of a row's code.
type streams struct {
	lengths, dcs, masks, values, escapes, wide, patches []byte

	count int // of the values
}

// split finds the streams of n blocks in src, which has level Fast. When it succeeds, the
// lengths are valid, and the masks have as many bits as there are values. The streams
// keep src's capacity.
func (s *streams) split(src []byte, n int) error {
	patches, at := binary.Uvarint(src)
	if at <= 0 || patches > uint64(len(src)/patchSize) {
		return corrupt("number of patches")
	}
	src = src[at:]
	half := (n + 1) / 2
	if len(src) < half+n {
		return corrupt("length of the row")
	}
	s.lengths, s.dcs, src = src[:half], src[half:half+n], src[half+n:]
	size, ok := sum(s.lengths, n)
	if !ok {
		return corrupt("length of a mask")
	}
	if len(src) < size {
		return corrupt("length of the masks")
	}
	s.masks, src = src[:size], src[size:]
	s.count = ones(s.masks)
	size = (s.count + 1) / 2
	wide := wideSize(s.dcs)
	escapes := len(src) - size - wide - patchSize*int(patches)
	if escapes < 0 {
		return corrupt("length of the values")
	}
	s.values, src = src[:size], src[size:]
	s.escapes, src = src[:escapes], src[escapes:]
	s.wide, s.patches = src[:wide], src[wide:]
	return nil
}

// wideSize returns the size of the stream wide.
func wideSize(dcs []byte) int { return 2 * bytes.Count(dcs, []byte{wideDC & 0xff}) }

// sum adds n nibbles. It reports whether none is above 8 and one that fills up is 0.
func sum(nibbles []byte, n int) (total int, ok bool) {
	if n%2 == 1 && nibbles[n/2]>>4 != 0 {
		return 0, false
	}
	const low, top = 0x7777777777777777, 0x8888888888888888
	var above uint64
	for len(nibbles) > 0 {
		var eight [8]byte
		nibbles = nibbles[copy(eight[:], nibbles):]
		x := binary.LittleEndian.Uint64(eight[:])
		above |= x & top & (x&low + low)
		const bytes, words = 0x0f0f0f0f0f0f0f0f, 0x0101010101010101
		total += int((x&bytes + x>>4&bytes) * words >> 56)
	}
	return total, above == 0
}

// ones counts the bits that are set.
func ones(masks []byte) (total int) {
	for ; len(masks) >= 32; masks = masks[32:] {
		total += bits.OnesCount64(binary.LittleEndian.Uint64(masks)) + bits.OnesCount64(binary.LittleEndian.Uint64(masks[8:])) +
			bits.OnesCount64(binary.LittleEndian.Uint64(masks[16:])) + bits.OnesCount64(binary.LittleEndian.Uint64(masks[24:]))
	}
	for ; len(masks) >= 8; masks = masks[8:] {
		total += bits.OnesCount64(binary.LittleEndian.Uint64(masks))
	}
	for _, m := range masks {
		total += bits.OnesCount8(m)
	}
	return total
}
