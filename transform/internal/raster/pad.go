package raster

import "image"

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
