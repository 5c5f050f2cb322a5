package engine

import (
	"fmt"
	"math"

	"github.com/penstock-go/penstock/dataset"
)

// A Mixer mixes batches of certain fields.
type Mixer struct {
	Name              string // of the step
	Cut               bool   // boxes are exchanged
	Beta, Probability float64
	Classes           int
	At, To            int           // the fields of the images and of the labels
	Field             dataset.Field // of the images
	Shares            bool          // whether labels have a share per class before
}

func (m *Mixer) Apply(dst, src dataset.Columns) error {
	r := src.Rand()
	lambda := 1.0
	switch {
	case m.Probability < 1 && r.Float64() >= m.Probability:
	case m.Cut:
		g := GridOf(m.Field)
		b := DrawBox(Beta(m.Beta, r), g.W, g.H, r.IntN)
		lambda = b.Kept(g.W, g.H)
		g.Exchange(dst.Bytes(m.At), dst.Len(), b)
	default:
		lambda = Beta(m.Beta, r)
		m.MixImages(dst, lambda)
	}
	if err := m.MixLabels(dst, src, lambda); err != nil {
		return fmt.Errorf("transform: %s: %w", m.Name, err)
	}
	return nil
}

// MixImages computes with torch's roundings: the share of the dtype's precision, and
// both products and the sum rounded to the dtype.
func (m *Mixer) MixImages(c dataset.Columns, lambda float64) {
	n, own, other := c.Len(), float32(lambda), float32(1-lambda)
	switch m.Field.Dtype {
	case dataset.Float64:
		mixRows(dataset.Column[float64](c, m.At), n, func(x, before []float64) {
			for k := range x {
				x[k] = float64(x[k]*lambda) + float64(before[k]*(1-lambda))
			}
		})
	case dataset.Float16:
		mixHalves(dataset.Column[dataset.F16](c, m.At), n, own, other, dataset.ToF16)
	case dataset.BFloat16:
		mixHalves(dataset.Column[dataset.BF16](c, m.At), n, own, other, dataset.ToBF16)
	default:
		mixFloats(dataset.Column[float32](c, m.At), n, own, other)
	}
}

// mixHalves mixes n rows of halves.
func mixHalves[T interface {
	dataset.F16 | dataset.BF16
	Float32() float32
}](values []T, n int, own, other float32, half func(float32) T) {
	mixRows(values, n, func(x, before []T) {
		for k := range x {
			x[k] = half(half(x[k].Float32()*own).Float32() + half(before[k].Float32()*other).Float32())
		}
	})
}

// mixFloats mixes n rows.
func mixFloats(values []float32, n int, own, other float32) {
	mixRows(values, n, func(x, before []float32) {
		before = before[:len(x)]
		for k := range x {
			x[k] = float32(x[k]*own) + float32(before[k]*other) // the conversions forbid fused operations
		}
	})
}

// mixRows calls mix for pieces of every row of n, with the same piece of the row before it. Before row 0 comes the
// last one. It needs no memory for a whole row, because rows are mixed from the last one on, piece by piece.
func mixRows[T float32 | float64 | dataset.F16 | dataset.BF16](values []T, n int, mix func(x, before []T)) {
	var piece [1024]T
	size := len(values) / n
	for from := 0; from < size; from += len(piece) {
		to := min(from+len(piece), size)
		last := piece[:copy(piece[:], values[(n-1)*size+from:(n-1)*size+to])]
		for row := n - 1; row > 0; row-- {
			mix(values[row*size+from:row*size+to], values[(row-1)*size+from:(row-1)*size+to])
		}
		mix(values[from:to], last)
	}
}

// MixLabels computes float32 labels. Those of dst are zeros if labels are classes.
func (m *Mixer) MixLabels(dst, src dataset.Columns, lambda float64) error {
	own, other := float32(lambda), float32(1-lambda)
	shares, n := dataset.Column[float32](dst, m.To), dst.Len()
	if m.Shares {
		mixFloats(shares, n, own, other)
		return nil
	}
	classes := dataset.Column[int64](src, m.To)
	before := classes[n-1]
	for row, class := range classes {
		if class < 0 || class >= int64(m.Classes) {
			return fmt.Errorf("row %d has class %d: want 0 to %d", row, class, m.Classes-1)
		}
		if before >= 0 && before < int64(m.Classes) { // otherwise the last row is an error
			shares[row*m.Classes+int(before)] = other
		}
		shares[row*m.Classes+int(class)] += own
		before = class
	}
	return nil
}

// A CutBox is the part of images that CutMix replaces: columns x1 to x2-1 and lines y1 to y2-1.
type CutBox struct{ X1, Y1, X2, Y2 int }

// DrawBox draws the box of CutMix for images of that width and height. intN draws a number from 0 to n-1.
func DrawBox(lambda float64, w, h int, intN func(n int) int) CutBox {
	x, y := intN(w), intN(h)
	r := 0.5 * math.Sqrt(1-lambda)
	rw, rh := int(r*float64(w)), int(r*float64(h))
	return CutBox{max(x-rw, 0), max(y-rh, 0), min(x+rw, w), min(y+rh, h)}
}

// Kept is the share of the image's area outside the box.
func (b CutBox) Kept(w, h int) float64 {
	return 1 - float64((b.X2-b.X1)*(b.Y2-b.Y1))/float64(w*h)
}

// A grid is where the pixels of an image are.
type grid struct {
	planes, H, W int
	pixel        int // bytes of a pixel in one plane
}

// GridOf finds height and width in the shape of images, which has two dimensions at least.
func GridOf(f dataset.Field) grid {
	g, d := grid{planes: 1, pixel: f.Dtype.Size()}, len(f.Shape)
	outer := max(0, d-2)
	if d >= 3 && f.Shape[d-1] <= 4 && f.Shape[d-3] > 4 {
		outer = d - 3
		g.pixel *= f.Shape[d-1]
	}
	g.H, g.W = f.Shape[outer], f.Shape[outer+1]
	for _, n := range f.Shape[:outer] {
		g.planes *= n
	}
	return g
}

// Exchange replaces the box of every image of n by that of the one before it. Before
// the first image comes the last one.
func (g grid) Exchange(images []byte, n int, b CutBox) {
	var piece [4096]byte
	size, line := g.planes*g.H*g.W*g.pixel, g.W*g.pixel
	for plane := range g.planes {
		for y := b.Y1; y < b.Y2; y++ {
			begin := (plane*g.H + y) * line
			for from, end := begin+b.X1*g.pixel, begin+b.X2*g.pixel; from < end; from += len(piece) {
				to := min(from+len(piece), end)
				last := piece[:copy(piece[:], images[(n-1)*size+from:(n-1)*size+to])]
				for k := n - 1; k > 0; k-- {
					copy(images[k*size+from:k*size+to], images[(k-1)*size+from:])
				}
				copy(images[from:to], last)
			}
		}
	}
}
