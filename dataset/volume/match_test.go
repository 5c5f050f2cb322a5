package volume_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume"
)

// matchFile is what testdata/match.py writes.
type matchFile struct {
	Cases []struct {
		Moving, Fixed   itkGrid
		Fill            float64
		Linear, Nearest []float64
	}
	Patient struct{ PET, Tumour []float64 }
}

// itkGrid is in ITK's order, x first, except for the shape. Columns of Direction are axes.
type itkGrid struct {
	Shape                      []int
	Spacing, Origin, Direction []float64
}

func matchGolden(t *testing.T) (g matchFile) {
	t.Helper()
	text, err := os.ReadFile("testdata/match.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// on gives v the geometry of the grid, in that world.
func (g itkGrid) on(v *volume.Volume, world string) *volume.Volume {
	v.World = world
	sign := func(d int) float64 {
		if world[d] != "LPS"[d] {
			return -1
		}
		return 1
	}
	for d := range 3 {
		v.Origin[d] = sign(d) * g.Origin[d]
		for k := range 3 {
			a := &v.Axes[3-k]
			a.Spacing = g.Spacing[k]
			a.Direction[d] = sign(d) * g.Direction[3*d+k]
		}
	}
	return v
}

func TestMatchedVolumesAreThoseOfITK(t *testing.T) {
	for i, c := range matchGolden(t).Cases {
		for _, world := range []string{"LPS", "RAS", "LAS"} {
			one := []float64{1, 1, 1}
			pet := c.Moving.on(made("pet", false, c.Moving.Shape, one, nil), world)
			mask := c.Moving.on(made("mask", true, c.Moving.Shape, one, nil), world)
			ct := c.Fixed.on(made("ct", false, c.Fixed.Shape, one, nil), "LPS")
			pet.Fill, mask.Fill = c.Fill, c.Fill
			header := ct.Header()
			prepare(t, []*volume.Volume{pet, ct, mask}, volume.ResampleToMatch("ct"))
			what := fmt.Sprintf("case %d, %s", i, world)
			compare(t, what, floats(t, pet), c.Linear, 2e-4)
			compare(t, what+", nearest", floats(t, mask), c.Nearest, 0)
			if pet.Dtype != dataset.Float32 || mask.Dtype != dataset.Int16 || ct.Dtype != dataset.Int16 {
				t.Errorf("%s: got %v, %v, %v", what, pet, mask, ct)
			}
			for _, v := range []*volume.Volume{pet, mask, ct} {
				if !slices.Equal(v.Shape, header.Shape) || v.World != "LPS" || !slices.Equal(v.Origin, header.Origin) {
					t.Errorf("%s: %v at %v is not on the grid of %v", what, v, v.Origin, header)
				}
			}
		}
	}
}

// TestFilesOfThreeGridsBecomeOne reads a CT in NRRD, and a PET and a mask in NIfTI
// whose world is RAS, all written by SimpleITK.
func TestFilesOfThreeGridsBecomeOne(t *testing.T) {
	want := matchGolden(t).Patient
	cohort, err := volume.Open(os.DirFS("testdata"),
		volume.Scan("pet", "{patient}/pet.nii", volume.Fill(-7)), volume.Scan("ct", "{patient}/ct.nrrd"), volume.Mask("tumour", "{patient}/tumour.nii"),
		volume.Prepare(volume.ResampleToMatch("ct"), volume.Window(40, 400).Only("ct")))
	if err != nil {
		t.Fatal(err)
	}
	ds, err := cohort.Slices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if ds.Len() != 4 {
		t.Fatalf("%d slices, want those of the CT", ds.Len())
	}
	var pet, tumour []float32
	for i := range ds.Len() {
		s, err := dataset.At(t.Context(), ds, i)
		if err != nil {
			t.Fatal(err)
		}
		pet = append(pet, dataset.ValuesOf[float32](s["pet"])...)
		for _, x := range dataset.ValuesOf[uint8](s["tumour"]) {
			tumour = append(tumour, float32(x))
		}
	}
	compare(t, "pet", pet, want.PET, 2e-4)
	compare(t, "tumour", tumour, want.Tumour, 0)
}

func TestFilesOfSeveralGridsAreEarlyErrorsWithoutMatching(t *testing.T) {
	for _, c := range []struct {
		steps []volume.Step
		want  string
	}{
		{[]volume.Step{volume.Window(40, 400)}, "pet has the shape (3, 4, 5), ct has (4, 5, 6): ResampleToMatch puts them on one grid"},
		{[]volume.Step{volume.MinMax(), volume.ResampleToMatch("ct")}, "ResampleToMatch(ct): want it before MinMax()"},
		{[]volume.Step{volume.ResampleToMatch("ct"), volume.ResampleToMatch("pet")}, "ResampleToMatch(pet): want it before ResampleToMatch(ct), and once"},
		{[]volume.Step{volume.ResampleToMatch("mr")}, `no volume is named "mr"`},
	} {
		_, err := volume.Open(os.DirFS("testdata"), volume.Scan("pet", "{patient}/pet.nii"), volume.Scan("ct", "{patient}/ct.nrrd"),
			volume.Prepare(c.steps...))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q in it", c.steps, err, c.want)
		}
	}
	if _, err := volume.Augment(whole(t), volume.ResampleToMatch("ct")); err == nil || !strings.Contains(err.Error(), "use it in Prepare") {
		t.Errorf("after the cut: got %v", err)
	}
}

func TestVolumesThatCannotBeMatchedSaySo(t *testing.T) {
	for _, c := range []struct {
		change func(pet, ct *volume.Volume)
		want   string
	}{
		{func(pet, _ *volume.Volume) { pet.Origin = nil }, "pet: its position is unknown"},
		{func(_, ct *volume.Volume) { ct.Origin = nil }, "ct: its position is unknown"},
		{func(pet, _ *volume.Volume) { pet.Axes[2].Direction = nil }, "pet: direction or spacing of axis 1 is unknown"},
		{func(pet, _ *volume.Volume) { pet.Axes[1].Spacing = 0 }, "pet: direction or spacing of axis 0 is unknown"},
		{func(pet, _ *volume.Volume) { pet.World = "" }, "pet: its world is unknown, that of ct is LPS"},
		{func(pet, _ *volume.Volume) { pet.Axes[2].Direction = pet.Axes[1].Direction }, "pet: its axes are in one plane"},
		{func(_, ct *volume.Volume) { ct.Axes[2].Direction = ct.Axes[1].Direction }, "the grid's axes are in one plane"},
		{func(pet, _ *volume.Volume) { pet.Origin[0] = 1e12 }, "pet: its position and size are too far"},
		{func(pet, _ *volume.Volume) { pet.Origin[1] = math.NaN() }, "pet: its position and size are too far"},
		{func(pet, _ *volume.Volume) { pet.Axes[3].Spacing = 1e-300 }, "pet: its position and size are too far"},
		{func(pet, _ *volume.Volume) { pet.Axes[3].Spacing = 1e300 }, "pet: its position and size are too far"},
		{func(pet, _ *volume.Volume) { pet.Origin[2] += 20 }, "pet: it is entirely outside"},
		{func(pet, _ *volume.Volume) { // beyond a face of the grid, though not of a box along its own axes around it
			c, s := math.Cos(1.1), math.Sin(1.1)
			pet.Axes[2].Direction, pet.Axes[3].Direction = []float64{-s, c, 0}, []float64{c, s, 0}
			for d, x := range []float64{c, s, 0} {
				pet.Origin[d] += 0.5*x + 11*[]float64{math.Cos(0.3), math.Sin(0.3), 0}[d]
			}
		}, "pet: it is entirely outside"},
		{func(pet, _ *volume.Volume) { pet.Mask, pet.Fill = true, 40000 }, "pet: its labels are int16, which cannot hold Fill(40000)"},
		{func(pet, _ *volume.Volume) { pet.Mask, pet.Fill = true, 0.5 }, "pet: its labels are int16, which cannot hold Fill(0.5)"},
		{func(pet, _ *volume.Volume) { pet.Shape[0] = math.MaxInt }, " channels on the grid of ct would be too large"},
		{func(pet, _ *volume.Volume) { pet.Shape, pet.Axes = pet.Shape[1:], pet.Axes[1:] }, "pet: it has 2 spatial axes, ct has 3"},
		{func(_, ct *volume.Volume) { ct.Name = "mr" }, "the patient has no ct"},
	} {
		spacing := []float64{3, 2, 1}
		pet, ct := made("pet", false, []int{3, 4, 5}, spacing, nil), made("ct", false, []int{5, 5, 5}, spacing, nil)
		c.change(pet, ct)
		vs := []*volume.Volume{pet, ct}
		step := volume.ResampleToMatch("ct")
		for k, err := range []error{volume.Outline([]*volume.Volume{pet.Header(), ct.Header()}, step), volume.Run(t.Context(), vs, step)} {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d: got %v, want %q in it", k, err, c.want)
			}
		}
	}
}

func TestVolumesOnTheGridStayAsTheyAre(t *testing.T) {
	shape, spacing := []int{3, 4, 5}, []float64{3, 2, 1}
	pet, ct := made("pet", false, shape, spacing, nil), made("ct", false, shape, spacing, nil)
	pet.Origin[0] += 0.0005
	data := &pet.Data[0]
	prepare(t, []*volume.Volume{pet, ct}, volume.ResampleToMatch("ct"))
	if &pet.Data[0] != data || pet.Dtype != dataset.Int16 || pet.Origin[0] != ct.Origin[0] {
		t.Errorf("got %v at %v, want its own values at %v", pet, pet.Origin, ct.Origin)
	}
	alone := made("ct", false, shape, spacing, nil)
	alone.Origin = nil
	prepare(t, []*volume.Volume{alone}, volume.ResampleToMatch("ct"))
}

// TestObliqueAndParallelPathsAgree rotates a volume so little that only the oblique path
// is taken. It must give what the parallel path gives.
func TestObliqueAndParallelPathsAgree(t *testing.T) {
	result := func(askew float64, mask bool) []float32 {
		pet, ct := made("pet", mask, []int{6, 7, 8}, []float64{3.1, 2.3, 1.7}, nil), made("ct", false, []int{9, 10, 11}, []float64{1.3, 1.1, 0.9}, nil)
		c, s := math.Cos(0.3+askew), math.Sin(0.3+askew)
		pet.Axes[2].Direction, pet.Axes[3].Direction = []float64{-s, c, 0}, []float64{c, s, 0}
		prepare(t, []*volume.Volume{pet, ct}, volume.ResampleToMatch("ct"))
		return floats(t, pet)
	}
	for _, mask := range []bool{false, true} {
		fast, slow := result(0, mask), result(1e-3, mask)
		off := 0
		for i := range fast {
			if math.Abs(float64(fast[i]-slow[i])) > 1.5 {
				off++
			}
		}
		// For few of 990 voxels the nearest one is another, or outside the volume.
		if off > 10 || slices.Equal(fast, slow) && !mask {
			t.Errorf("mask %v: %d of %d values differ", mask, off, len(fast))
		}
	}
}

// TestHalfwayCentersTakeTheHigherVoxel halves a volume's resolution: every centre
// of the grid is halfway between two voxels, up to rounding.
func TestHalfwayCentersTakeTheHigherVoxel(t *testing.T) {
	for _, spacing := range []float64{1, 0.1, 0.7, 1. / 3} {
		mask := made("mask", true, []int{2, 2, 40}, []float64{1, 1, spacing}, func(i int) int16 { return int16(i % 40) })
		ct := made("ct", false, []int{2, 2, 20}, []float64{1, 1, 2 * spacing}, nil)
		for d := range ct.Origin {
			ct.Origin[d] += spacing / 2 * ct.Axes[3].Direction[d]
		}
		prepare(t, []*volume.Volume{mask, ct}, volume.ResampleToMatch("ct"))
		for i, x := range floats(t, mask) {
			if want := float32(2*(i%20) + 1); x != want {
				t.Fatalf("%v mm: voxel %d is %v, want %v", spacing, i, x, want)
			}
		}
	}
}

// TestNeighborsWithWeightZeroDoNotMatter puts a volume with NaN onto every second voxel.
func TestNeighborsWithWeightZeroDoNotMatter(t *testing.T) {
	pet, ct := made("pet", false, []int{2, 2, 9}, []float64{1, 1, 1}, nil), made("ct", false, []int{2, 2, 5}, []float64{1, 1, 2}, nil)
	values := floats(t, pet)
	for i := range values {
		if i%9%2 == 1 {
			values[i] = float32(math.NaN())
		}
	}
	pet.SetFloat32(values)
	prepare(t, []*volume.Volume{pet, ct}, volume.ResampleToMatch("ct"))
	for i, x := range floats(t, pet) {
		if want := values[i/5*9+i%5*2]; x != want {
			t.Errorf("voxel %d is %v, want %v", i, x, want)
		}
	}
}

func TestChannelsAreMatchedEach(t *testing.T) {
	for _, mask := range []bool{false, true} {
		for _, angle := range []float64{0.3, 0.4} { // parallel to the grid, and oblique
			pet := made("pet", mask, []int{6, 4, 5}, []float64{2, 1.5, 1}, nil)
			two := made("pet", mask, []int{3, 4, 5}, []float64{2, 1.5, 1}, nil)
			two.Shape[0], two.Data = 2, pet.Data // its channels are the stack's halves
			c, s := math.Cos(angle), math.Sin(angle)
			for _, v := range []*volume.Volume{pet, two} {
				v.Axes[2].Direction, v.Axes[3].Direction = []float64{-s, c, 0}, []float64{c, s, 0}
			}
			ct := func() *volume.Volume { return made("ct", false, []int{3, 4, 5}, []float64{1.1, 1.2, 1.3}, nil) }
			first := made("pet", mask, []int{3, 4, 5}, []float64{2, 1.5, 1}, nil)
			second := first.Header()
			second.Data = slices.Clone(pet.Data[len(pet.Data)/2:])
			for _, v := range []*volume.Volume{first, second} {
				v.Axes[2].Direction, v.Axes[3].Direction = two.Axes[2].Direction, two.Axes[3].Direction
			}
			var want []float32
			for _, v := range []*volume.Volume{first, second} {
				prepare(t, []*volume.Volume{v, ct()}, volume.ResampleToMatch("ct"))
				want = append(want, floats(t, v)...)
			}
			prepare(t, []*volume.Volume{two, ct()}, volume.ResampleToMatch("ct"))
			if got := floats(t, two); !slices.Equal(got, want) {
				t.Errorf("mask %v, angle %v: got %v, want %v", mask, angle, got, want)
			}
		}
	}
}

// TestScansAreMatchedToTheGrid has two axes in worlds of two and of three.
func TestScansAreMatchedToTheGrid(t *testing.T) {
	for _, world := range []int{2, 3} {
		level := func(v *volume.Volume, i int) float32 {
			p, _ := v.Position(index(v, i)...)
			return float32(3*p[0] - 2*p[1])
		}
		pet, ct := made("pet", false, []int{20, 30}, []float64{1, 0.7}, nil), made("ct", false, []int{6, 7}, []float64{0.8, 0.9}, nil)
		for _, v := range []*volume.Volume{pet, ct} {
			v.Origin = v.Origin[:world]
			for k := range v.Axes[1:] {
				v.Axes[k+1].Direction = v.Axes[k+1].Direction[:world]
			}
		}
		c, s := math.Cos(0.1), math.Sin(0.1)
		pet.Axes[1].Direction, pet.Axes[2].Direction = []float64{-s, c, 0}[:world], []float64{c, s, 0}[:world]
		pet.Origin[0] -= 2
		pet.Origin[1] -= 3
		values := make([]float32, pet.Shape.Elements())
		for i := range values {
			values[i] = level(pet, i)
		}
		pet.SetFloat32(values)
		apart := pet.Header()
		prepare(t, []*volume.Volume{pet, ct}, volume.ResampleToMatch("ct"))
		for i, x := range floats(t, pet) {
			if want := level(ct, i); math.Abs(float64(x-want)) > 1e-4 {
				t.Errorf("world of %d: voxel %d is %v, want %v", world, i, x, want)
			}
		}
		if world == 3 {
			apart.Origin[2] += 0.4
			err := volume.Outline([]*volume.Volume{apart, ct.Header()}, volume.ResampleToMatch("ct"))
			if err == nil || !strings.Contains(err.Error(), "outside the grid") {
				t.Errorf("in another plane: got %v", err)
			}
		}
	}
}

func TestCanceledMatchingReturns(t *testing.T) {
	for _, angle := range []float64{0.3, 0.4} {
		for _, mask := range []bool{false, true} {
			pet, ct := made("pet", mask, []int{4, 4, 4}, []float64{2, 2, 2}, nil), made("ct", false, []int{4, 4, 4}, []float64{1, 1, 1}, nil)
			c, s := math.Cos(angle), math.Sin(angle)
			pet.Axes[2].Direction, pet.Axes[3].Direction = []float64{-s, c, 0}, []float64{c, s, 0}
			err := volume.Run(&ending{Context: t.Context(), after: 3}, []*volume.Volume{pet, ct}, volume.ResampleToMatch("ct"))
			if !errors.Is(err, context.Canceled) {
				t.Errorf("angle %v, mask %v: got %v", angle, mask, err)
			}
		}
	}
}

// ending is a context that is cancelled after a few calls.
type ending struct {
	context.Context
	after int
}

func (e *ending) Err() error {
	if e.after--; e.after < 0 {
		return context.Canceled
	}
	return nil
}
