package blockcode

import "encoding/binary"

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
