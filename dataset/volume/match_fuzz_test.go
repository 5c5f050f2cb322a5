package volume_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume"
	"github.com/penstock-go/penstock/internal/hostile"
)

// FuzzMatchedGeometry takes the geometry of a PET from arbitrary float64 values, as in
// bad files. Either both outline and preparation are errors, or all values are between
// the smallest and the largest of the PET and its Fill.
func FuzzMatchedGeometry(f *testing.F) {
	seed := func(values ...float64) {
		var b []byte
		for _, x := range values {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
		f.Add(b, false)
		f.Add(b, true)
	}
	seed(3, 2, 1, 0, 0, -1, -0.3, 0.95, 0, 0.95, 0.3, 0, 10, -20, 30)
	seed(3, 2, 1, 0, 1, 0, 0, 0, 1, 1, 0, 0, 10, -20, 30)
	seed(1e9, 1e-9, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0)
	seed(math.Inf(1), math.NaN(), 1e308, 1e-308, 0, 1, 0, 5e-324, 0, 1, 0, 0, 1e300, 0, 0)
	seed(1, 1, 1, 1, 0, 0, 1, 1e-7, 0, 1, 0, 1e-7, 10, -20, 30)
	f.Fuzz(func(t *testing.T, data []byte, mask bool) {
		var g [15]float64
		for i := range g {
			if len(data) >= 8*i+8 {
				g[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
			}
		}
		pet, ct := made("pet", mask, []int{2, 3, 4}, g[:3], nil), made("ct", false, []int{4, 3, 5}, []float64{2, 1, 1.5}, nil)
		for k := range 3 {
			pet.Axes[k+1].Direction = g[3+3*k : 6+3*k]
		}
		pet.Origin = g[12:]
		pet.Fill = -1000
		old := floats(t, pet)
		lo, hi := slices.Min(old), slices.Max(old)
		var outline, err error
		original := *pet
		hostile.Bounded(t, len(data), 0, func() {
			*pet = original
			outline = volume.Outline([]*volume.Volume{pet.Header(), ct.Header()}, volume.ResampleToMatch("ct"))
			err = volume.Run(t.Context(), []*volume.Volume{pet, ct}, volume.ResampleToMatch("ct"))
		})
		if (err == nil) != (outline == nil) {
			t.Fatalf("outlined: %v, prepared: %v", outline, err)
		}
		if err != nil {
			return
		}
		if !slices.Equal(pet.Shape, ct.Shape) || (pet.Dtype == dataset.Float32) == mask {
			t.Fatalf("got %v", pet)
		}
		for i, x := range floats(t, pet) {
			if x != -1000 && !(x >= lo-1e-3 && x <= hi+1e-3) {
				t.Fatalf("value %d is %v, those of the volume are from %v to %v", i, x, lo, hi)
			}
		}
	})
}
