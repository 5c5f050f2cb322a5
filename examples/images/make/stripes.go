package main

import (
	"math"
	"math/rand/v2"
)

var cloths = []palette{
	colours(0xf6ead7, 0xd1495b, 0xedae49, 0x00798c, 0x30475e),
	colours(0xfaf3e8, 0x3d5a80, 0x98c1d9, 0xee6c4d, 0x293241),
	colours(0xfff4e0, 0xf4978e, 0x8e7dbe, 0x4a4e8f, 0x99c1b9),
	colours(0xf3f7f0, 0x40798c, 0x70a9a1, 0x1f363d, 0xcfd7a7),
	colours(0xfbeee6, 0xb23a48, 0xfcb9b2, 0x461220, 0x8c2f39),
}

// stripes are folded cloth with coloured bands.
func stripes(r *rand.Rand, n int, _ float64) shader {
	p := cloths[n%len(cloths)]
	seed := noise{r.Uint64(), r.Uint64()}
	angle := r.Float64() * math.Pi
	sin, cos := math.Sincos(angle)
	foldSin, foldCos := math.Sincos(angle + 0.6 + 0.9*r.Float64())
	bands := 4 + 4*r.Float64()

	height := func(x, y float64) float64 {
		along, across := foldCos*x+foldSin*y, -foldSin*x+foldCos*y
		bend := seed.clouds(1.3*x+5, 1.3*y+8, 3)
		return 0.5*seed.clouds(0.9*along+1.2*bend, 3.4*across+2.4*bend, 3) + 0.12*bend
	}
	lamp := vector{-0.5, -0.62, 0.6}.unit()

	return func(x, y float64) rgb {
		const step = 0.004
		h := height(x, y)
		dx, dy := (height(x+step, y)-h)/step, (height(x, y+step)-h)/step

		// The folds carry the bands with them.
		t := bands*(cos*x+sin*y+0.35*h) + 50
		band := math.Floor(t)
		c := p.band(seed, int(band))
		c = mix(c, p.band(seed, int(band)+1), smooth(0.985, 1, t-band))
		if thin := math.Abs(t - band - 0.5); seed.lattice(int(band), 77) > 0.45 && thin < 0.09 {
			c = mix(p[0], c, smooth(0.07, 0.09, thin))
		}
		warp, weft := math.Sin(300*(cos*x+sin*y)), math.Sin(300*(cos*y-sin*x))
		c = c.times(1 + 0.05*warp*weft + 0.16*(seed.clouds(30*x, 30*y, 3)-0.5))

		normal := vector{-0.75 * dx, -0.75 * dy, 1}.unit()
		lit := math.Max(normal.dot(lamp), 0)
		sheen := math.Pow(math.Max(normal.dot(vector{-0.28, -0.35, 0.9}.unit()), 0), 20)
		deep := smooth(0.12, 0.45, h) // less light at the bottom of a fold
		return c.times((0.2 + 1.15*lit) * (0.6 + 0.4*deep)).plus(hex(0xfff6ea).times(0.09 * sheen))
	}
}

// band is the colour of a stripe, never that of its neighbour.
func (p palette) band(seed noise, i int) rgb {
	pick := func(i int) int { return int(seed.lattice(i, 3) * float64(len(p))) }
	k := pick(i)
	if i%2 == 0 && (k == pick(i-1) || k == pick(i+1)) {
		for k == pick(i-1) || k == pick(i+1) {
			k = (k + 1) % len(p)
		}
	}
	return p[k]
}
