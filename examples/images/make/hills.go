package main

import (
	"math"
	"math/rand/v2"
)

// A daytime has the colours of the sky from top to horizon, of the sun and of the
// nearest hills.
type daytime struct {
	sky       palette
	sun, near rgb
}

var daytimes = []daytime{
	{colours(0x2b4a86, 0x7a86b8, 0xf0a98a, 0xffd9a0), hex(0xfff0c8), hex(0x1c2436)},
	{colours(0x2f7fc4, 0x7fb9e2, 0xd4e8ee), hex(0xfffff0), hex(0x24502a)},
	{colours(0x3a1c52, 0xa03a62, 0xf07848, 0xffc860), hex(0xffe0a0), hex(0x20102a)},
	{colours(0x0b1430, 0x1c3058, 0x4a6a94), hex(0xe8f0ff), hex(0x060c18)},
	{colours(0x5a9aa8, 0xa8ccc4, 0xf2e6c8), hex(0xfff6dc), hex(0x1f4644)},
	{colours(0x6a7fb0, 0xc8a8c8, 0xffd0c4), hex(0xfff0e8), hex(0x3a3460)},
}

// hills are ridges in a haze, some of them beyond a lake.
func hills(r *rand.Rand, n int, aspect float64) shader {
	d := daytimes[n%len(daytimes)]
	seed := noise{r.Uint64(), r.Uint64()}
	const ridges = 6
	sunX, sunY := aspect*(0.2+0.6*r.Float64()), 0.16+0.2*r.Float64()
	shore := 2.0 // below the image
	if n%2 == 0 {
		shore = 0.78
	}
	haze := d.sky[len(d.sky)-1]

	sky := func(x, y float64) rgb {
		c := d.sky.at(y / 0.62)
		veil := smooth(0.5, 0.75, seed.clouds(2.2*x, 7*y+3, 5))
		c = mix(c, mix(haze, d.sun, 0.5), 0.45*veil*(1-0.6*y))
		away := math.Hypot(x-sunX, y-sunY)
		c = c.plus(d.sun.times(0.35 * math.Exp(-7*away)))
		return mix(d.sun, c, smooth(0.043, 0.047, away))
	}
	land := func(x, y float64) rgb {
		c := sky(x, y)
		for k := range ridges {
			near := float64(k+1) / ridges
			field := noise{seed[0] + uint64(k), seed[1]}
			rough := 3 + k
			crest := 0.34 + 0.52*near*near - (0.34-0.16*near)*(field.clouds((1.6+0.5*near)*x+9, 0.5, rough)-0.42)
			if k == ridges-1 { // a wood on the nearest ridge
				crest -= 0.035 * field.at(60*x, 0.5) * field.at(7*x, 3.5)
			}
			if y < crest {
				continue
			}
			c = mix(haze, d.near, math.Pow(near, 0.62))
			texture := field.clouds(9*x, 16*y, 4) - 0.5
			c = c.times(1 + near*texture*1.3)
			mist := 0.55 * smooth(0, 0.3, y-crest) * (1 - 0.75*near)
			c = mix(c, haze, mist)
			lit := math.Exp(-30*(y-crest)) * math.Exp(-1.2*math.Abs(x-sunX))
			c = c.plus(d.sun.times(0.16 * lit * near))
		}
		return c
	}
	return func(x, y float64) rgb {
		if y < shore {
			return land(x, y)
		}
		// The lake mirrors the land, blurred by ripples that grow towards the viewer.
		depth := (y - shore) / (1 - shore)
		ripple := (seed.clouds(5*x, 70*y/(0.3+depth), 3) - 0.5) * (0.03 + 0.09*depth)
		c := land(x+0.3*ripple, math.Max(shore-2.6*(y-shore)+ripple, 0))
		return mix(c.times(0.9), d.sky[1], 0.12+0.22*depth)
	}
}
