package volume_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume"
	"github.com/penstock-go/penstock/internal/dense"
)

// made is a volume (1, shape...) whose values are those of golden.py, or of
// value if that is not nil. Its axes are oblique in LPS.
func made(name string, mask bool, shape []int, spacing []float64, value func(i int) int16) *volume.Volume {
	v := &volume.Volume{Name: name, Mask: mask, Dtype: dataset.Int16, World: "LPS", Origin: []float64{10, -20, 30}}
	v.Shape = append(dataset.Shape{1}, shape...)
	v.Axes = []volume.Axis{{Kind: "list"}}
	c, s := math.Cos(0.3), math.Sin(0.3)
	directions := [][]float64{{0, 0, -1}, {-s, c, 0}, {c, s, 0}}[3-len(shape):]
	for k := range shape {
		v.Axes = append(v.Axes, volume.Axis{Kind: "space", Spacing: spacing[k], Direction: directions[k]})
	}
	values := make([]int16, v.Shape.Elements())
	for i := range values {
		values[i] = int16((i*37+i*i%101)%211 - 90)
		if value != nil {
			values[i] = value(i)
		}
	}
	d := dataset.NewCell(dataset.Field{Name: "x", Dtype: dataset.Int16, Shape: v.Shape})
	v.Data = d.Bytes()
	copy(dense.Values[int16](v.Data), values)
	return v
}

func prepare(t *testing.T, vs []*volume.Volume, steps ...volume.Step) {
	t.Helper()
	outlines := make([]*volume.Volume, len(vs))
	for k, v := range vs {
		outlines[k] = v.Header()
	}
	if err := volume.Outline(outlines, steps...); err != nil {
		t.Fatal(err)
	}
	if err := volume.Process(t.Context(), vs, steps...); err != nil {
		t.Fatal(err)
	}
	for k, v := range vs {
		if diff := cmp.Diff(outlines[k], v.Header(), cmp.Comparer(func(a, b dataset.Dtype) bool { return a == b })); diff != "" {
			t.Errorf("%v: outline -, result +\n%s", steps, diff)
		}
	}
}

func floats(t *testing.T, v *volume.Volume) []float32 {
	t.Helper()
	f, err := v.Float32()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// goldenFile is what testdata/golden.py writes.
type goldenFile struct {
	ITK []struct {
		Shape           []int
		Spacing, To     []float64
		Linear, Nearest struct {
			Shape  []int
			Origin []float64
			Values []float64
		}
	}
	Zoom []struct {
		Shape  []int
		To     []float64
		Values []float64
	}
}

func golden(t *testing.T) (g goldenFile) {
	t.Helper()
	text, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func compare(t *testing.T, what string, got []float32, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, want %d", what, len(got), len(want))
		return
	}
	for i := range got {
		if math.Abs(float64(got[i])-want[i]) > tolerance {
			t.Errorf("%s: value %d: got %v, want %v", what, i, got[i], want[i])
			return
		}
	}
}

func TestResampleIsThatOfITK(t *testing.T) {
	for _, c := range golden(t).ITK {
		ct, mask := made("ct", false, c.Shape, c.Spacing, nil), made("mask", true, c.Shape, c.Spacing, nil)
		for _, v := range []*volume.Volume{ct, mask} { // ITK's axes are the world's
			for k := range c.Shape {
				v.Axes[k+1].Direction = make([]float64, len(c.Shape))
				v.Axes[k+1].Direction[len(c.Shape)-1-k] = 1
			}
			v.Origin = v.Origin[:len(c.Shape)]
		}
		prepare(t, []*volume.Volume{ct, mask}, volume.Resample(c.To...))
		what := fmt.Sprintf("%v of %v mm to %v mm", c.Shape, c.Spacing, c.To)
		if !slices.Equal([]int(ct.Shape[1:]), c.Linear.Shape) || ct.Dtype != dataset.Float32 || mask.Dtype != dataset.Int16 {
			t.Errorf("%s: got %v and %v, want %v", what, ct, mask, c.Linear.Shape)
		}
		for d, want := range c.Linear.Origin {
			if math.Abs(ct.Origin[d]-want) > 1e-9 {
				t.Errorf("%s: origin %v, want %v", what, ct.Origin, c.Linear.Origin)
			}
		}
		compare(t, what, floats(t, ct), c.Linear.Values, 2e-4)
		compare(t, what+", nearest", floats(t, mask), c.Nearest.Values, 0)
	}
}

func TestResampleIsThatOfSciPyWhereSizesDivide(t *testing.T) {
	for _, c := range golden(t).Zoom {
		v := made("ct", false, c.Shape, []float64{1, 1, 1}, nil)
		prepare(t, []*volume.Volume{v}, volume.Resample(c.To...))
		compare(t, fmt.Sprintf("%v to %v", c.Shape, c.To), floats(t, v), c.Values, 2e-4)
	}
}

func TestPadOrCropKeepsTheMiddle(t *testing.T) {
	// Where MONAI 1.5's ResizeWithPadOrCrop begins: n//2 - size//2, or -((size-n)//2).
	for _, c := range []struct{ n, size, start int }{
		{5, 3, 1}, {5, 2, 1}, {4, 3, 1}, {4, 1, 2}, {6, 3, 2}, {3, 5, -1}, {3, 6, -1}, {4, 7, -1}, {4, 4, 0},
	} {
		ct := made("ct", false, []int{c.n, 2}, []float64{1, 1}, nil)
		mask := made("mask", true, []int{c.n, 2}, []float64{1, 1}, nil)
		old := floats(t, ct)
		ct.Fill = -7
		prepare(t, []*volume.Volume{ct, mask}, volume.PadOrCrop(c.size, 2))
		for _, v := range []*volume.Volume{ct, mask} {
			got := floats(t, v)
			for i := range got {
				want := float32(-7)
				if v.Mask {
					want = 0
				}
				if row := i/2 + c.start; row >= 0 && row < c.n {
					want = old[2*row+i%2]
				}
				if got[i] != want {
					t.Errorf("%d to %d, %s: got %v", c.n, c.size, v.Name, got)
					break
				}
			}
		}
	}
}

// TestVoxelsKeepTheirPositionInTheBody follows every voxel by its value.
func TestVoxelsKeepTheirPositionInTheBody(t *testing.T) {
	for _, steps := range [][]volume.Step{
		{volume.Orient("LPS")}, {volume.Orient("RAI")}, {volume.Orient("LAS")}, {volume.PadOrCrop(9, 2, 5)}, {volume.PadOrCrop(3)},
		{volume.PadOrCrop(6, 3, 4), volume.Orient("RPI"), volume.PadOrCrop(4)},
	} {
		v := made("ct", false, []int{4, 3, 6}, []float64{2.5, 0.7, 1.1}, func(i int) int16 { return int16(i + 1) })
		old := v.Header()
		prepare(t, []*volume.Volume{v}, steps...)
		seen := 0
		for i, x := range floats(t, v) {
			if x == 0 {
				continue
			}
			seen++
			got, _ := v.Position(index(v, i)...)
			want, ok := old.Position(index(old, int(x)-1)...)
			if !ok || len(got) != 3 || math.Hypot(math.Hypot(got[0]-want[0], got[1]-want[1]), got[2]-want[2]) > 1e-9 {
				t.Fatalf("%v: voxel %v is at %v, was at %v", steps, x, got, want)
			}
		}
		if seen < 12 {
			t.Errorf("%v: %d voxels are left", steps, seen)
		}
	}
}

func TestOrientedAxesFollowTheBody(t *testing.T) {
	for _, code := range []string{"LPS", "RAS", "LAI"} {
		// From side to side, then from head to feet, then from front to back.
		v := made("ct", false, []int{4, 3, 6}, []float64{2.5, 0.7, 1.1}, nil)
		v.World = "RAS"
		v.Axes[1].Direction, v.Axes[2].Direction, v.Axes[3].Direction = []float64{0.8, 0.6, 0}, []float64{0, 0, -1}, []float64{-0.6, 0.8, 0}
		mask := v.Header()
		mask.Name, mask.Mask, mask.Dtype, mask.Data = "mask", true, dataset.Uint8, make([]byte, 4*3*6)
		prepare(t, []*volume.Volume{v, mask}, volume.Orient(code))
		if got := fmt.Sprint(v.Shape, mask.Shape); got != "(1, 3, 6, 4) (1, 3, 6, 4)" {
			t.Errorf("%s: got %s", code, got)
		}
		for k, plus := range []byte("SAR") { // of the world RAS, for z, y and x
			along := v.Axes[1+k].Direction[2-k]
			if (along > 0) != (code[2-k] == plus) {
				t.Errorf("%s: axis %d runs along %v", code, k, v.Axes[1+k].Direction)
			}
		}
	}
}

func index(v *volume.Volume, i int) []float64 {
	at := make([]float64, len(v.Shape))
	for d := len(at) - 1; d >= 0; d-- {
		at[d] = float64(i % v.Shape[d])
		i /= v.Shape[d]
	}
	return at
}

// TestResampledValuesKeepTheirPositionInTheBody resamples a linear function of the
// position in the world, which interpolation must reproduce inside the volume.
func TestResampledValuesKeepTheirPositionInTheBody(t *testing.T) {
	v := made("ct", false, []int{6, 7, 8}, []float64{2.5, 0.7, 1.1}, nil)
	level := func(p []float64) float64 { return 3*p[0] - 2*p[1] + p[2] }
	values := make([]float32, v.Shape.Elements())
	for i := range values {
		p, _ := v.Position(index(v, i)...)
		values[i] = float32(level(p))
	}
	v.SetFloat32(values)
	prepare(t, []*volume.Volume{v}, volume.Resample(1.3, 0.9, 0.5))
	if got, want := v.String(), "ct float32 (1, 12, 5, 18), 1.3×0.9×0.5 mm, LPS"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for i, x := range floats(t, v) {
		at := index(v, i)
		inside := true
		for d, n := range []float64{0, 6 * 2.5 / 1.3, 7 * 0.7 / 0.9, 8 * 1.1 / 0.5} {
			old := []float64{0, 2.5 / 1.3, 0.7 / 0.9, 1.1 / 0.5}[d]
			inside = inside && (d == 0 || at[d]+0.5 >= old/2 && at[d]+0.5 <= n-old/2)
		}
		p, _ := v.Position(at...)
		if want := level(p); inside && math.Abs(float64(x)-want) > 1e-4 {
			t.Fatalf("voxel %v at %v: got %v, want %v", at, p, x, want)
		}
	}
}
