package transform

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// follow moves the annotations as a warp moved the image: m says which point of it every
// point of the result shows, which has w×h pixels. Masks take the pixels that the filter [Nearest] takes.
func (a *annotations) follow(m *raster.Mapping, w, h int) error {
	if a == nil {
		return nil
	}
	forward := m.Inverted()
	a.carry(forward.OfPoint, forward.OfPoint, w, h)
	err := a.warpMasks(w, h, func(to, from *raster.Image, fill [3]uint8) {
		raster.Warp(to, from, m, raster.Painter{Filter: resize.Nearest, Fill: fill})
	})
	a.w, a.h = w, h
	a.moved.Begin()
	return err
}

// carry moves the corners of the boxes and the keypoints, in an image that now has w×h pixels. A moved
// box is that around its corners.
func (a *annotations) carry(corner, point func(x, y float32) (float32, float32), w, h int) {
	for b := a.box; len(b) >= 4; b = b[4:] {
		v := toXYXY([4]float32(b), a.format)
		x, y := corner(v[0], v[1])
		around := [4]float32{x, y, x, y}
		for _, c := range [3][2]float32{{v[2], v[1]}, {v[2], v[3]}, {v[0], v[3]}} {
			x, y := corner(c[0], c[1])
			around = [4]float32{min(around[0], x), min(around[1], y), max(around[2], x), max(around[3], y)}
		}
		clampBox(&around, w, h)
		v = fromXYXY(around, a.format)
		copy(b, v[:])
	}
	for _, p := range a.points {
		for k := 0; k+p.step <= len(p.xy); k += p.step {
			p.xy[k], p.xy[k+1] = point(p.xy[k], p.xy[k+1])
		}
	}
}

// warpMasks makes the masks as they are now, and paints them again with w×h pixels. Numbers
// of up to 24 bits are in red, green and blue, so paint must not mix them.
func (a *annotations) warpMasks(w, h int, paint func(to, from *raster.Image, fill [3]uint8)) error {
	if len(a.masks) == 0 {
		return nil
	}
	a.moved.indices(a.w, a.h)
	before, after := a.w*a.h, w*h
	for k := range a.masks {
		s, fill := &a.masks[k], a.layout.masks[k].outside
		colour := [3]uint8{uint8(fill), uint8(fill >> 8)}
		if err := a.checkPlanes(s.n, max(before, after)); err != nil {
			return err
		}
		if err := s.Decode(a.moved.lastRow() + 1); err != nil {
			return err
		}
		a.plane = raster.Grow(a.plane, 4*before)
		a.from.Resize(a.w, a.h)
		a.to.Resize(w, h)
		s.spare = raster.Grow(s.spare, s.n*s.size*after)
		for p := range s.n {
			numbers := dense.Values[int32](a.plane)
			gatherFrom(s, numbers, p, &a.moved, int32(fill))
			for i, v := range numbers {
				binary.LittleEndian.PutUint32(a.from.Pix[4*i:], uint32(v))
			}
			paint(&a.to, &a.from, colour)
			out := s.spare[p*s.size*after:][:s.size*after]
			switch s.size {
			case 1:
				numbersOf(&a.to, out)
			case 2:
				numbersOf(&a.to, dense.Values[uint16](out))
			case 4:
				numbersOf(&a.to, dense.Values[int32](out))
			default:
				numbersOf(&a.to, dense.Values[int64](out))
			}
		}
		s.warped, s.spare = s.spare, s.warped
		s.pix, s.w, s.h, s.coded = s.warped, w, h, false
	}
	return nil
}

// displace moves the annotations as ElasticTransform moved the image, with torchvision's
// approximation of the vectors' inverse.
func (a *annotations) displace(f *raster.Field) error {
	if a == nil {
		return nil
	}
	w, h := a.w, a.h
	at := func(x, y float32) (float32, float32) {
		i, j := min(max(int(x), 0), w-1), min(max(int(y), 0), h-1)
		return float32(i) - f.X[w*j+i], float32(j) - f.Y[w*j+i]
	}
	ceil := func(v float32) float32 { return float32(math.Ceil(float64(v))) }
	a.carry(func(x, y float32) (float32, float32) { return at(ceil(x), ceil(y)) }, at, w, h)
	err := a.warpMasks(w, h, func(to, from *raster.Image, fill [3]uint8) {
		f.Paint(to, from, raster.Painter{Filter: resize.Nearest, Fill: fill})
	})
	a.moved.Begin()
	return err
}

// numbersOf writes the numbers of a mask that is in red, green and blue.
func numbersOf[T uint8 | uint16 | int32 | int64](m *raster.Image, out []T) {
	for i := range out {
		out[i] = T(binary.LittleEndian.Uint32(m.Pix[4*i:]) & maxNumber)
	}
}

// checkPlanes is the error of n masks that have more pixels than an image may have.
func (a *annotations) checkPlanes(n, area int) error {
	if n > 1 && n > a.program.limit/area {
		return fmt.Errorf("transform: %d masks of %d pixels have more than the limit of %d pixels (see MaxPixels)", n, area, a.program.limit)
	}
	return nil
}
