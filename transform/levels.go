package transform

import (
	"errors"
	"math"

	"github.com/penstock-go/penstock/internal/steps"
)

// RandomPosterize keeps only the highest bits of every value, with probability p. Bits,
// from 0 to 8, is their number. With [Depth16] they are the highest of the 16 bits, or of the 15
// without the sign, which is lost; floats are rounded down to one of 2^bits levels below 1.
// The result is that of PIL's ImageOps.posterize and of torchvision's tensors, bit for
// bit. Torchvision's default for p is 0.5.
func RandomPosterize(bits int, p float64) Step {
	s := deepChance{
		chance{text: steps.Call("RandomPosterize", bits, p), p: p, run: func(img *Image, _ *scratch) { posterize(img.Pix, bits) }},
		func(m *Planes, d depth) { posterizeDeep(m, d, bits) },
	}
	if bits < 0 || bits > 8 {
		s.err = errors.New("want 0 to 8 bits")
	}
	return s
}

func posterize(pix []byte, bits int) {
	mask := ^uint8(1<<(8-bits) - 1)
	for i := range pix {
		pix[i] &= mask
	}
}

// RandomSolarize inverts all values that are threshold or more, with probability p.
// Values are from 0 to 255, unlike those of a float tensor in torchvision. With [Depth16] the
// threshold is on the scale of the stored values. The result
// is that of PIL's ImageOps.solarize and of torchvision's tensors, bit for bit.
// Torchvision's default for p is 0.5.
func RandomSolarize(threshold, p float64) Step {
	s := deepChance{
		chance{text: steps.Call("RandomSolarize", threshold, p), p: p, run: func(img *Image, _ *scratch) { solarize(img.Pix, threshold) }},
		func(m *Planes, d depth) { solarizeDeep(m, d, float32(threshold)) },
	}
	if threshold-threshold != 0 {
		s.err = errors.New("want a finite threshold")
	}
	return s
}

func solarize(pix []byte, threshold float64) {
	from := min(max(math.Ceil(threshold), 0), 256)
	var t [256]uint8
	for x := range t {
		t[x] = uint8(x)
		if x >= int(from) {
			t[x] = uint8(255 - x)
		}
	}
	mapColours(pix, &t)
}

// RandomInvert inverts all values with probability p. The result is that of PIL's
// ImageOps.invert and of torchvision's tensors, bit for bit. Torchvision's default for p
// is 0.5.
func RandomInvert(p float64) Step {
	return deepChance{chance{text: steps.Call("RandomInvert", p), p: p, run: func(img *Image, _ *scratch) { invert(img.Pix) }}, invertDeep}
}

func invert(pix []byte) {
	for i, x := range pix {
		pix[i] = ^x
	}
}

// RandomAutocontrast stretches the values of each channel, so that the least becomes 0
// and the greatest 255, with probability p. The result is that of PIL's
// ImageOps.autocontrast, bit for bit, and within one level that of torchvision's tensors.
// Torchvision's default for p is 0.5.
func RandomAutocontrast(p float64) Step {
	return deepChance{chance{text: steps.Call("RandomAutocontrast", p), p: p, run: func(img *Image, _ *scratch) { autocontrast(img.Pix) }}, autocontrastDeep}
}

func autocontrast(pix []byte) {
	least, most := [3]uint8{255, 255, 255}, [3]uint8{}
	for i := 0; i+4 <= len(pix); i += 4 {
		p := pix[i : i+4 : i+4]
		least[0], most[0] = min(least[0], p[0]), max(most[0], p[0])
		least[1], most[1] = min(least[1], p[1]), max(most[1], p[1])
		least[2], most[2] = min(least[2], p[2]), max(most[2], p[2])
	}
	var tables [3][256]uint8
	for c := range tables {
		scale, offset := 1.0, 0.0
		if least[c] < most[c] {
			scale = 255 / float64(most[c]-least[c])
			offset = float64(-int(least[c])) * scale
		}
		for x := range tables[c] {
			v := int(float64(float64(x)*scale) + offset)
			tables[c][x] = uint8(min(max(v, 0), 255))
		}
	}
	mapChannels(pix, &tables)
}

// RandomEqualize equalises the histogram of each channel with probability p. The result
// is that of PIL's ImageOps.equalize, bit for bit. Torchvision's default for p is 0.5. With
// [Depth16] the result has at most 256 levels, because torchvision equalises the highest 8
// bits.
func RandomEqualize(p float64) Step {
	return deepChance{chance{text: steps.Call("RandomEqualize", p), p: p, run: func(img *Image, _ *scratch) { equalize(img.Pix) }}, equalizeDeep}
}

func equalize(pix []byte) {
	var counts [3][256]int32
	for i := 0; i+4 <= len(pix); i += 4 {
		p := pix[i : i+4 : i+4]
		counts[0][p[0]]++
		counts[1][p[1]]++
		counts[2][p[2]]++
	}
	var tables [3][256]uint8
	for c := range tables {
		equalizing(&tables[c], &counts[c])
	}
	mapChannels(pix, &tables)
}

// equalizing makes the table that equalises a histogram. The last value that occurs does
// not count towards the step between two levels.
func equalizing(t *[256]uint8, count *[256]int32) {
	total, last, levels := 0, 0, 0
	for _, n := range count {
		if n > 0 {
			total += int(n)
			last = int(n)
			levels++
		}
	}
	step := (total - last) / 255
	if levels < 2 || step == 0 {
		for x := range t {
			t[x] = uint8(x)
		}
		return
	}
	sum := step / 2
	for x, n := range count {
		t[x] = uint8(min(sum/step, 255))
		sum += int(n)
	}
}

func mapChannels(pix []byte, t *[3][256]uint8) {
	for i := 0; i+4 <= len(pix); i += 4 {
		p := pix[i : i+4 : i+4]
		p[0], p[1], p[2] = t[0][p[0]], t[1][p[1]], t[2][p[2]]
	}
}
