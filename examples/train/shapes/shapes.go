// Package shapes draws the images that the examples train and infer use by default: a
// shape of any size, colour, place and angle on a background with lines and noise. The
// images depend on a seed alone.
package shapes

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Side is the images' width and height in pixels.
const Side = 64

// Names are the classes, sorted.
var Names = []string{"cross", "disc", "moon", "ring", "square", "star", "triangle"}

// Draw draws an image of a class, which is an index into Names.
func Draw(class int, r *rand.Rand) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, Side, Side))
	back, front := colours(r)
	shift := [3]float64{30 * r.NormFloat64(), 30 * r.NormFloat64(), 30 * r.NormFloat64()}
	angle := 2 * math.Pi * r.Float64()
	slope := [2]float64{math.Cos(angle) / Side, math.Sin(angle) / Side}

	lines := make([]line, r.IntN(4))
	for i := range lines {
		lines[i] = newLine(r)
	}
	radius := Side * (0.22 + 0.2*r.Float64())
	x0 := radius + (Side-2*radius)*r.Float64()
	y0 := radius + (Side-2*radius)*r.Float64()
	sin, cos := math.Sincos(2 * math.Pi * r.Float64())
	noise := 2 + 8*r.Float64()

	for y := range Side {
		for x := range Side {
			px, py := float64(x)+0.5, float64(y)+0.5
			dx, dy := (px-x0)/radius, (py-y0)/radius
			inside := cover(radius * distances[class](dx*cos+dy*sin, dy*cos-dx*sin))
			ramp := px*slope[0] + py*slope[1]
			grain := noise * r.NormFloat64()
			var c [3]uint8
			for k := range c {
				v := back[k] + ramp*shift[k]
				for _, l := range lines {
					v += cover(l.distance(px, py)) * (l.colour[k] - v)
				}
				v += inside * (front[k] - v)
				c[k] = uint8(min(max(v+grain, 0), 255))
			}
			img.SetRGBA(x, y, color.RGBA{c[0], c[1], c[2], 255})
		}
	}
	return img
}

// colours draws the colours of background and shape. They are far enough apart to be
// told from each other.
func colours(r *rand.Rand) (back, front [3]float64) {
	for {
		far := 0.0
		for k := range back {
			back[k], front[k] = 150*r.Float64(), 105+150*r.Float64()
			far += math.Abs(back[k] - front[k])
		}
		if far > 200 {
			return back, front
		}
	}
}

// cover is the fraction of a pixel inside an edge at that distance from its centre.
func cover(distance float64) float64 { return min(max(0.5-distance, 0), 1) }

// Write draws n images, the classes in turn, as JPEG files: dir/star/0012.jpg.
func Write(dir string, n int, seed uint64) error {
	for _, name := range Names {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o777); err != nil {
			return err
		}
	}
	r := rand.New(rand.NewPCG(seed, 1))
	var file bytes.Buffer
	for i := range n {
		file.Reset()
		class := i % len(Names)
		if err := jpeg.Encode(&file, Draw(class, r), &jpeg.Options{Quality: 85}); err != nil {
			return err
		}
		path := filepath.Join(dir, Names[class], fmt.Sprintf("%04d.jpg", i))
		if err := os.WriteFile(path, file.Bytes(), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// drawing is the version of the images, part of the names of the cached folders.
// Increase it when the same seed draws other images.
const drawing = "v1"

// Folder is a folder with n images in the user's cache. It is written if it does not
// exist. Several programs may call Folder at the same time.
func Folder(n int, seed uint64) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	cache = filepath.Join(cache, "penstock")
	dir := filepath.Join(cache, fmt.Sprintf("shapes-%s-%d-%d", drawing, n, seed))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", err
	}
	half, err := os.MkdirTemp(cache, "half-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(half)
	if err := Write(half, n, seed); err != nil {
		return "", err
	}
	if err := os.Chmod(half, 0o755); err != nil {
		return "", err
	}
	if err := os.Rename(half, dir); err != nil {
		if _, exists := os.Stat(dir); exists != nil {
			return "", err
		}
	}
	return dir, nil
}
