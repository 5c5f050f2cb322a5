package transform

import "math"

// plusTimes is sum + x·y, rounded once, as torch's add_ with alpha.
func plusTimes(sum, x, y float32) float32 {
	return float32(float64(sum) + float64(float64(x)*float64(y))) // the product is exact
}

// deepLuma is the grey value of a colour.
func deepLuma(r, g, b float32) float32 {
	return plusTimes(plusTimes(float32(r*0.2989), g, 0.587), b, 0.114)
}

// saturate blends the colours with their grey values.
func (d depth) saturate(m *Planes, factor float64) {
	if m.Channels != 3 {
		return
	}
	ratio, rest := float32(factor), float32(1-factor)
	red, green, blue := m.Plane(0), m.Plane(1), m.Plane(2)
	for i, v := range red {
		l := deepLuma(v, green[i], blue[i])
		if d.whole {
			l = floor(l)
		}
		red[i] = d.cut(plusTimes(float32(v*ratio), l, rest))
		green[i] = d.cut(plusTimes(float32(green[i]*ratio), l, rest))
		blue[i] = d.cut(plusTimes(float32(blue[i]*ratio), l, rest))
	}
}

// turnHue rotates the hue of the colours by a part of the circle, from -0.5 to 0.5.
func (d depth) turnHue(m *Planes, by float64) {
	if m.Channels != 3 {
		return
	}
	in, out := float32(1), float32(1)
	if d.whole {
		in, out = float32(1/float64(d.most)), float32(float64(d.most)+0.999) // as to_dtype scales
	}
	red, green, blue := m.Plane(0), m.Plane(1), m.Plane(2)
	for i := range red {
		h, s, v := deepHSV(float32(red[i]*in), float32(green[i]*in), float32(blue[i]*in))
		h += float32(by)
		switch {
		case h >= 1:
			h--
		case h < 0:
			h++
		}
		red[i], green[i], blue[i] = deepRGB(h, s, v)
		if d.whole {
			red[i], green[i], blue[i] = d.trunc(red[i]*out), d.trunc(green[i]*out), d.trunc(blue[i]*out)
		}
	}
}

// trunc rounds a value towards 0, within the range of an integer's dtype.
func (d depth) trunc(v float32) float32 {
	switch {
	case v < d.least:
		return d.least
	case v > d.most:
		return d.most
	case v >= d.least:
		return float32(int32(v))
	}
	return 0 // NaN, of a hue below black
}

// deepHSV is the hue from 0 to 1, the saturation and the value of a colour, in the order of
// torchvision's operations. It is defined for all finite numbers.
//
// It has no code in common with toHSV, because no formula has the bits of both: Pillow computes
// hues with three roundings to float64 and stores the circle in 256 steps, and torchvision stays in
// float32 throughout, so nearly every intermediate number differs.
func deepHSV(r, g, b float32) (h, s, v float32) {
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

// deepRGB converts back. All but the greatest of the three is clamped to 0 and 1.
func deepRGB(h, s, v float32) (r, g, b float32) {
	sixths := float32(h * 6)
	sector := float32(math.Floor(float64(sixths)))
	sf, rest := float32(s*(sixths-sector)), 1-s
	unit := func(v float32) float32 { return min(max(v, 0), 1) }
	p, q, t := unit(rest*v), unit(float32(1-sf)*v), unit(float32(sf+rest)*v)
	return inSector(int(sector), v, p, q, t)
}
