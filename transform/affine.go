package transform

import "math"

// An affinity is what an affine step draws: torchvision's arguments of affine.
type affinity struct {
	angle          float64 // in degrees, clockwise
	moveX, moveY   float64 // in pixels
	scale          float64
	shearX, shearY float64 // in degrees
}

// inverse maps the output to the input. Centre is the point that stays where it is, before
// the move.
func (a affinity) inverse(cx, cy float64) mapping {
	angle, sx, sy := radians(a.angle), radians(a.shearX), radians(a.shearY)
	sin, cos := sincos(angle)
	sinRest, cosRest := sincos(angle - sy)
	_, cosY := sincos(sy)
	tan := tangent(sx)
	p := cosRest / cosY
	q := -(float64(p*tan) + sin)
	r := sinRest / cosY
	s := cos - float64(r*tan)
	m := mapping{s / a.scale, -q / a.scale, 0, -r / a.scale, p / a.scale, 0}
	x, y := cx+a.moveX, cy+a.moveY
	m[2] = cx - float64(m[0]*x) - float64(m[1]*y)
	m[5] = cy - float64(m[3]*x) - float64(m[4]*y)
	return m
}

// radians is Python's math.radians.
func radians(degrees float64) float64 { return degrees * (math.Pi / 180) }

// A turn is a rotation by any angle, in degrees counterclockwise, as PIL's Image.rotate
// does it.
type turn struct {
	angle   float64
	expand  bool // the result is large enough for the whole image
	centred bool // around the image's centre, otherwise around (cx, cy)
	cx, cy  float64
}

// quarters is the number of quarter turns that the turn is, or -1 if it is none that moves
// whole pixels only.
func (t *turn) quarters(w, h int) int {
	angle := math.Mod(t.angle, 360)
	if angle < 0 {
		angle += 360
	}
	switch {
	case !t.centred:
	case angle == 0, angle == 180:
		return int(angle) / 90
	case (angle == 90 || angle == 270) && (t.expand || w == h):
		return int(angle) / 90
	}
	return -1
}

// inverse maps the output of nw×nh pixels to the input of w×h.
func (t *turn) inverse(w, h int) (m mapping, nw, nh int) {
	angle := math.Mod(t.angle, 360)
	if angle < 0 {
		angle += 360
	}
	angle = -radians(angle)
	cx, cy := t.cx, t.cy
	if t.centred {
		cx, cy = float64(w)/2, float64(h)/2
	}
	sin, cos := sincos(angle)
	sin, cos = decimals(sin), decimals(cos)
	m = mapping{cos, sin, 0, -sin, cos, 0}
	m[2], m[5] = m.of(-cx, -cy)
	m[2] += cx
	m[5] += cy
	if !t.expand {
		return m, w, h
	}
	var left, top, right, bottom float64
	for i, p := range [4][2]int{{0, 0}, {w, 0}, {w, h}, {0, h}} {
		x, y := m.of(float64(p[0]), float64(p[1]))
		if i == 0 {
			left, top, right, bottom = x, y, x, y
		}
		left, right = min(left, x), max(right, x)
		top, bottom = min(top, y), max(bottom, y)
	}
	nw = int(math.Ceil(right) - math.Floor(left))
	nh = int(math.Ceil(bottom) - math.Floor(top))
	m[2], m[5] = m.of(-float64(nw-w)/2, -float64(nh-h)/2)
	return m, nw, nh
}

// decimals rounds a number from -1 to 1 to 15 digits after the point, as Python's round(v, 15)
// does.
func decimals(v float64) float64 {
	p := product2(v, 1e15)
	n := math.RoundToEven(p.hi)
	if half := p.hi - n; math.Abs(half) == 0.5 && half*p.lo > 0 {
		n += 2 * half
	}
	return n / 1e15
}

// size is the size of the result for an image of w×h.
func (t *turn) size(w, h int) (int, int) {
	if q := t.quarters(w, h); q >= 0 {
		if q%2 == 1 {
			return h, w
		}
		return w, h
	}
	_, w, h = t.inverse(w, h)
	return w, h
}

// rotate turns src into dst, which gets the size that it needs.
func rotate(dst, src *Image, t turn, p painter) {
	dst.resize(t.size(src.Width, src.Height))
	if q := t.quarters(src.Width, src.Height); q >= 0 {
		quarterTurns(dst, src, q)
		return
	}
	m, _, _ := t.inverse(src.Width, src.Height)
	warp(dst, src, &m, p)
}

// quarterTurns turns counterclockwise by q quarters.
func quarterTurns(dst, src *Image, q int) {
	w, h := src.Width, src.Height
	// The pixel of src for the first pixel of dst, and the steps right and down.
	at, right, down := 0, 1, w
	switch q {
	case 1:
		at, right, down = w-1, w, -1
	case 2:
		at, right, down = w*h-1, -1, -w
	case 3:
		at, right, down = w*(h-1), -w, 1
	}
	for y := range dst.Height {
		row := dst.Pix[4*y*dst.Width:][:4*dst.Width]
		i := at + y*down
		for x := 0; x < len(row); x += 4 {
			copy(row[x:x+4], src.Pix[4*i:4*i+4])
			i += right
		}
	}
}
