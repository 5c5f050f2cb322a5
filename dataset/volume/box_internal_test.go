package volume

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
)

// TestBoxesAreCopiedVoxelByVoxel compares rows with indices counted one
// by one, for boxes inside, across and beyond the volume.
func TestBoxesAreCopiedVoxelByVoxel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rank := rapid.IntRange(2, 3).Draw(t, "rank")
		shape := dataset.Shape{rapid.IntRange(1, 3).Draw(t, "channels")}
		var b box
		for d := range rank {
			n := rapid.IntRange(1, 6).Draw(t, "n")
			shape = append(shape, n)
			b.start[d] = rapid.IntRange(-7, 7).Draw(t, "start")
			b.size[d] = rapid.IntRange(1, 8).Draw(t, "size")
		}
		values := make([]int16, shape.Elements())
		for i := range values {
			values[i] = int16(i + 1)
		}
		v := &Volume{Dtype: dataset.Int16, Shape: shape, Data: dense.Bytes(values)}

		size := slices.Clone(shape)
		for d := range rank {
			size[d+1] = b.size[d]
		}
		want := make([]float32, size.Elements())
		index := make([]int, rank+1)
		for i := range want {
			rest, at, inside := i, 0, true
			for d := rank; d >= 0; d-- {
				index[d] = rest % size[d]
				rest /= size[d]
			}
			for d, k := range index {
				if d > 0 {
					k += b.start[d-1]
				}
				inside = inside && k >= 0 && k < shape[d]
				at = at*shape[d] + k
			}
			want[i] = -5
			if inside {
				want[i] = float32(values[at])
			}
		}
		got := make([]float32, len(want))
		if err := copyBox(dense.Bytes(got), dataset.Float32, v, &b, -5); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("box %v of %v: got %v, want %v", b, shape, got, want)
		}
		same := make([]int16, len(want))
		if err := copyBox(dense.Bytes(same), dataset.Int16, v, &b, -5); err != nil {
			t.Fatal(err)
		}
		for i := range same {
			if float32(same[i]) != want[i] {
				t.Fatalf("box %v of %v, as int16: got %v, want %v", b, shape, same, want)
			}
		}
	})
}

func TestNaNIsInNoRegion(t *testing.T) {
	values := []float32{0, 1, float32(math.NaN()), 2}
	r, err := regionOf(&Volume{Dtype: dataset.Float32, Shape: dataset.Shape{1, 4}, Data: dense.Bytes(values)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := []int{r.inside(), r.in(0), r.in(1)}, []int{2, 1, 3}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestRegionsPickEveryVoxelOnce compares with the plain list of voxels.
func TestRegionsPickEveryVoxelOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labels := rapid.SliceOfN(rapid.Uint8Range(0, 2), 1, 40).Draw(t, "labels")
		wanted := rapid.SliceOfN(rapid.SampledFrom([]float64{1, 2, 300}), 0, 2).Draw(t, "wanted")
		r, err := regionOf(&Volume{Dtype: dataset.Uint8, Shape: dataset.Shape{1, len(labels)}, Data: labels}, wanted)
		if err != nil {
			t.Fatal(err)
		}
		var in, out, gotIn, gotOut []int
		for i, l := range labels {
			if l != 0 && len(wanted) == 0 || slices.Contains(wanted, float64(l)) {
				in = append(in, i)
			} else {
				out = append(out, i)
			}
		}
		for k := range r.inside() {
			gotIn = append(gotIn, r.in(k))
		}
		for k := range r.outside() {
			gotOut = append(gotOut, r.out(k))
		}
		if !slices.Equal(gotIn, in) || !slices.Equal(gotOut, out) {
			t.Fatalf("%v in %v: got %v and %v, want %v and %v", wanted, labels, gotIn, gotOut, in, out)
		}
	})
}
