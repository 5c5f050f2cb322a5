package raster

import (
	"image"
	"math"
)

// An Affinity is what an affine step draws: torchvision's arguments of affine.
type Affinity struct {
	Angle          float64 // in degrees, clockwise
	MoveX, MoveY   float64 // in pixels
	Scale          float64
	ShearX, ShearY float64 // in degrees
}

// Inverse maps the output to the input. Centre is the point that stays where it is, before the move.
func (a Affinity) Inverse(cx, cy float64) Mapping {
	angle, sx, sy := radians(a.Angle), radians(a.ShearX), radians(a.ShearY)
	sin, cos := sincos(angle)
	sinRest, cosRest := sincos(angle - sy)
	_, cosY := sincos(sy)
	tan := tangent(sx)
	p := cosRest / cosY
	q := -(float64(p*tan) + sin)
	r := sinRest / cosY
	s := cos - float64(r*tan)
	m := Mapping{s / a.Scale, -q / a.Scale, 0, -r / a.Scale, p / a.Scale, 0}
	x, y := cx+a.MoveX, cy+a.MoveY
	m[2] = cx - float64(m[0]*x) - float64(m[1]*y)
	m[5] = cy - float64(m[3]*x) - float64(m[4]*y)
	return m
}

// radians is Python's math.radians.
func radians(degrees float64) float64 { return degrees * (math.Pi / 180) }

// A Turn is a rotation by any angle, in degrees counterclockwise, as PIL's Image.rotate does it.
type Turn struct {
	Angle   float64
	Expand  bool // the result is large enough for the whole image
	Centred bool // around the image's centre, otherwise around (CX, CY)
	CX, CY  float64
}

// quarters is the number of quarter turns that the turn is, or -1 if it is none that moves whole pixels only.
func (t *Turn) quarters(w, h int) int {
	angle := math.Mod(t.Angle, 360)
	if angle < 0 {
		angle += 360
	}
	switch {
	case !t.Centred:
	case angle == 0, angle == 180:
		return int(angle) / 90
	case (angle == 90 || angle == 270) && (t.Expand || w == h):
		return int(angle) / 90
	}
	return -1
}

// Inverse maps the output of nw×nh pixels to the input of w×h.
func (t *Turn) Inverse(w, h int) (m Mapping, nw, nh int) {
	angle := math.Mod(t.Angle, 360)
	if angle < 0 {
		angle += 360
	}
	angle = -radians(angle)
	cx, cy := t.CX, t.CY
	if t.Centred {
		cx, cy = float64(w)/2, float64(h)/2
	}
	sin, cos := sincos(angle)
	sin, cos = decimals(sin), decimals(cos)
	m = Mapping{cos, sin, 0, -sin, cos, 0}
	m[2], m[5] = m.of(-cx, -cy)
	m[2] += cx
	m[5] += cy
	if !t.Expand {
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

// decimals rounds a number from -1 to 1 to 15 digits after the point, as Python's round(v, 15) does.
func decimals(v float64) float64 {
	p := product2(v, 1e15)
	n := math.RoundToEven(p.hi)
	if half := p.hi - n; math.Abs(half) == 0.5 && half*p.lo > 0 {
		n += 2 * half
	}
	return n / 1e15
}

// Size is the size of the result for an image of w×h.
func (t *Turn) Size(w, h int) (int, int) {
	if q := t.quarters(w, h); q >= 0 {
		if q%2 == 1 {
			return h, w
		}
		return w, h
	}
	_, w, h = t.Inverse(w, h)
	return w, h
}

func (m *Bytes) Rotate(t Turn, p Painter) {
	m.Spare.Resize(t.Size(m.Width, m.Height))
	if q := t.quarters(m.Width, m.Height); q >= 0 {
		quarterTurns(&m.Spare, &m.Image, q)
	} else {
		shown, _, _ := t.Inverse(m.Width, m.Height)
		Warp(&m.Spare, &m.Image, &shown, p)
	}
	m.Swap()
}

func (m *Floats) Rotate(t Turn, p Painter) {
	shown, _, _ := t.Inverse(m.Width, m.Height)
	w, h := t.Size(m.Width, m.Height)
	m.Warp(shown, w, h, p)
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

// ToCorners is the mapping that shows the corners of an image of w×h at the points. As in
// torchvision its numbers are rounded to float32.
func ToCorners(w, h int, corners [4]image.Point) Mapping {
	from := [4]image.Point{{0, 0}, {w - 1, 0}, {w - 1, h - 1}, {0, h - 1}}
	var a [8][9]float64 // equations, with the right side in the last column
	for i, to := range corners {
		x, y := float64(to.X), float64(to.Y)
		u, v := float64(from[i].X), float64(from[i].Y)
		a[2*i] = [9]float64{x, y, 1, 0, 0, 0, -u * x, -u * y, u}
		a[2*i+1] = [9]float64{0, 0, 0, x, y, 1, -v * x, -v * y, v}
	}
	m := solve(&a)
	for i := range m {
		m[i] = float64(float32(m[i]))
	}
	return m
}

// solve solves linear equations by elimination. Where they have no solution, the result has
// numbers that are not finite.
func solve(a *[8][9]float64) (x Mapping) {
	for i := range a {
		best := i
		for k := i + 1; k < len(a); k++ {
			if math.Abs(a[k][i]) > math.Abs(a[best][i]) {
				best = k
			}
		}
		a[i], a[best] = a[best], a[i]
		for k := i + 1; k < len(a); k++ {
			f := a[k][i] / a[i][i]
			for j := i; j < len(a[k]); j++ {
				a[k][j] -= float64(f * a[i][j])
			}
		}
	}
	for i := len(a) - 1; i >= 0; i-- {
		x[i] = a[i][8]
		for j := i + 1; j < len(x); j++ {
			x[i] -= float64(a[i][j] * x[j])
		}
		x[i] /= a[i][i]
	}
	return x
}

// Inverted is the mapping from the input to the output. Its numbers are not finite if there is none.
func (m *Mapping) Inverted() Mapping {
	// Without the conversions some machines would not round the products.
	minus := func(a, b, c, d float64) float64 { return float64(a*b) - float64(c*d) }
	d := minus(m[0], m[4], m[1], m[3])
	return Mapping{
		minus(m[4], 1, m[5], m[7]) / d, minus(m[2], m[7], m[1], 1) / d, minus(m[1], m[5], m[2], m[4]) / d,
		minus(m[5], m[6], m[3], 1) / d, minus(m[0], 1, m[2], m[6]) / d, minus(m[2], m[3], m[0], m[5]) / d,
		minus(m[3], m[7], m[4], m[6]) / d, minus(m[1], m[6], m[0], m[7]) / d,
	}
}

// OfPoint is the point of the input that a point of the output shows.
func (m *Mapping) OfPoint(x, y float32) (float32, float32) {
	u, v := m.of(float64(x), float64(y))
	return float32(u), float32(v)
}

// The functions of angles in this file are rounded correctly, but for cases too rare to
// matter, as those of the C library that Python calls. Those of package math are off by one
// unit in the last place in many cases, and where a warp rounds down, that shows.

// A double2 is the sum of two numbers, the second of which is smaller than the last place of the first.
type double2 struct{ hi, lo float64 }

func sum2(a, b float64) double2 {
	s := a + b
	t := s - a
	return double2{s, (a - (s - t)) + (b - t)}
}

func product2(a, b float64) double2 {
	p := float64(a * b)
	return double2{p, math.FMA(a, b, -p)}
}

func (a double2) plus(b double2) double2 {
	s := sum2(a.hi, b.hi)
	return sum2(s.hi, s.lo+(a.lo+b.lo))
}

func (a double2) times(b double2) double2 {
	p := product2(a.hi, b.hi)
	return sum2(p.hi, p.lo+(float64(a.hi*b.lo)+float64(a.lo*b.hi)))
}

func (a double2) over(b double2) double2 {
	q := a.hi / b.hi
	p := b.times(double2{q, 0})
	rest := a.plus(double2{-p.hi, -p.lo})
	return sum2(q, rest.hi/b.hi)
}

// sincos2 returns the sine and the cosine of x, which is below 2^20.
func sincos2(x float64) (sin, cos double2) {
	// Pi/2 as the sum of three numbers. Products of the first with up to 20 bits are exact.
	const (
		first  = 0x1.921fb544p0
		second = 0x1.0b4611a6p-34
		third  = 0x1.3198a2e037073p-69
	)
	k := math.Round(x * (2 / math.Pi))
	r := sum2(x, -float64(k*first))
	r = r.plus(product2(-k, second))
	r = r.plus(product2(-k, third))
	square := r.times(r)
	one := double2{1, 0}
	sin, cos = one, one
	for n := 26.0; n >= 2; n -= 2 {
		part := square.over(double2{n * (n + 1), 0}).times(sin)
		sin = one.plus(double2{-part.hi, -part.lo})
		part = square.over(double2{n * (n - 1), 0}).times(cos)
		cos = one.plus(double2{-part.hi, -part.lo})
	}
	sin = sin.times(r)
	minus := func(a double2) double2 { return double2{-a.hi, -a.lo} }
	switch int64(k) & 3 {
	case 1:
		return cos, minus(sin)
	case 2:
		return minus(sin), minus(cos)
	case 3:
		return minus(cos), sin
	}
	return sin, cos
}

// sincos returns the sine and the cosine of x radians.
func sincos(x float64) (sin, cos float64) {
	s, c := sincos2(x)
	return s.hi, c.hi
}

// tangent returns the tangent of x radians.
func tangent(x float64) float64 {
	s, c := sincos2(x)
	return s.over(c).hi
}

// arctangent returns the angle whose tangent is x, in radians. It improves that of package
// math by one step of Newton's method.
func arctangent(x float64) float64 {
	y := math.Atan(x)
	s, c := sincos2(y)
	t := s.over(c)
	return y + (x-t.hi-t.lo)/(1+float64(x*x))
}

// A PadMode says how padding is filled. The comments show a row of pixels abc that is padded by two on each side.
type PadMode uint8

// The modes, with torchvision's names.
const (
	Constant  PadMode = iota // the fill colour: ··abc··
	Edge                     // the pixel at the edge: aaabccc
	Reflect                  // mirrored without the pixel at the edge: cbabcba
	Symmetric                // mirrored with the pixel at the edge: baabccb
)

// String is torchvision's name of the mode.
func (m PadMode) String() string { return Named(int(m), "constant", "edge", "reflect", "symmetric") }

// Named is the name of a number.
func Named(i int, names ...string) string {
	if i < len(names) {
		return names[i]
	}
	return "unknown"
}

// Index is which of n pixels is shown at position i, which may be outside.
func (m PadMode) Index(i, n int) int {
	period := 2 * n
	switch m {
	case Edge:
		return min(max(i, 0), n-1)
	case Reflect:
		period = max(2*n-2, 1)
	}
	i %= period
	if i < 0 {
		i += period
	}
	if i >= n {
		i = period - i
		if m == Symmetric {
			i--
		}
	}
	return i
}

func (m *Bytes) Pad(frame image.Rectangle, mode PadMode) {
	m.Spare.Resize(frame.Dx(), frame.Dy())
	for y := range frame.Dy() {
		row := m.Pix[4*m.Width*mode.Index(y+frame.Min.Y, m.Height):][:4*m.Width]
		out := m.Spare.Pix[4*m.Spare.Width*y:][:4*m.Spare.Width]
		for x := range frame.Dx() {
			i := x + frame.Min.X
			if i < 0 || i >= m.Width {
				i = mode.Index(i, m.Width)
			}
			copy(out[4*x:4*x+4], row[4*i:4*i+4])
		}
	}
	m.Swap()
}

func (m *Floats) Pad(frame image.Rectangle, mode PadMode) {
	m.makeSpare(frame.Dx(), frame.Dy())
	for c := range m.Planes.Channels {
		src, dst := m.Plane(c), m.Spare.Plane(c)
		for y := range frame.Dy() {
			row := src[m.Width*mode.Index(y+frame.Min.Y, m.Height):][:m.Width]
			out := dst[frame.Dx()*y:][:frame.Dx()]
			for x := range out {
				out[x] = row[mode.Index(x+frame.Min.X, m.Width)]
			}
		}
	}
	m.Swap()
}
