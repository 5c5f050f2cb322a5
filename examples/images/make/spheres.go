package main

import (
	"math"
	"math/rand/v2"
)

var marbles = []palette{
	colours(0xd8432f, 0xf2a33a, 0xf7e3b0, 0x2f7f86, 0x1d3d5c),
	colours(0x7b2d8b, 0xe0559a, 0xf9b7b0, 0x5a5fc8, 0x2a9fd0),
	colours(0x2d6a4f, 0x74c69d, 0xf4f1de, 0xe9b44c, 0xb5483a),
	colours(0x10375c, 0x3a86c8, 0xd9e6f2, 0xf3c623, 0xeb5b2a),
}

// A vector is a place or a direction: right, up, away from the viewer.
type vector [3]float64

func (a vector) dot(b vector) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

// along is the place at distance t from a in direction d.
func (a vector) along(d vector, t float64) vector {
	return vector{a[0] + t*d[0], a[1] + t*d[1], a[2] + t*d[2]}
}

func (a vector) unit() vector { return vector{}.along(a, 1/math.Sqrt(a.dot(a))) }

// A ball lies on the ground.
type ball struct {
	centre vector
	radius float64
	colour rgb
}

// hit is the distance from eye along d to the ball, or infinity.
func (b ball) hit(eye, d vector) float64 {
	to := eye.along(b.centre, -1)
	half := to.dot(d)
	root := half*half - to.dot(to) + b.radius*b.radius
	if root < 0 {
		return math.Inf(1)
	}
	if t := -half - math.Sqrt(root); t > 1e-6 {
		return t
	}
	return math.Inf(1)
}

// A table is a scene of balls on a plain ground under one lamp.
type table struct {
	balls  []ball
	ground rgb
	back   palette
	lamp   vector
	grain  noise
}

// spheres are glossy balls on a table, each of another colour.
func spheres(r *rand.Rand, n int, aspect float64) shader {
	p := marbles[n%len(marbles)]
	s := table{
		ground: mix(p[2], hex(0xf0ece4), 0.5),
		back:   palette{mix(p[4], p[2], 0.65), mix(p[2], hex(0xffffff), 0.6)},
		lamp:   vector{-0.5 + 0.3*r.Float64(), 0.9, -0.45}.unit(),
		grain:  noise{r.Uint64(), r.Uint64()},
	}
	for tries := 0; len(s.balls) < 8 && tries < 400; tries++ {
		radius := 0.22 + 0.38*r.Float64()
		at := vector{(r.Float64() - 0.5) * 2.4 * math.Max(aspect, 0.9), radius, 3.3 + 2.6*r.Float64()}
		free := true
		for _, b := range s.balls {
			free = free && math.Hypot(b.centre[0]-at[0], b.centre[2]-at[2]) > 1.02*(b.radius+radius)
		}
		if free {
			s.balls = append(s.balls, ball{at, radius, p[(len(s.balls)+n)%len(p)]})
		}
	}
	eye := vector{0, 1.75, 0}
	return func(x, y float64) rgb {
		d := vector{(x - aspect/2) * 0.72, (0.5-y)*0.72 - 0.28, 1}.unit()
		return s.look(eye, d, 2)
	}
}

// look is the colour seen from eye in direction d, after at most that many reflections.
func (s *table) look(eye, d vector, mirrors int) rgb {
	near, which := math.Inf(1), -1
	for i, b := range s.balls {
		if t := b.hit(eye, d); t < near {
			near, which = t, i
		}
	}
	if which >= 0 {
		return s.gloss(s.balls[which], eye.along(d, near), d, mirrors)
	}
	wall := s.back.at(0.5 + 1.2*d[1])
	if d[1] >= 0 {
		return wall
	}
	at := eye.along(d, -eye[1]/d[1])
	c := s.ground.times(0.9 + 0.2*s.grain.clouds(7*at[0], 7*at[2], 4))
	c = c.times(s.light(at))
	far := smooth(4.5, 13, at[2])
	return mix(c, wall, far)
}

// gloss is the colour of a ball at a place on it: its own, lit, and reflections.
func (s *table) gloss(b ball, at, d vector, mirrors int) rgb {
	normal := at.along(b.centre, -1).unit()
	lit := math.Max(normal.dot(s.lamp), 0)
	ambient := 0.26 + 0.2*normal[1]
	// Light that the ground reflects, dark where ball and ground touch.
	contact := smooth(0, 1.1*b.radius, at[1])
	swirl := s.grain.clouds(3*at[0]+9, 3*at[1]+2*at[2], 4) - 0.5
	own := b.colour.times(1 + 0.5*swirl)
	c := own.times((ambient + 0.85*lit) * (0.35 + 0.65*contact))
	mirrored := d.along(normal, -2*d.dot(normal))
	if mirrors > 0 {
		edge := math.Pow(1+d.dot(normal), 4)
		c = mix(c, s.look(at.along(normal, 1e-4), mirrored, mirrors-1), 0.06+0.6*clamp(edge))
	}
	shine := math.Max(mirrored.dot(s.lamp), 0)
	return c.plus(hex(0xfffaf0).times(0.9*math.Pow(shine, 90) + 0.14*math.Pow(shine, 9)))
}

// light is how much of the lamp reaches a place on the ground: soft shadows
// that grow wider away from their ball.
func (s *table) light(at vector) float64 {
	l := 1.0
	for _, b := range s.balls {
		to := b.centre.along(at, -1)
		reach := to.dot(s.lamp)
		beside := math.Sqrt(math.Max(to.dot(to)-reach*reach, 0))
		soft := 0.1 + 0.22*math.Max(reach, 0)
		if reach > 0 {
			l *= 0.35 + 0.65*smooth(-soft, soft, beside-b.radius)
		}
		foot := math.Hypot(to[0], to[2]) / b.radius
		l *= 1 - 0.6*math.Exp(-3.2*foot*foot)
	}
	return l
}
