package volume

import "github.com/penstock-go/penstock/dataset"

// A box is a part of a volume (c, z, y, x) or (c, y, x): all channels, and size
// voxels from start on along every spatial axis. It may reach outside the volume.
type box struct {
	start, size [3]int
}

// moves plans the copy of the box from a volume of that shape into memory of the size
// of the box. It drops loops of one round and joins loops over contiguous memory, so
// that a whole plane is one loop. padded is true if the box reaches outside the
// volume, nothing if it is entirely outside.
func (b *box) moves(shape []int) (m moves, padded, nothing bool) {
	srcStep, dstStep := 1, 1
	at := 3
	for d := len(shape) - 1; d >= 0; d-- {
		from, size, n := 0, shape[d], shape[d]
		if d > 0 {
			from, size = b.start[d-1], b.size[d-1]
			lo, hi := max(from, 0), min(from+size, shape[d])
			if hi <= lo {
				return moves{}, true, true
			}
			padded = padded || hi-lo < size
			m.srcAt += lo * srcStep
			m.dstAt += (lo - from) * dstStep
			n = hi - lo
		}
		switch {
		case n == 1:
		case m.n[3] == 0:
			m.n[3], m.src[3], m.dst[3] = n, srcStep, dstStep
		case srcStep == m.n[at]*m.src[at] && dstStep == m.n[at]*m.dst[at]:
			m.n[at] *= n
		default:
			at--
			m.n[at], m.src[at], m.dst[at] = n, srcStep, dstStep
		}
		srcStep *= shape[d]
		dstStep *= size
	}
	for d := range m.n {
		m.n[d] = max(m.n[d], 1)
	}
	if m.n[3] == 1 {
		m.src[3], m.dst[3] = 1, 1
	}
	return m, padded, false
}

// copyBox copies box b of v to dst, which holds values of dtype to. Voxels outside the
// volume become beyond. Dtypes differ only where to is a float or int64.
func copyBox(dst []byte, to dataset.Dtype, v *Volume, b *box, beyond float64) error {
	m, padded, nothing := b.moves(v.Shape)
	if padded {
		fill(dst, to, beyond)
	}
	if nothing {
		return nil
	}
	return m.convert(dst, to, v.Data, v.Dtype)
}

// centered is the index where a part of that size begins if it is centred in n voxels.
// It is below 0 if the part is larger. MONAI: CenterSpatialCrop and SpatialPad.
func centered(n, size int) int {
	if size > n {
		return -((size - n) / 2)
	}
	return n/2 - size/2
}
