package blockcode

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// A Decoder decodes rows and keeps its memory between them. The zero value is ready for
// use by one goroutine at a time.
type Decoder struct {
	streams
	flat  []int8 // the values and, in their places, the escapes, and then slack
	small []byte // streams of level Small, decompressed

	kernels kernels // tests compare them
	running kernels // in this row
}

// flatSlack is how many elements the kernels may read and write after the values.
const flatSlack = 64

// Decode fills the blocks from src, the whole code of a row. It sets last[i] to the place
// in zigzag order of block i's last coefficient that may differ from zero, 0 if only
// the DC coefficient may. Src that cannot be the code of so many blocks is an error.
// Then the contents of blocks and last are undefined.
func (d *Decoder) Decode(blocks []Block, last []uint8, level Level, src []byte) error {
	switch {
	case len(last) != len(blocks):
		return errSizes
	case len(blocks) > MaxBlocks:
		return errBlocks
	case level > Small:
		return errLevel
	case len(blocks) == 0 && len(src) > 0:
		return corrupt("length of the row")
	case len(blocks) == 0:
		return nil
	}
	d.running = d.kernels.choose(src)
	var err error
	if level == Small {
		err = d.splitSmall(src, len(blocks))
	} else {
		err = d.split(src, len(blocks))
	}
	if err != nil {
		return err
	}
	if n := d.count; n%2 == 1 && d.values[n/2]>>4 != 1 {
		return corrupt("end of the values")
	}
	d.flat = grow(d.flat, 2*len(d.values)+flatSlack)
	if !d.flatten() {
		return corrupt("number of escapes")
	}
	if !d.expand(blocks, last) {
		return corrupt("mask")
	}
	return d.patch(blocks, last)
}

// flatten fills flat. It reports whether there are as many escapes as values of zero.
func (d *Decoder) flatten() bool {
	if d.running != portable {
		return d.flattenKernel()
	}
	flat, escapes := d.flat[:2*len(d.values)], d.escapes
	e := 0
	for i, v := range d.values {
		x, y := int32(int8(v<<4))>>4, int32(int8(v))>>4
		if e+1 < len(escapes) { // without further branches
			first := int32(int8(escapes[e]))
			if x == 0 {
				x = first
			}
			e += int((uint32(v&15) - 1) >> 31)
			second := int32(int8(escapes[e]))
			if y == 0 {
				y = second
			}
			e += int((uint32(v>>4) - 1) >> 31)
		} else {
			if x == 0 {
				if e == len(escapes) {
					return false
				}
				x = int32(int8(escapes[e]))
				e++
			}
			if y == 0 {
				if e == len(escapes) {
					return false
				}
				y = int32(int8(escapes[e]))
				e++
			}
		}
		flat[2*i], flat[2*i+1] = int8(x), int8(y)
	}
	return e == len(escapes)
}

// scatter is the index of the coefficient for each bit of a mask, and 0 for bit 64.
var scatter = func() (order [128]uint8) {
	copy(order[:], zigzag[1:])
	return order
}()

// expand fills the blocks from flat, without the patches. It reports whether no mask has
// a coefficient 64.
func (d *Decoder) expand(blocks []Block, last []uint8) bool {
	if d.running != portable {
		return d.expandKernel(blocks, last)
	}
	var all uint64
	var dc int16
	masks, flat, wide := d.masks, d.flat, d.wide
	last = last[:len(blocks)]
	for i := range blocks {
		b := &blocks[i]
		*b = Block{}
		if difference := int8(d.dcs[i]); difference != wideDC {
			dc += int16(difference)
		} else {
			dc += int16(binary.LittleEndian.Uint16(wide))
			wide = wide[2:]
		}

		length := int(d.lengths[i/2] >> (i % 2 * 4) & 15)
		var mask uint64
		if len(masks) >= 8 {
			mask = binary.LittleEndian.Uint64(masks) & (1<<(8*length) - 1)
		} else {
			for j, m := range masks[:length] {
				mask |= uint64(m) << (8 * j)
			}
		}
		masks = masks[length:]
		all |= mask
		last[i] = uint8(bits.Len64(mask))
		values := (*[64]int8)(flat)
		count := uint(bits.OnesCount64(mask))
		flat = flat[count:]
		for j := uint(0); j < count; j += 4 { // values too many go to the DC coefficient
			b[scatter[bits.TrailingZeros64(mask)&127]&63] = int16(values[j&63])
			mask &= mask - 1
			b[scatter[bits.TrailingZeros64(mask)&127]&63] = int16(values[(j+1)&63])
			mask &= mask - 1
			b[scatter[bits.TrailingZeros64(mask)&127]&63] = int16(values[(j+2)&63])
			mask &= mask - 1
			b[scatter[bits.TrailingZeros64(mask)&127]&63] = int16(values[(j+3)&63])
			mask &= mask - 1
		}
		b[0] = dc
	}
	return all>>63 == 0
}

// patch adds the patches.
func (d *Decoder) patch(blocks []Block, last []uint8) error {
	i := 0
	for p := d.patches; len(p) >= patchSize; p = p[patchSize:] {
		place := p[1] >> 2
		i += int(p[0]) | int(p[1]&3)<<8
		if i >= len(blocks) || place > last[i] {
			return corrupt("patch")
		}
		if place > 0 {
			v := &blocks[i][zigzag[place&63]]
			*v = int16(p[2])<<8 | *v&0xff
		}
	}
	return nil
}

// grow returns a slice of n elements, in the memory of s if that is large enough.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

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

// compressed is how many streams Huffman codes compress.
const compressed = 5

// A small is the header of a row of level Small.
type small struct {
	patches, escapes, wide uint64
	set                    byte
	sizes                  [lanes - 1]uint64 // of the lanes
}

// appendSmall appends the code of the streams without the number of patches.
func (e *Encoder) appendSmall(dst []byte) []byte {
	parts := [compressed][]byte{e.lengths, e.dcs, e.masks, e.values, e.escapes}
	set := smallest(&parts)
	words := &codes().words
	for s, part := range parts {
		for i, symbol := range part {
			e.lanes[i%lanes].add(words[set][s][symbol])
		}
	}
	dst = append(dst, byte(set))
	dst = binary.AppendUvarint(dst, uint64(len(e.escapes)))
	dst = binary.AppendUvarint(dst, uint64(len(e.wide)/2))
	for i := range e.lanes {
		e.lanes[i].flush()
		if i < lanes-1 {
			dst = binary.AppendUvarint(dst, uint64(len(e.lanes[i].bytes)))
		}
	}
	for i := range e.lanes {
		dst = append(dst, e.lanes[i].bytes...)
		e.lanes[i].bytes = e.lanes[i].bytes[:0]
	}
	dst = append(dst, e.wide...)
	return append(dst, e.patches...)
}

// smallest returns the code set that needs the fewest bits.
func smallest(parts *[compressed][]byte) (best int) {
	words := &codes().words
	var total [codeSets]int
	for s, part := range parts {
		var counts [256]int
		for _, symbol := range part {
			counts[symbol]++
		}
		for symbol, n := range counts {
			if n == 0 {
				continue
			}
			for set := range total {
				total[set] += n * int(words[set][s][symbol].length)
			}
		}
	}
	for set := range total {
		if total[set] < total[best] {
			best = set
		}
	}
	return best
}

// splitSmall is split for level Small.
func (d *Decoder) splitSmall(src []byte, n int) error {
	var h small
	src, ok := h.read(src)
	if !ok || int(h.set) >= codeSets {
		return corrupt("header")
	}
	tail := patchSize*h.patches + 2*h.wide
	if tail > uint64(len(src)) {
		return corrupt("length of the row")
	}
	end := len(src) - int(tail)
	d.wide, d.patches = src[end:end+2*int(h.wide)], src[end+2*int(h.wide):]

	r := laneReader{kernel: d.running != portable}
	if !r.open(src, &h.sizes, end) {
		return corrupt("length of a lane")
	}
	tables := &codes().tables[h.set]
	half := (n + 1) / 2
	d.small = grow(d.small, scratchSize(n))
	rest := d.small
	next := func(stream, size int) (part []byte) {
		part, rest = rest[:size], rest[size:]
		r.read(part, &tables[stream])
		return part
	}
	d.lengths, d.dcs = next(0, half), next(1, n)
	size, ok := sum(d.lengths, n)
	if !ok {
		return corrupt("length of a mask")
	}
	if wideSize(d.dcs) != len(d.wide) {
		return corrupt("number of wide differences")
	}
	d.masks = next(2, size)
	d.count = ones(d.masks)
	if h.escapes > uint64(d.count) {
		return corrupt("number of escapes")
	}
	d.values = next(3, (d.count+1)/2)
	d.escapes = next(4, int(h.escapes))
	if !r.close() {
		return corrupt("Huffman code")
	}
	return nil
}

// scratchSize is the size of the compressed streams of n blocks, if all coefficients are
// escaped, and of slack.
func scratchSize(n int) int { return (n+1)/2 + n + 8*n + 32*n + 63*n + Slack }

// read reads the header. It returns what follows it.
func (h *small) read(src []byte) (rest []byte, ok bool) {
	most := 8 * uint64(len(src)) // of any number
	ok = true
	number := func() uint64 {
		v, at := binary.Uvarint(src)
		if ok = ok && at > 0 && v <= most; ok {
			src = src[at:]
		}
		return v
	}
	h.patches = number()
	if !ok || len(src) == 0 {
		return nil, false
	}
	h.set, src = src[0], src[1:]
	h.escapes, h.wide = number(), number()
	for i := range h.sizes {
		h.sizes[i] = number()
	}
	return src, ok
}
