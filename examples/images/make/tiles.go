package main

import (
	"math"
	"math/rand/v2"
)

var glazes = []palette{
	colours(0x0f4c5c, 0x2a9d8f, 0xe9c46a, 0xf4a261, 0xe76f51),
	colours(0x12355b, 0x1f6fb2, 0x5fb8dd, 0xcfe8ef, 0xf6f1e3),
	colours(0x5b2333, 0xa83f39, 0xe0803f, 0xf3c775, 0xf7f0dc),
	colours(0x31406b, 0x6d6fae, 0xb892c4, 0xefb6c8, 0xfbe5d6),
	colours(0x1f3d2b, 0x4c7a4c, 0x9cb56a, 0xe4dca0, 0xc98a4b),
}

// tiles are rows of glazed squares with bevelled rims, seen from above.
func tiles(r *rand.Rand, n int, _ float64) shader {
	p := glazes[n%len(glazes)]
	seed := noise{r.Uint64(), r.Uint64()}
	rows := 3.2 + 4.5*r.Float64()
	sin, cos := math.Sincos((r.Float64() - 0.5) * 1.5)
	grout := mix(hex(0x3a3632), p[0], 0.2)
	flow := 0.25 + 0.3*r.Float64()
	lamp := vector{-0.55, -0.6, 0.58}.unit()

	return func(x, y float64) rgb {
		u, v := rows*(cos*x-sin*y)+40, rows*(sin*x+cos*y)+40
		i, j := int(u), int(v)
		// From the tile's middle, each laid a little askew.
		lean := (seed.lattice(i, j) - 0.5) * 0.09
		a, b := u-float64(i)-0.5, v-float64(j)-0.5
		a, b = a-lean*b, b+lean*a

		// Distance to the rim of a square with round corners, negative inside.
		const half, corner, bevel = 0.45, 0.09, 0.075
		da, db := math.Abs(a)-half+corner, math.Abs(b)-half+corner
		rim := math.Hypot(math.Max(da, 0), math.Max(db, 0)) + math.Min(math.Max(da, db), 0) - corner

		rough := seed.clouds(14*u, 14*v, 3)
		joint := grout.times(0.55 + 0.5*rough)
		joint = joint.times(1 - 0.45*smooth(0.05, -0.02, rim)) // the tile's shadow
		if rim > 0.01 {
			return joint
		}

		tone := seed.clouds(flow*float64(i)+3, flow*float64(j)+7, 2)
		tone = 0.5 + 1.5*(tone-0.5) + 0.4*(seed.lattice(i+999, j)-0.5)
		c := p.at(tone)
		glaze := seed.clouds(2.3*u, 2.3*v, 5) - 0.5
		c = c.times(1 + 0.55*glaze)

		// The glaze bulges a little and falls off at the bevel.
		slope := smooth(-bevel, 0, rim)
		normal := vector{0.10*a + 0.25*glaze*a, 0.10*b + 0.25*glaze*b, 1}
		normal[0] += (seed.lattice(i, j+555) - 0.5) * 0.16
		normal[1] += (seed.lattice(i+555, j) - 0.5) * 0.16
		if da > db {
			normal[0] += 1.1 * slope * math.Copysign(1, a)
		} else {
			normal[1] += 1.1 * slope * math.Copysign(1, b)
		}
		normal = normal.unit()
		lit := math.Max(normal.dot(lamp), 0)
		mirror := vector{}.along(normal, 2*normal.dot(lamp)).along(lamp, -1)
		shine := math.Pow(math.Max(mirror[2], 0), 24)
		c = c.times(0.28 + 1.15*lit).plus(hex(0xffffff).times(0.4 * shine))
		return mix(c, joint, smooth(-0.012, 0.01, rim))
	}
}
