package data

import (
	"bufio"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
)

// shapes are similar to ImageNet's: most photos are 500×375, the others of similar size.
var shapes = [...]image.Point{
	{500, 375}, {500, 375}, {500, 333}, {375, 500}, {500, 375}, {500, 334}, {333, 500}, {500, 375}, {640, 480}, {400, 300},
}

// Classes is the number of folders that [Photos] makes, one per class.
const Classes = 10

// Photos makes n JPEG files of 110 KB on average, in one folder per class, and returns the
// folder in root that holds them. They have detail at all scales, edges and noise, so that a
// decoder has as much work as on ImageNet's photos. All are baseline files with halved chroma
// (4:2:0), and one in 50 is grey. 4:4:4 files, which ImageNet has too, are missing, because
// image/jpeg cannot write them.
func Photos(ctx context.Context, root string, n int) (dir string, err error) {
	return made(root, "photos", n, 1_000_000, func(dir string) error {
		return each(ctx, n, func(i int) error {
			path := filepath.Join(dir, fmt.Sprintf("class%d", i%Classes), fmt.Sprintf("%06d.jpg", i))
			return create(path, func(w io.Writer) error {
				b := bufio.NewWriter(w)
				if err := jpeg.Encode(b, photo(i), &jpeg.Options{Quality: 92}); err != nil {
					return err
				}
				return b.Flush()
			})
		})
	})
}

// A wave is a component of a photo, computed as products of columns and rows: sin(x+y) is
// sin x · cos y + cos x · sin y.
type wave struct {
	amplitude              float64
	sinX, cosX, sinY, cosY []float64
}

func newWave(r *rand.Rand, size image.Point) wave {
	f := math.Exp(5.4*r.Float64() - 6) // 0.0025 to 0.55 per pixel, in radians
	angle, phase := 2*math.Pi*r.Float64(), 2*math.Pi*r.Float64()
	w := wave{amplitude: 34 / (1 + 9*f)}
	w.sinX, w.cosX = table(size.X, f*math.Cos(angle), phase)
	w.sinY, w.cosY = table(size.Y, f*math.Sin(angle), 0)
	return w
}

func table(n int, f, phase float64) (sin, cos []float64) {
	sin, cos = make([]float64, n), make([]float64, n)
	for i := range sin {
		sin[i], cos[i] = math.Sincos(float64(f*float64(i)) + phase)
	}
	return sin, cos
}

// A patch is an ellipse that is lighter or darker than its background and has another colour.
type patch struct {
	x, y, rx, ry float64
	level        float64
	tint         [3]float64
}

func photo(i int) image.Image {
	r := rand.New(rand.NewPCG(uint64(i), 20261121))
	size := shapes[i%len(shapes)]
	var waves [10]wave
	for k := range waves {
		waves[k] = newWave(r, size)
	}
	var patches [14]patch
	for k := range patches {
		patches[k] = patch{
			x: r.Float64() * float64(size.X), y: r.Float64() * float64(size.Y),
			rx: 8 + 90*r.Float64(), ry: 8 + 90*r.Float64(), level: 70 * (r.Float64() - 0.5),
			tint: [3]float64{60 * (r.Float64() - 0.5), 60 * (r.Float64() - 0.5), 60 * (r.Float64() - 0.5)},
		}
	}
	noise := 16 + 110*r.Float64() // some photos are smooth, and some are full of detail
	m := image.NewRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		row := m.Pix[y*m.Stride:]
		for x := range size.X {
			v := 128 + float64(noise*(r.Float64()-0.5))
			// The conversions prevent fused multiply-add, so that all processors give the same result.
			for k := range waves {
				w := &waves[k]
				v += float64(w.amplitude * (float64(w.sinX[x]*w.cosY[y]) + float64(w.cosX[x]*w.sinY[y])))
			}
			tint := [3]float64{0, 8, -12}
			for k := range patches {
				p := &patches[k]
				dx, dy := (float64(x)-p.x)/p.rx, (float64(y)-p.y)/p.ry
				if float64(dx*dx)+float64(dy*dy) < 1 {
					v += p.level
					tint = p.tint
				}
			}
			for c := range tint {
				row[4*x+c] = uint8(min(max(v+tint[c], 0), 255))
			}
			row[4*x+3] = 255
		}
	}
	if i%50 != 49 {
		return m
	}
	gray := image.NewGray(m.Rect)
	for y := range size.Y {
		for x := range size.X {
			gray.SetGray(x, y, color.GrayModel.Convert(m.RGBAAt(x, y)).(color.Gray))
		}
	}
	return gray
}
