package shapes

import (
	"math"
	"math/rand/v2"
)

// distances are the classes' shapes, in the order of Names: the distance of a
// point to the edge, negative inside, of a shape of radius 1 about (0, 0). Far
// from the edge it is a bound.
var distances = [...]func(x, y float64) float64{cross, disc, moon, ring, square, star, triangle}

func cross(x, y float64) float64 {
	x, y = math.Abs(x), math.Abs(y)
	return min(max(x-0.95, y-0.28), max(y-0.95, x-0.28))
}

func disc(x, y float64) float64 { return math.Hypot(x, y) - 0.85 }

func moon(x, y float64) float64 {
	return max(math.Hypot(x, y)-0.95, 0.75-math.Hypot(x-0.5, y))
}

func ring(x, y float64) float64 { return math.Abs(math.Hypot(x, y)-0.7) - 0.22 }

func square(x, y float64) float64 { return max(math.Abs(x), math.Abs(y)) - 0.72 }

func star(x, y float64) float64 {
	x, y = fold(x, y, 5)
	const inner = 0.42
	// The edge runs from the outer corner (1, 0) to the inner one.
	dx, dy := inner*math.Cos(math.Pi/5)-1, inner*math.Sin(math.Pi/5)
	return ((x-1)*dy - y*dx) / math.Hypot(dx, dy)
}

func triangle(x, y float64) float64 {
	x, _ = fold(-x, y, 3)
	return x - 0.5
}

// fold turns and mirrors a point into the first half of the first of n sectors.
func fold(x, y float64, n int) (float64, float64) {
	sector := 2 * math.Pi / float64(n)
	angle := math.Mod(math.Atan2(y, x)+2*math.Pi, sector)
	sin, cos := math.Sincos(min(angle, sector-angle))
	r := math.Hypot(x, y)
	return r * cos, r * sin
}

// A line is in the background, to distract.
type line struct {
	x, y, dx, dy, length, half float64 // the direction has length 1
	colour                     [3]float64
}

func newLine(r *rand.Rand) line {
	sin, cos := math.Sincos(2 * math.Pi * r.Float64())
	return line{
		x: Side * r.Float64(), y: Side * r.Float64(), dx: cos, dy: sin,
		length: Side * (0.2 + 0.6*r.Float64()), half: 0.4 + 1.2*r.Float64(),
		colour: [3]float64{255 * r.Float64(), 255 * r.Float64(), 255 * r.Float64()},
	}
}

// distance is that of a point to the line's edge, negative inside.
func (l line) distance(x, y float64) float64 {
	along := min(max((x-l.x)*l.dx+(y-l.y)*l.dy, 0), l.length)
	return math.Hypot(x-l.x-along*l.dx, y-l.y-along*l.dy) - l.half
}
