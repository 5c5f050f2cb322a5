package volume

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
)

// A region is a set of voxels, stored as runs of contiguous voxels. A random voxel is
// found by a binary search. Tumours have many voxels, but few runs.
type region struct {
	starts []uint32 // of every run
	before []uint32 // voxels of the region before every run, and their total number at the end
	voxels int      // in and outside
}

// regionOf finds the voxels of a mask whose label is one of labels, or not 0 if labels
// is empty. NaN is not a label. A voxel is in the region if any of its channels has such a
// label.
func regionOf(v *Volume, labels []float64) (*region, error) {
	channels := v.Shape[0]
	n := v.Elements() / channels
	if uint64(n) > math.MaxUint32 {
		return nil, fmt.Errorf("volume: %s: %d voxels are too many to pick from", v.Name, n)
	}
	switch v.Dtype {
	case dataset.Uint8:
		return scanRegion(v.Data, n, channels, labels), nil
	case dataset.Int8:
		return scanRegion(dense.Values[int8](v.Data), n, channels, labels), nil
	case dataset.Int16:
		return scanRegion(dense.Values[int16](v.Data), n, channels, labels), nil
	case dataset.Uint16:
		return scanRegion(dense.Values[uint16](v.Data), n, channels, labels), nil
	case dataset.Int32:
		return scanRegion(dense.Values[int32](v.Data), n, channels, labels), nil
	case dataset.Uint32:
		return scanRegion(dense.Values[uint32](v.Data), n, channels, labels), nil
	case dataset.Int64:
		return scanRegion(dense.Values[int64](v.Data), n, channels, labels), nil
	case dataset.Uint64:
		return scanRegion(dense.Values[uint64](v.Data), n, channels, labels), nil
	case dataset.Float32:
		return scanRegion(dense.Values[float32](v.Data), n, channels, labels), nil
	case dataset.Float64:
		return scanRegion(dense.Values[float64](v.Data), n, channels, labels), nil
	}
	return nil, fmt.Errorf("volume: %s: no labels in values of %v", v.Name, v.Dtype)
}

func scanRegion[T number](data []T, n, channels int, labels []float64) *region {
	r := &region{voxels: n}
	count := uint32(0)
	open := false
	for i := range n {
		in := false
		for at := i; at < n*channels && !in; at += n {
			x := data[at]
			in = x != 0 && x == x && len(labels) == 0 || len(labels) > 0 && slices.Contains(labels, float64(x))
		}
		if in != open {
			open = in
			if in {
				r.starts = append(r.starts, uint32(i))
				r.before = append(r.before, count)
			}
		}
		if in {
			count++
		}
	}
	r.before = append(r.before, count)
	return r
}

// inside and outside are the numbers of voxels in the region and out of it.
func (r *region) inside() int  { return int(r.before[len(r.starts)]) }
func (r *region) outside() int { return r.voxels - r.inside() }

// in is the k-th voxel of the region.
func (r *region) in(k int) int {
	i := sort.Search(len(r.starts), func(i int) bool { return int(r.before[i+1]) > k })
	return int(r.starts[i]) + k - int(r.before[i])
}

// out is the k-th voxel outside the region.
func (r *region) out(k int) int {
	i := sort.Search(len(r.starts), func(i int) bool { return int(r.starts[i]-r.before[i]) > k })
	return k + int(r.before[i])
}

func (r *region) bytes() int64 { return int64(4 * (len(r.starts) + len(r.before))) }
