package transform

import (
	"fmt"

	"github.com/penstock-go/penstock/dataset"
)

// A mixer is a mixing for batches of certain fields.
type mixer struct {
	mixing
	at, to int           // the fields of the images and of the labels
	field  dataset.Field // of the images
	shares bool          // whether labels have a share per class before
}

func (m *mixer) apply(dst, src dataset.Columns) error {
	r := src.Rand()
	lambda := 1.0
	switch {
	case m.probability < 1 && r.Float64() >= m.probability:
	case m.cut:
		g := gridOf(m.field)
		b := drawBox(beta(m.beta, r), g.w, g.h, r.IntN)
		lambda = b.kept(g.w, g.h)
		g.exchange(dst.Bytes(m.at), dst.Len(), b)
	default:
		lambda = beta(m.beta, r)
		m.mixImages(dst, lambda)
	}
	if err := m.mixLabels(dst, src, lambda); err != nil {
		return fmt.Errorf("transform: %s: %w", m.name, err)
	}
	return nil
}

// mixImages computes with torch's roundings: the share of the dtype's precision, and
// both products and the sum rounded to the dtype.
func (m *mixer) mixImages(c dataset.Columns, lambda float64) {
	n, own, other := c.Len(), float32(lambda), float32(1-lambda)
	switch m.field.Dtype {
	case dataset.Float64:
		mixRows(dataset.Column[float64](c, m.at), n, func(x, before []float64) {
			for k := range x {
				x[k] = float64(x[k]*lambda) + float64(before[k]*(1-lambda))
			}
		})
	case dataset.Float16:
		mixRows(dataset.Column[dataset.F16](c, m.at), n, func(x, before []dataset.F16) {
			for k := range x {
				a, b := dataset.ToF16(x[k].Float32()*own), dataset.ToF16(before[k].Float32()*other)
				x[k] = dataset.ToF16(a.Float32() + b.Float32())
			}
		})
	case dataset.BFloat16:
		mixRows(dataset.Column[dataset.BF16](c, m.at), n, func(x, before []dataset.BF16) {
			for k := range x {
				a, b := dataset.ToBF16(x[k].Float32()*own), dataset.ToBF16(before[k].Float32()*other)
				x[k] = dataset.ToBF16(a.Float32() + b.Float32())
			}
		})
	default:
		mixFloats(dataset.Column[float32](c, m.at), n, own, other)
	}
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

// mixRows calls mix for pieces of every row of n, with the same piece of the row before
// it. Before row 0 comes the last one. It needs no memory for a whole row, because
// rows are mixed from the last one on, piece by piece.
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

// mixLabels computes float32 labels. Those of dst are zeros if labels are classes.
func (m *mixer) mixLabels(dst, src dataset.Columns, lambda float64) error {
	own, other := float32(lambda), float32(1-lambda)
	shares, n := dataset.Column[float32](dst, m.to), dst.Len()
	if m.shares {
		mixFloats(shares, n, own, other)
		return nil
	}
	classes := dataset.Column[int64](src, m.to)
	before := classes[n-1]
	for row, class := range classes {
		if class < 0 || class >= int64(m.classes) {
			return fmt.Errorf("row %d has class %d: want 0 to %d", row, class, m.classes-1)
		}
		if before >= 0 && before < int64(m.classes) { // otherwise the last row is an error
			shares[row*m.classes+int(before)] = other
		}
		shares[row*m.classes+int(class)] += own
		before = class
	}
	return nil
}
