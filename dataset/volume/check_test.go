package volume_test

import (
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume"
)

func TestVolumesOfAPatientMustAgree(t *testing.T) {
	moved := func(change func(v *volume.Volume)) *volume.Volume {
		v := maskOf([]int{4, 5, 6}, nil)
		change(v)
		return v
	}
	for _, c := range []struct {
		mask *volume.Volume
		want string // "" for agreement
	}{
		{maskOf([]int{4, 5, 7}, nil), "ct has the shape (4, 5, 6), tumour has (4, 5, 7)"},
		{maskOf([]int{5, 6}, nil), "ct has the shape (4, 5, 6), tumour has (5, 6)"},
		{moved(func(v *volume.Volume) { v.Axes[1].Spacing = 2.5 }), "are on different grids: spacings of 3×2×1 and 3×2.5×1 mm"},
		{moved(func(v *volume.Volume) { v.Origin[2] += 0.5 }), "are on different grids: voxel [0 0 0] is at [-5 6 7] and at [-5 6 7.5] mm"},
		{moved(func(v *volume.Volume) { v.Axes[2].Direction = []float64{-1, 0, 0} }), "are on different grids: voxel [0 0 5]"},
		{moved(func(v *volume.Volume) { v.World = "RAS" }), "are on different grids: voxel [0 0 0] is at [-5 6 7] and at [5 -6 7]"},
		{moved(func(v *volume.Volume) { v.Origin[2] += 0.009 }), ""},
		{moved(func(v *volume.Volume) { v.Axes[1].Spacing += 0.001 }), ""},
		{moved(func(v *volume.Volume) { // the same position, written in another way
			v.World = "RAS"
			v.Origin = []float64{5, -6, 7}
			v.Axes[1].Direction, v.Axes[2].Direction = []float64{0, -1, 0}, []float64{-1, 0, 0}
		}), ""},
		{moved(func(v *volume.Volume) { v.Origin = nil }), ""}, // nothing to compare
	} {
		fsys := fstest.MapFS{"p/ct.nrrd": nrrdFile(scanOf(0, 4, 5, 6)), "p/tumour.nrrd": nrrdFile(c.mask)}
		options := []volume.Option{volume.Scan("ct", "{patient}/ct.nrrd"), volume.Mask("tumour", "{patient}/tumour.nrrd")}
		_, err := volume.Open(fsys, options...)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), "volume: patient p: ") || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("got %v, want %q", err, c.want)
		}
		if _, err := volume.Open(fsys, append(options, volume.Tolerance(math.Inf(1)))...); (err != nil) != strings.Contains(c.want, "shape") {
			t.Errorf("any place allowed: got %v", err)
		}
	}
}

func TestPatientsMustHaveTheSameChannelsAndAxes(t *testing.T) {
	three := scanOf(0, 3, 2, 2, 2)
	three.Axes[0] = volume.Axis{Kind: "list"}
	for k := range 3 {
		d := make([]float64, 3)
		d[2-k] = 1
		three.Axes[k+1].Direction = d
	}
	for _, c := range []struct {
		second *volume.Volume
		want   string
	}{
		{three, "volume: ct has 1 channels in patient a, 3 in b"},
		{scanOf(0, 2, 2), "volume: patient b has 2 spatial axes, a has 3"},
	} {
		_, err := volume.Open(fstest.MapFS{"a.nrrd": nrrdFile(scanOf(0, 2, 2, 2)), "b.nrrd": nrrdFile(c.second)}, volume.Scan("ct", "{patient}.nrrd"))
		if fmt.Sprint(err) != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestComponentsOfAVoxelBecomeChannels(t *testing.T) {
	v := scanOf(0, 2, 3, 4, 2) // two values side by side
	for k := range 3 {
		d := make([]float64, 3)
		d[2-k] = 1
		v.Axes[k].Direction = d
	}
	v.Axes[3] = volume.Axis{Kind: "vector"}
	s, err := volume.Open(fstest.MapFS{"a.nrrd": nrrdFile(v)}, volume.Scan("flow", "{patient}.nrrd", volume.As(dataset.Int16)))
	if err != nil {
		t.Fatal(err)
	}
	got := sampleOf(t, cut(t)(s.Whole()), 0)["flow"]
	if !slices.Equal(got.Shape(), []int{2, 2, 3, 4}) {
		t.Fatalf("shape %v", got.Shape())
	}
	for i, x := range dataset.ValuesOf[int16](got) {
		if want := int16(10 * (2*(i%24) + i/24)); x != want {
			t.Fatalf("value %d: got %d, want %d", i, x, want)
		}
	}
}

// unreadable fails to open files.
type unreadable struct{ fstest.MapFS }

func (u unreadable) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, "1/ct.nrrd") {
		return nil, fs.ErrPermission
	}
	return u.MapFS.Open(name)
}

func TestUnreadableHeaderNamesPatientAndFile(t *testing.T) {
	_, err := volume.Open(unreadable{patients(3)}, volume.Scan("ct", "{patient}/ct.nrrd"))
	if err == nil || !strings.Contains(err.Error(), "volume: patient p1, ct (p1/ct.nrrd): ") || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("got %v", err)
	}
}

func TestPreparationsMustMakeWhatTheyOutline(t *testing.T) {
	fsys := fstest.MapFS{"p.nrrd": nrrdFile(scanOf(0, 2, 3, 4))}
	cohort := func(outlined, made int) (*volume.Cohort, error) {
		return volume.Open(fsys, volume.Scan("ct", "{patient}.nrrd"), volume.Prepare(volume.Enlarge("", outlined, made)), volume.MaxBytes(1000))
	}
	s, err := cohort(3, 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(t.Context(), 0); err != nil {
		t.Error(err)
	}
	if _, err := cohort(1000, 1); err == nil || !strings.Contains(err.Error(), "48000 bytes of values, more than MaxBytes(1000)") {
		t.Errorf("made too large: got %v", err)
	}
	liar, err := cohort(3, 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := liar.Load(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "made the shape (1, 4, 3, 4), want (1, 6, 3, 4) as planned") {
		t.Errorf("another shape than outlined: got %v", err)
	}
	if s, err = cohort(3, 3); err != nil {
		t.Fatal(err)
	}
	fsys["p.nrrd"] = nrrdFile(scanOf(0, 4, 3, 4))
	if _, err := s.Load(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "the file has changed: its volume has the shape (1, 12, 3, 4), it had (1, 6, 3, 4)") {
		t.Errorf("another file: got %v", err)
	}
}

func TestOnlyMatchingAcceptsVolumesOnDifferentGrids(t *testing.T) {
	pet := scanOf(0, 2, 3, 4)
	pet.Origin[0]++
	fsys := fstest.MapFS{"p/ct.nrrd": nrrdFile(scanOf(0, 4, 5, 6)), "p/pet.nrrd": nrrdFile(pet)}
	for _, c := range []struct {
		steps []volume.Step
		want  string
	}{
		{[]volume.Step{volume.ResampleToMatch("ct")}, ""},
		{[]volume.Step{volume.MinMax()}, "ct has the shape (4, 5, 6), pet has (2, 3, 4): ResampleToMatch puts"},
		{[]volume.Step{volume.ResampleToMatch("ct"), volume.Enlarge("pet", 2, 2)}, "ct has the shape (4, 5, 6), pet has (8, 5, 6), after preparation"},
	} {
		s, err := volume.Open(fsys, volume.Scan("ct", "{patient}/ct.nrrd"), volume.Scan("pet", "{patient}/pet.nrrd", volume.Fill(-3)), volume.Prepare(c.steps...))
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: got %v, want %q in it", c.steps, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		h := s.Headers(0)[1]
		if h.Fill != -3 || h.Shape[3] != 6 {
			t.Errorf("got %v, filled with %v", h, h.Fill)
		}
		volumes, err := s.Load(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		values, err := volumes[1].Float32()
		if err != nil || volumes[1].Fill != -3 || len(values) != 120 || values[0] != -3 || values[1] != 0 {
			t.Errorf("got %v, %v, filled with %v", volumes[1], values, volumes[1].Fill)
		}
		if ds := cut(t)(s.Slices(t.Context())); ds.Len() != 4 {
			t.Errorf("%d slices, want those of the prepared shape", ds.Len())
		}
	}
}
