package volume

import (
	"encoding/binary"
	"math"
	"unsafe"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
)

// moves is how voxels go from one array to another: n per axis, and the step
// from voxel to voxel there and here, counted in elements; steps may be negative.
type moves struct {
	n, dst, src  [4]int
	dstAt, srcAt int
}

// newMoves goes through all of shape, here and there, one voxel after the other.
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

// run moves elements of that many bytes.
func (m *moves) run(dst, src []byte, size uintptr) {
	switch size {
	case 1:
		move(dst, src, m)
	case 2:
		move(as[uint16](dst), as[uint16](src), m)
	case 4:
		move(as[uint32](dst), as[uint32](src), m)
	case 8:
		move(as[uint64](dst), as[uint64](src), m)
	}
}

type word interface {
	uint8 | uint16 | uint32 | uint64
}

// as is bytes as words. They come from where values of that size lay.
func as[T word](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}

func move[T word](dst, src []T, m *moves) {
	n, dstStep, srcStep := m.n[3], m.dst[3], m.src[3]
	for i := range m.n[0] {
		for j := range m.n[1] {
			for k := range m.n[2] {
				d := m.dstAt + i*m.dst[0] + j*m.dst[1] + k*m.dst[2]
				s := m.srcAt + i*m.src[0] + j*m.src[1] + k*m.src[2]
				if dstStep == 1 && srcStep == 1 {
					copy(dst[d:d+n], src[s:s+n])
					continue
				}
				for range n {
					dst[d] = src[s]
					d += dstStep
					s += srcStep
				}
			}
		}
	}
}

// fill sets every element of the volume.
func fill(data []byte, v *dataset.Volume, x float64) {
	if x == 0 {
		clear(data)
		return
	}
	var one [8]byte
	size := int(v.Dtype.Size())
	switch {
	case v.Dtype == tensor.Float32:
		binary.NativeEndian.PutUint32(one[:], math.Float32bits(float32(x)))
	case v.Dtype == tensor.Float64:
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

// flip reverses an axis in place.
func flip(v *dataset.Volume, axis int) {
	outer, inner := 1, 1
	for k, d := range v.Shape {
		if k < axis {
			outer *= d
		}
		if k > axis {
			inner *= d
		}
	}
	switch v.Dtype.Size() {
	case 1:
		flipBlocks(v.Data, outer, v.Shape[axis], inner)
	case 2:
		flipBlocks(as[uint16](v.Data), outer, v.Shape[axis], inner)
	case 4:
		flipBlocks(as[uint32](v.Data), outer, v.Shape[axis], inner)
	case 8:
		flipBlocks(as[uint64](v.Data), outer, v.Shape[axis], inner)
	}
}

func flipBlocks[T word](data []T, outer, n, inner int) {
	for o := range outer {
		part := data[o*n*inner : (o+1)*n*inner]
		if inner == 1 {
			for i, j := 0, len(part)-1; i < j; i, j = i+1, j-1 {
				part[i], part[j] = part[j], part[i]
			}
			continue
		}
		for i, j := 0, n-1; i < j; i, j = i+1, j-1 {
			a, b := part[i*inner:(i+1)*inner], part[j*inner:(j+1)*inner]
			for k, x := range a {
				a[k], b[k] = b[k], x
			}
		}
	}
}

// shift moves the origin along an axis by that many voxels.
func shift(v *dataset.Volume, axis int, voxels float64) {
	a := &v.Axes[axis]
	if a.Direction == nil || len(a.Direction) != len(v.Origin) || voxels == 0 {
		return
	}
	for d := range v.Origin {
		v.Origin[d] += voxels * a.Spacing * a.Direction[d]
	}
}

// turn makes an axis run the other way through the same voxels.
func turn(v *dataset.Volume, axis int) {
	shift(v, axis, float64(v.Shape[axis]-1))
	a := &v.Axes[axis]
	if a.Direction == nil {
		return
	}
	turned := make([]float64, len(a.Direction))
	for d, x := range a.Direction {
		turned[d] = -x
	}
	a.Direction = turned
}
