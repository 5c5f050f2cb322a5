package raster

import "math"

func (m *Bytes) Brightness(factor float64) {
	var t [256]uint8
	blendTable(&t, 0, factor)
	mapColours(m.Pix, &t)
}

func (m *Bytes) Contrast(factor float64) {
	pix := m.Pix
	if len(pix) < 4 {
		return
	}
	sum := 0
	for i := 0; i+4 <= len(pix); i += 4 {
		sum += int(luma(pix[i], pix[i+1], pix[i+2]))
	}
	var t [256]uint8
	blendTable(&t, uint8(int(float64(sum)/float64(len(pix)/4)+0.5)), factor)
	mapColours(pix, &t)
}

func (m *Bytes) Saturation(factor float64) {
	pix := m.Pix
	for i := 0; i+4 <= len(pix); i += 4 {
		p := pix[i : i+4 : i+4]
		gray := luma(p[0], p[1], p[2])
		p[0], p[1], p[2] = blend(gray, p[0], factor), blend(gray, p[1], factor), blend(gray, p[2], factor)
	}
}

func (m *Bytes) Hue(part float64) {
	pix := m.Pix
	turn := uint8(int(part * 255))
	for i := 0; i+4 <= len(pix); i += 4 {
		p := pix[i : i+4 : i+4]
		h, s, v := toHSV(p[0], p[1], p[2])
		p[0], p[1], p[2] = fromHSV(h+turn, s, v)
	}
}

func mapColours(pix []byte, t *[256]uint8) {
	for i := 0; i+4 <= len(pix); i += 4 {
		p := pix[i : i+4 : i+4]
		p[0], p[1], p[2] = t[p[0]], t[p[1]], t[p[2]]
	}
}

func blendTable(t *[256]uint8, base uint8, factor float64) {
	for x := range t {
		t[x] = blend(base, uint8(x), factor)
	}
}

// blend interpolates from a to b, or extrapolates, as Pillow's Image.blend does: in float32, rounded towards zero.
func blend(a, b uint8, factor float64) uint8 {
	v := float32(a) + float32(float32(factor)*float32(int(b)-int(a)))
	if v <= 0 {
		return 0
	}
	if v >= 255 {
		return 255
	}
	return uint8(v)
}

// luma is Pillow's convert("L"): ITU-R 601-2 in 16-bit fixed point.
func luma(r, g, b uint8) uint8 {
	return uint8((uint32(r)*19595 + uint32(g)*38470 + uint32(b)*7471 + 0x8000) >> 16)
}

// toHSV is Pillow's convert("HSV"): hue, saturation and value from 0 to 255,
// rounded down, in the same mixture of float32 and float64 as Pillow's C code.
func toHSV(r, g, b uint8) (h, s, v uint8) {
	most, least := max(r, g, b), min(r, g, b)
	if most == least {
		return 0, 0, most
	}
	spread := float32(most - least)
	rc := float32(most-r) / spread
	gc := float32(most-g) / spread
	bc := float32(most-b) / spread
	var hue float32
	switch most {
	case r:
		hue = bc - gc
	case g:
		hue = float32(2 + float64(rc) - float64(bc))
	default:
		hue = float32(4 + float64(gc) - float64(rc))
	}
	turn := float64(hue)/6 + 1 // between 0 and 2
	if turn >= 1 {
		turn--
	}
	hue = float32(turn)
	saturation := spread / float32(most)
	return uint8(int(float64(hue) * 255)), uint8(int(float64(saturation) * 255)), most
}

// fromHSV converts back to RGB as Pillow does.
func fromHSV(h, s, v uint8) (r, g, b uint8) {
	if s == 0 {
		return v, v, v
	}
	sixths := float64(float32(h)) * 6 / 255
	sector := int(sixths)
	f := float32(sixths - float64(float32(sector)))
	fs := float32(float64(float32(s)) / 255)
	p := toByte(float64(v) * (1 - float64(fs)))
	q := toByte(float64(v) * (1 - float64(fs*f)))
	t := toByte(float64(v) * (1 - float64(float64(fs)*(1-float64(f)))))
	return inSector(sector, v, p, q, t)
}

// inSector are the colours of a sixth of the hues, of which v is the greatest and p the least. 6 is 0.
func inSector[T uint8 | float32](sector int, v, p, q, t T) (r, g, b T) {
	switch sector {
	case 1:
		return q, v, p
	case 2:
		return p, v, t
	case 3:
		return p, q, v
	case 4:
		return t, p, v
	case 5:
		return v, p, q
	}
	return v, t, p
}

// toByte rounds a number from 0 to 255. Halves go up.
func toByte(v float64) uint8 { return uint8(int(v + 0.5)) }

func (m *Floats) Brightness(factor float64) { m.blend(0, factor) }

func (m *Floats) Contrast(factor float64) { m.blend(m.grey(), factor) }

// blend interpolates from base to the values, or extrapolates.
func (m *Floats) blend(base float32, factor float64) {
	d := m.depth()
	ratio, rest := float32(factor), float32(1-factor)
	for i, v := range m.Pix {
		m.Pix[i] = d.cut(plusTimes(float32(v*ratio), base, rest))
	}
}

// grey is the mean of the image: for three channels the mean of torchvision's grey values,
// otherwise that of all values.
func (m *Floats) grey() float32 {
	d := m.depth()
	sum, n := 0.0, m.Width*m.Height
	if m.Planes.Channels != 3 {
		for _, v := range m.Pix {
			sum += float64(v)
		}
		return float32(sum / float64(len(m.Pix)))
	}
	red, green, blue := m.Plane(0), m.Plane(1), m.Plane(2)
	for i, v := range red {
		l := lumaFloat(v, green[i], blue[i])
		if d.Whole {
			l = floor(l)
		}
		sum += float64(l)
	}
	return float32(sum / float64(n))
}

// plusTimes is sum + x·y, rounded once, as torch's add_ with alpha.
func plusTimes(sum, x, y float32) float32 {
	return float32(float64(sum) + float64(float64(x)*float64(y))) // the product is exact
}

// lumaFloat is the grey value of a colour.
func lumaFloat(r, g, b float32) float32 {
	return plusTimes(plusTimes(float32(r*0.2989), g, 0.587), b, 0.114)
}

func (m *Floats) Saturation(factor float64) {
	if m.Planes.Channels != 3 {
		return
	}
	d := m.depth()
	ratio, rest := float32(factor), float32(1-factor)
	red, green, blue := m.Plane(0), m.Plane(1), m.Plane(2)
	for i, v := range red {
		l := lumaFloat(v, green[i], blue[i])
		if d.Whole {
			l = floor(l)
		}
		red[i] = d.cut(plusTimes(float32(v*ratio), l, rest))
		green[i] = d.cut(plusTimes(float32(green[i]*ratio), l, rest))
		blue[i] = d.cut(plusTimes(float32(blue[i]*ratio), l, rest))
	}
}

func (m *Floats) Hue(part float64) {
	if m.Planes.Channels != 3 {
		return
	}
	d := m.depth()
	in, out := float32(1), float32(1)
	if d.Whole {
		in, out = float32(1/float64(d.Most)), float32(float64(d.Most)+0.999) // as to_dtype scales
	}
	red, green, blue := m.Plane(0), m.Plane(1), m.Plane(2)
	for i := range red {
		h, s, v := toHSVFloat(float32(red[i]*in), float32(green[i]*in), float32(blue[i]*in))
		h += float32(part)
		switch {
		case h >= 1:
			h--
		case h < 0:
			h++
		}
		red[i], green[i], blue[i] = fromHSVFloat(h, s, v)
		if d.Whole {
			red[i], green[i], blue[i] = d.trunc(red[i]*out), d.trunc(green[i]*out), d.trunc(blue[i]*out)
		}
	}
}

// toHSVFloat is the hue from 0 to 1, the saturation and the value of a colour, in the order of
// torchvision's operations. It is defined for all finite numbers.
//
// It has no code in common with toHSV, because no formula has the bits of both: Pillow computes
// hues with three roundings to float64 and stores the circle in 256 steps, and torchvision stays in
// float32 throughout, so nearly every intermediate number differs.
func toHSVFloat(r, g, b float32) (h, s, v float32) {
	most, least := max(r, g, b), min(r, g, b)
	if most == least {
		return 0, 0, most
	}
	spread := most - least
	rc, gc, bc := (most-r)/spread, (most-g)/spread, (most-b)/spread
	switch most {
	case r:
		h = bc - gc
	case g:
		h = rc + 2 - bc
	default:
		h = gc + 4 - rc
	}
	h = float32(h*float32(1.0/6)) + 1
	if h >= 1 {
		h--
	}
	return h, spread / most, most
}

// fromHSVFloat converts back. All but the greatest of the three is clamped to 0 and 1.
func fromHSVFloat(h, s, v float32) (r, g, b float32) {
	sixths := float32(h * 6)
	sector := float32(math.Floor(float64(sixths)))
	sf, rest := float32(s*(sixths-sector)), 1-s
	unit := func(v float32) float32 { return min(max(v, 0), 1) }
	p, q, t := unit(rest*v), unit(float32(1-sf)*v), unit(float32(sf+rest)*v)
	return inSector(int(sector), v, p, q, t)
}

func (m *Bytes) Grey(int) {
	for i := 0; i+4 <= len(m.Pix); i += 4 {
		p := m.Pix[i : i+4 : i+4]
		v := luma(p[0], p[1], p[2])
		p[0], p[1], p[2] = v, v, v
	}
}

func (m *Floats) Grey(channels int) {
	if m.Planes.Channels == 3 {
		grey, green, blue := m.Plane(0), m.Plane(1), m.Plane(2)
		whole := m.depth().Whole
		for i, v := range grey {
			grey[i] = lumaFloat(v, green[i], blue[i])
			if whole {
				grey[i] = float32(int32(grey[i]))
			}
		}
	}
	switch grey := m.Plane(0); {
	case channels == 1:
		m.Planes.Channels, m.Pix = 1, m.Pix[:len(grey)] // with its capacity
	case m.Planes.Channels == 3:
		copy(m.Plane(1), grey)
		copy(m.Plane(2), grey)
	default:
		m.Spare.Resize(channels, m.Width, m.Height)
		for c := range channels {
			copy(m.Spare.Plane(c), grey)
		}
		m.Swap()
	}
}

func (m *Bytes) Permute(from []int) {
	red, green, blue := from[0], from[1], from[2]
	for i := 0; i+4 <= len(m.Pix); i += 4 {
		p := m.Pix[i : i+4 : i+4]
		p[0], p[1], p[2] = p[red], p[green], p[blue]
	}
}

func (m *Floats) Permute(from []int) {
	m.makeSpare(m.Width, m.Height)
	for c, from := range from {
		copy(m.Spare.Plane(c), m.Plane(from))
	}
	m.Swap()
}
