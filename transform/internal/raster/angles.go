package raster

import "math"

// The functions of angles in this file are rounded correctly, but for cases too rare to
// matter, as those of the C library that Python calls. Those of package math are off by one
// unit in the last place in many cases, and where a warp rounds down, that shows.

// A double2 is the sum of two numbers, the second of which is smaller than the last place
// of the first.
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
