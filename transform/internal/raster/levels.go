package raster

import "math"

func (m *Bytes) Posterize(bits int) {
	mask := ^uint8(1<<(8-bits) - 1)
	pix := m.Pix
	for i := range pix {
		pix[i] &= mask
	}
}

func (m *Bytes) Solarize(threshold float64) {
	from := min(max(math.Ceil(threshold), 0), 256)
	var t [256]uint8
	for x := range t {
		t[x] = uint8(x)
		if x >= int(from) {
			t[x] = uint8(255 - x)
		}
	}
	mapColours(m.Pix, &t)
}

func (m *Bytes) Invert() {
	pix := m.Pix
	for i, x := range pix {
		pix[i] = ^x
	}
}

func (m *Bytes) Autocontrast() {
	pix := m.Pix
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

func (m *Bytes) Equalize() {
	pix := m.Pix
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

// inverted is the inverse of v, as in torchvision: integers have all bits inverted, except the sign.
func (d Depth) inverted(v float32) float32 {
	if v < 0 && d.Whole {
		return d.Least - 1 - v
	}
	return d.Most - v
}

func (m *Floats) Invert() {
	d := m.depth()
	for i, v := range m.Pix {
		m.Pix[i] = d.inverted(v)
	}
}

func (m *Floats) Solarize(threshold float64) {
	d, least := m.depth(), float32(threshold)
	for i, v := range m.Pix {
		if v >= least {
			m.Pix[i] = d.inverted(v)
		}
	}
}

func (m *Floats) Autocontrast() {
	d := m.depth()
	for c := range m.Planes.Channels {
		plane := m.Plane(c)
		least, most := plane[0], plane[0]
		for _, v := range plane {
			if v < least {
				least = v
			}
			if v > most {
				most = v
			}
		}
		scale := float32(most-least) * float32(1/float64(d.Most))
		if !(scale > 0) {
			least, scale = 0, 1
		}
		for i, v := range plane {
			plane[i] = d.cut(float32(v-least) / scale)
		}
	}
}

// Posterize keeps the highest bits of integers, without the sign. Floats are rounded down to one of 2^n levels.
func (m *Floats) Posterize(bits int) {
	d, n := m.depth(), bits
	if !d.Whole {
		levels := float32(int(1) << n)
		for i, v := range m.Pix {
			m.Pix[i] = min(max(float32(math.Floor(float64(v*levels))), 0), levels-1) * (1 / levels)
		}
		return
	}
	if n >= d.bits() {
		return
	}
	mask := int32(1<<n-1) << (d.bits() - n)
	for i, v := range m.Pix {
		m.Pix[i] = float32(int32(v) & mask)
	}
}

func (m *Floats) Equalize() {
	d := m.depth()
	in, out := float32(255.999), float32(1.0/255)
	if d.Whole {
		out = float32(int(1) << (d.bits() - 8))
		in = 1 / out
	}
	for c := range m.Planes.Channels {
		plane := m.Plane(c)
		var counts [256]int32
		for i, v := range plane {
			level := uint8(0)
			if v > 0 { // not NaN
				level = uint8(min(v*in, 255))
			}
			plane[i] = float32(level)
			counts[level]++
		}
		var table [256]uint8
		equalizing(&table, &counts)
		for i, v := range plane {
			plane[i] = float32(table[uint8(v)]) * out
		}
	}
}
