package dataset

import (
	"fmt"
	"reflect"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/internal/dense"
)

// A number is what a volume's values may be.
type number interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// box is a part of a volume (c, z, y, x) or (c, y, x): all channels, from start
// on, as many voxels along every spatial axis as size says. It may reach beyond
// the volume.
type box struct {
	start, size [3]int
}

// walk is a box as loops: n values a step apart in dst and src, innermost last.
type walk struct {
	n, dst, src     [4]int
	dstAt, srcAt    int
	padded, nothing bool
}

// walkBox plans the copy of b, a part of a volume of that shape, into memory
// that holds just the box. Loops of one round are dropped and loops that
// continue each other joined, so that a whole plane is one loop.
func walkBox(shape []int, b *box) walk {
	var w walk
	rank := len(shape)
	srcStep, dstStep := 1, 1
	at := 3
	for d := rank - 1; d >= 0; d-- {
		from, size, n := 0, shape[d], shape[d]
		if d > 0 {
			from, size = b.start[d-1], b.size[d-1]
			lo, hi := max(from, 0), min(from+size, shape[d])
			if hi <= lo {
				return walk{padded: true, nothing: true}
			}
			w.padded = w.padded || hi-lo < size
			w.srcAt += lo * srcStep
			w.dstAt += (lo - from) * dstStep
			n = hi - lo
		}
		switch {
		case n == 1:
		case w.n[3] == 0:
			w.n[3], w.src[3], w.dst[3] = n, srcStep, dstStep
		case srcStep == w.n[at]*w.src[at] && dstStep == w.n[at]*w.dst[at]:
			w.n[at] *= n
		default:
			at--
			w.n[at], w.src[at], w.dst[at] = n, srcStep, dstStep
		}
		srcStep *= shape[d]
		dstStep *= size
	}
	for d := range w.n {
		w.n[d] = max(w.n[d], 1)
	}
	if w.n[3] == 1 {
		w.src[3], w.dst[3] = 1, 1
	}
	return w
}

// convertBox copies what w walks over, converting values as Go does.
func convertBox[D, S number](dst []D, src []S, w *walk) {
	for i := range w.n[0] {
		for j := range w.n[1] {
			for k := range w.n[2] {
				d := w.dstAt + i*w.dst[0] + j*w.dst[1] + k*w.dst[2]
				s := w.srcAt + i*w.src[0] + j*w.src[1] + k*w.src[2]
				convertRow(dst[d:], src[s:], w.n[3], w.dst[3], w.src[3])
			}
		}
	}
}

func convertRow[D, S number](dst []D, src []S, n, dstStep, srcStep int) {
	if dstStep != 1 {
		for i := range n {
			dst[i*dstStep] = D(src[i*srcStep])
		}
		return
	}
	dst = dst[:n]
	if srcStep != 1 {
		at := 0
		for i := range dst {
			dst[i] = D(src[at])
			at += srcStep
		}
		return
	}
	src = src[:n]
	for len(dst) >= 4 && len(src) >= 4 {
		dst[0], dst[1], dst[2], dst[3] = D(src[0]), D(src[1]), D(src[2]), D(src[3])
		dst, src = dst[4:], src[4:]
	}
	for i := range min(len(dst), len(src)) {
		dst[i] = D(src[i])
	}
}

// moveBox is convertBox between values of one kind, told apart by size alone.
func moveBox[T uint8 | uint16 | uint32 | uint64](dst, src []byte, w *walk) {
	to, from := dense.Values[T](dst), dense.Values[T](src)
	for i := range w.n[0] {
		for j := range w.n[1] {
			for k := range w.n[2] {
				d := w.dstAt + i*w.dst[0] + j*w.dst[1] + k*w.dst[2]
				s := w.srcAt + i*w.src[0] + j*w.src[1] + k*w.src[2]
				if w.src[3] == 1 && w.dst[3] == 1 {
					copy(to[d:d+w.n[3]], from[s:s+w.n[3]])
				} else {
					convertRow(to[d:], from[s:], w.n[3], w.dst[3], w.src[3])
				}
			}
		}
	}
}

// copyBox copies box b of v to dst, which holds values of kind to. What lies
// beyond the volume becomes fill. Kinds differ only where to is a float.
func copyBox(dst []byte, to reflect.Type, v *Volume, b *box, fill float64) error {
	w := walkBox(v.Shape, b)
	if w.padded {
		fillWith(dst, to, fill)
	}
	if w.nothing {
		return nil
	}
	return runWalk(dst, to, v.Dtype, v.Data, &w)
}

func runWalk(dst []byte, to reflect.Type, dt tensor.Dtype, src []byte, w *walk) error {
	switch {
	case to == dt.Type:
		switch dt.Size() {
		case 1:
			moveBox[uint8](dst, src, w)
		case 2:
			moveBox[uint16](dst, src, w)
		case 4:
			moveBox[uint32](dst, src, w)
		case 8:
			moveBox[uint64](dst, src, w)
		}
		return nil
	case to.Kind() == reflect.Float32:
		return convertAny(dense.Values[float32](dst), dt, src, w)
	case to.Kind() == reflect.Float64:
		return convertAny(dense.Values[float64](dst), dt, src, w)
	case to.Kind() == reflect.Int64:
		return convertAny(dense.Values[int64](dst), dt, src, w)
	}
	return fmt.Errorf("no conversion of %v to %v", dt, to)
}

func convertAny[D number](dst []D, dt tensor.Dtype, src []byte, w *walk) error {
	switch dt.Kind() {
	case reflect.Int8:
		convertBox(dst, dense.Values[int8](src), w)
	case reflect.Uint8:
		convertBox(dst, src, w)
	case reflect.Int16:
		convertBox(dst, dense.Values[int16](src), w)
	case reflect.Uint16:
		convertBox(dst, dense.Values[uint16](src), w)
	case reflect.Int32:
		convertBox(dst, dense.Values[int32](src), w)
	case reflect.Uint32:
		convertBox(dst, dense.Values[uint32](src), w)
	case reflect.Int64:
		convertBox(dst, dense.Values[int64](src), w)
	case reflect.Uint64:
		convertBox(dst, dense.Values[uint64](src), w)
	case reflect.Float32:
		convertBox(dst, dense.Values[float32](src), w)
	case reflect.Float64:
		convertBox(dst, dense.Values[float64](src), w)
	default:
		return fmt.Errorf("values of %v, which are no plain numbers", dt)
	}
	return nil
}

// copyNumbers converts len(dst) values of v, from number at on.
func copyNumbers[D float32 | float64 | int64](dst []D, v *Volume, at int) error {
	w := walk{n: [4]int{1, 1, 1, len(dst)}, dst: [4]int{3: 1}, src: [4]int{3: 1}, srcAt: at}
	return convertAny(dst, v.Dtype, v.Data, &w)
}

// fillWith sets every value of kind to in dst.
func fillWith(dst []byte, to reflect.Type, x float64) {
	switch to.Kind() {
	case reflect.Uint8:
		fillRow(dst, uint8(x))
	case reflect.Int8:
		fillRow(dense.Values[int8](dst), int8(x))
	case reflect.Int16:
		fillRow(dense.Values[int16](dst), int16(x))
	case reflect.Uint16:
		fillRow(dense.Values[uint16](dst), uint16(x))
	case reflect.Int32:
		fillRow(dense.Values[int32](dst), int32(x))
	case reflect.Uint32:
		fillRow(dense.Values[uint32](dst), uint32(x))
	case reflect.Int64:
		fillRow(dense.Values[int64](dst), int64(x))
	case reflect.Uint64:
		fillRow(dense.Values[uint64](dst), uint64(x))
	case reflect.Float32:
		fillRow(dense.Values[float32](dst), float32(x))
	case reflect.Float64:
		fillRow(dense.Values[float64](dst), x)
	}
}

func fillRow[T number](row []T, x T) {
	if x == 0 {
		clear(row)
		return
	}
	for i := range row {
		row[i] = x
	}
}
