package volume

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
)

// moves plans a copy from one array to another: n values per axis, the steps from value
// to value in both, counted in values and maybe negative, and the indices where both
// begin.
type moves struct {
	n, dst, src  [4]int
	dstAt, srcAt int
}

// newMoves plans the copy of a whole array of that shape to one of the same layout.
func newMoves(shape []int) moves {
	m := moves{n: [4]int{1, 1, 1, 1}}
	step := 1
	for k := len(shape) - 1; k >= 0; k-- {
		m.n[k+4-len(shape)], m.src[k+4-len(shape)] = shape[k], step
		step *= shape[k]
	}
	m.dst = m.src
	return m
}

// row plans the copy of n contiguous values, from index at on, to index 0 on.
func row(n, at int) moves {
	return moves{n: [4]int{1, 1, 1, n}, dst: [4]int{3: 1}, src: [4]int{3: 1}, srcAt: at}
}

// rows calls do for every row of the innermost axis, with the indices where it begins.
func (m *moves) rows(do func(dst, src int)) {
	for i := range m.n[0] {
		for j := range m.n[1] {
			for k := range m.n[2] {
				do(m.dstAt+i*m.dst[0]+j*m.dst[1]+k*m.dst[2], m.srcAt+i*m.src[0]+j*m.src[1]+k*m.src[2])
			}
		}
	}
}

// run copies values of that many bytes unchanged.
func (m *moves) run(dst, src []byte, size int) {
	switch size {
	case 1:
		move(dst, src, m)
	case 2:
		move(dense.Values[uint16](dst), dense.Values[uint16](src), m)
	case 4:
		move(dense.Values[uint32](dst), dense.Values[uint32](src), m)
	case 8:
		move(dense.Values[uint64](dst), dense.Values[uint64](src), m)
	}
}

// convert copies values of dtype from to values of dtype to, converted as Go does.
func (m *moves) convert(dst []byte, to dataset.Dtype, src []byte, from dataset.Dtype) error {
	switch to {
	case from:
		m.run(dst, src, to.Size())
		return nil
	case dataset.Float32:
		return convertAny(dense.Values[float32](dst), src, from, m)
	case dataset.Float64:
		return convertAny(dense.Values[float64](dst), src, from, m)
	case dataset.Int64:
		return convertAny(dense.Values[int64](dst), src, from, m)
	}
	return fmt.Errorf("no conversion of %v to %v", from, to)
}

func convertAny[D number](dst []D, src []byte, from dataset.Dtype, m *moves) error {
	switch from {
	case dataset.Int8:
		convertRows(dst, dense.Values[int8](src), m)
	case dataset.Uint8:
		convertRows(dst, src, m)
	case dataset.Int16:
		convertRows(dst, dense.Values[int16](src), m)
	case dataset.Uint16:
		convertRows(dst, dense.Values[uint16](src), m)
	case dataset.Int32:
		convertRows(dst, dense.Values[int32](src), m)
	case dataset.Uint32:
		convertRows(dst, dense.Values[uint32](src), m)
	case dataset.Int64:
		convertRows(dst, dense.Values[int64](src), m)
	case dataset.Uint64:
		convertRows(dst, dense.Values[uint64](src), m)
	case dataset.Float32:
		convertRows(dst, dense.Values[float32](src), m)
	case dataset.Float64:
		convertRows(dst, dense.Values[float64](src), m)
	default:
		return fmt.Errorf("values of %v, want integers or floats", from)
	}
	return nil
}

func move[T word](dst, src []T, m *moves) {
	n, dstStep, srcStep := m.n[3], m.dst[3], m.src[3]
	if dstStep == 1 && srcStep == 1 {
		m.rows(func(d, s int) { copy(dst[d:d+n], src[s:s+n]) })
		return
	}
	convertRows(dst, src, m)
}

func convertRows[D, S number](dst []D, src []S, m *moves) {
	n, dstStep, srcStep := m.n[3], m.dst[3], m.src[3]
	switch {
	case dstStep != 1:
		m.rows(func(d, s int) {
			for range n {
				dst[d] = D(src[s])
				d += dstStep
				s += srcStep
			}
		})
	case srcStep != 1:
		m.rows(func(d, s int) {
			to := dst[d : d+n]
			for i := range to {
				to[i] = D(src[s])
				s += srcStep
			}
		})
	default:
		m.rows(func(d, s int) { convertRow(dst[d:d+n], src[s:s+n]) })
	}
}

func convertRow[D, S number](dst []D, src []S) {
	for len(dst) >= 4 && len(src) >= 4 {
		dst[0], dst[1], dst[2], dst[3] = D(src[0]), D(src[1]), D(src[2]), D(src[3])
		dst, src = dst[4:], src[4:]
	}
	for i := range min(len(dst), len(src)) {
		dst[i] = D(src[i])
	}
}

// fill sets every value of data, of dtype dt, to x.
func fill(data []byte, dt dataset.Dtype, x float64) {
	if x == 0 {
		clear(data)
		return
	}
	var one [8]byte
	size := dt.Size()
	switch {
	case dt == dataset.Float32:
		binary.NativeEndian.PutUint32(one[:], math.Float32bits(float32(x)))
	case dt == dataset.Float64:
		binary.NativeEndian.PutUint64(one[:], math.Float64bits(x))
	case size == 1:
		one[0] = uint8(int64(x))
	case size == 2:
		binary.NativeEndian.PutUint16(one[:], uint16(int64(x)))
	case size == 4:
		binary.NativeEndian.PutUint32(one[:], uint32(int64(x)))
	default:
		binary.NativeEndian.PutUint64(one[:], uint64(int64(x)))
	}
	copy(data, one[:size])
	for done := size; done < len(data); done *= 2 {
		copy(data[done:], data[:done])
	}
}
