package volume_test

import (
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset/volume"
)

func TestPatientsAreFoundByPatterns(t *testing.T) {
	file := nrrdFile(scanOf(0, 2, 2))
	fsys := fstest.MapFS{}
	for _, name := range []string{
		"a/BraTS_1/BraTS_1_t1.nrrd", "a/BraTS_1/BraTS_1_t2.nrrd", "a/BraTS_2/BraTS_2_t1.nrrd", "a/BraTS_2/BraTS_1_t1.nrrd",
		"b/img1.nrrd", "b/img22.nrrd", "b/._img1.nrrd", "b/x[1].nrrd", "b/x.txt", "c/p/scan-17.nrrd", "c/q*/scan-3.nrrd", "c/q*/other.nrrd",
	} {
		fsys[name] = file
	}
	for _, c := range []struct {
		pattern string
		want    []string
	}{
		{"a/{patient}/{patient}_t1.nrrd", []string{"BraTS_1", "BraTS_2"}},
		{"a/BraTS_{patient}/*_{patient}_t2.nrrd", []string{"1"}},
		{"b/img{patient}.nrrd", []string{"1", "22"}},
		{"b/{patient}.nrrd", []string{"img1", "img22", "x[1]"}},
		{"b/{patient}[1].nrrd", []string{"img"}},
		{`b/{patient}\[1].nrrd`, []string{"x"}},
		{"b/{patient}[^0-8].nrrd", []string{"x[1"}},
		{"b/{patient}.dcm", nil},
		{"b/{patient}?.nrrd", []string{"img", "img2", "x[1"}},
		{"c/{patient}/scan-*.nrrd", []string{"p", "q*"}},
	} {
		s, err := volume.Open(fsys, volume.Scan("x", c.pattern))
		if len(c.want) == 0 {
			if err == nil || !strings.Contains(err.Error(), "no file matches") {
				t.Errorf("%s: got %v", c.pattern, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
		} else if diff := cmp.Diff(c.want, s.Names()); diff != "" {
			t.Errorf("%s: want -, got +\n%s", c.pattern, diff)
		}
	}
}

func TestMissingVolumesAreReportedTogether(t *testing.T) {
	fsys := patients(3)
	delete(fsys, "p0/ct.nrrd")
	delete(fsys, "p2/tumour.nrrd")
	fsys["p1/ct2.nrrd"] = fsys["p1/ct.nrrd"]
	ct, tumour := volume.Scan("ct", "{patient}/ct*.nrrd"), volume.Mask("tumour", "{patient}/tumour.nrrd")
	_, err := volume.Open(fsys, ct, tumour)
	want := `volume: patient p0, ct: no file matches p0/ct*.nrrd: file does not exist
volume: patient p1, ct: 2 files match {patient}/ct*.nrrd: p1/ct.nrrd, p1/ct2.nrrd: want one
volume: patient p2, tumour: no file matches p2/tumour.nrrd: file does not exist`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}

	_, err = volume.Open(fsys, ct, tumour, volume.Patients(volume.Patient{Name: "p2", Files: map[string]string{"pet": "x", "tumour": "none.nrrd"}},
		volume.Patient{Name: "p9"}, volume.Patient{Name: "p9"}))
	want = `volume: patient p2: file of "pet", which is not a Scan or Mask of the cohort
volume: patient p9, ct: no file matches p9/ct*.nrrd: file does not exist
volume: patient p9, tumour: no file matches p9/tumour.nrrd: file does not exist
volume: patient "p9": want a name, and no other patient with it`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("of a table: want -, got +\n%s", diff)
	}
}

func TestTableOfPatientsGivesOrderAndFiles(t *testing.T) {
	fsys := patients(3)
	s, err := volume.Open(fsys, volume.Scan("ct", "{patient}/ct.nrrd"), volume.Mask("tumour", ""),
		volume.Patients(volume.Patient{Name: "p2", Files: map[string]string{"tumour": "p0/tumour.nrrd"}},
			volume.Patient{Name: "x", Files: map[string]string{"tumour": "p1/tumour.nrrd", "ct": "p1/ct.nrrd"}}))
	if err != nil {
		t.Fatal(err)
	}
	ds := cut(t)(s.Whole())
	sample := sampleOf(t, ds, 0)
	if got := sample["ct"].Data().([]float32)[0]; got != 2 || sample["tumour"].Data().([]uint8)[30] != 2 {
		t.Errorf("p2 has the scan of p%v or another mask", got)
	}
	if got := sampleOf(t, ds, 1)["ct"].Data().([]float32)[0]; got != 1 || ds.Name(1) != "x" {
		t.Errorf("%s has the scan of p%v", ds.Name(1), got)
	}
}

func TestOptionalVolumesMayBeMissing(t *testing.T) {
	fsys := patients(2)
	fsys["p1/pet.nrrd"] = nrrdFile(scanOf(7, 4, 5, 6))
	delete(fsys, "p0/tumour.nrrd")
	s, err := volume.Open(fsys, volume.Scan("ct", "{patient}/ct.nrrd"), volume.Mask("tumour", "{patient}/tumour.nrrd", volume.Optional()),
		volume.Scan("pet", "{patient}/pet.nrrd", volume.Optional(), volume.Fill(-1)))
	if err != nil {
		t.Fatal(err)
	}
	ds := cut(t)(s.Patches([]int{4, 5, 6}, volume.Positives("tumour", 1)))
	for i, want := range []string{"-1 -1 false false", "7 1197 true true"} {
		x := sampleOf(t, ds, i)
		pet := x["pet"].Data().([]float32)
		if got := fmt.Sprint(pet[0], pet[119], x["pet_present"].Data(), x["tumour_present"].Data()); got != want {
			t.Errorf("patient %d: got %s, want %s", i, got, want)
		}
	}
	if h := s.Headers(0); h[2] != nil || h[0] == nil {
		t.Errorf("headers %v", h)
	}
	if _, err := s.Slices(t.Context(), volume.NonEmpty("tumour")); err != nil {
		t.Errorf("a patient without the mask has no slices: %v", err)
	}
}

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
	s, err := volume.Open(fstest.MapFS{"a.nrrd": nrrdFile(v)}, volume.Scan("flow", "{patient}.nrrd", volume.As(tensor.Int16)))
	if err != nil {
		t.Fatal(err)
	}
	got := sampleOf(t, cut(t)(s.Whole()), 0)["flow"]
	if !slices.Equal(got.Shape(), []int{2, 2, 3, 4}) {
		t.Fatalf("shape %v", got.Shape())
	}
	for i, x := range got.Data().([]int16) {
		if want := int16(10 * (2*(i%24) + i/24)); x != want {
			t.Fatalf("value %d: got %d, want %d", i, x, want)
		}
	}
}

func TestWrongCohortsAreReportedTogether(t *testing.T) {
	_, err := volume.Open(fstest.MapFS{}, volume.Scan("", "{patient}"), volume.Scan("ct", "ct.nrrd"), volume.Mask("ct", "", volume.As(tensor.Bool)),
		volume.Mask("m", "{patient}", volume.Fill(-1)), volume.Mask("n", "{patient}", volume.Fill(0.5)), volume.Scan("o", "{patient}", volume.As(tensor.Int8), volume.Fill(-128)),
		volume.CacheSize(-1), volume.MaxSize(0), volume.Tolerance(math.NaN()))
	want := `volume:  from {patient}: want a name
volume: ct: pattern "ct.nrrd": want {patient} in it
volume: two volumes are named "ct"
volume: ct: pattern "": want {patient} in it
volume: ct: As(bool): want an integer of fixed size or a float
volume: m: Fill(-1): want a value of uint8
volume: n: Fill(0.5): want a value of uint8
volume: CacheSize(-1): want 0 or more
volume: MaxSize(0): want 1 or more
volume: Tolerance(NaN): want 0 or more`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
	for _, c := range []struct {
		options []volume.Option
		want    string
	}{
		{nil, "want a Scan or a Mask"},
		{[]volume.Option{volume.Scan("a", "[{patient}")}, "syntax error in pattern"},
		{[]volume.Option{volume.Scan("a", "{patient}.nrrd")}, "no file matches a from {patient}.nrrd"},
		{[]volume.Option{volume.Scan("a", ""), volume.Patients(volume.Patient{Name: "p"})}, "no file in the table, and no pattern"},
	} {
		if _, err := volume.Open(fstest.MapFS{}, c.options...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q in it", err, c.want)
		}
	}
	if _, err := volume.Open(patients(1), volume.Scan("ct", "{patient}/ct.nrrd"), volume.MaxSize(239)); err == nil ||
		!strings.Contains(err.Error(), "patient p0, ct (p0/ct.nrrd): (1, 4, 5, 6): 240 bytes of values, more than MaxSize(239)") {
		t.Errorf("too large: got %v", err)
	}
}

func TestWrongCutsAreReported(t *testing.T) {
	s := cohortOf(t, patients(1))
	none, err := s.Subset(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		make func() (*volume.Cut, error)
		want string
	}{
		{func() (*volume.Cut, error) { return none.Whole() }, "no patients"},
		{func() (*volume.Cut, error) { return none.Ragged() }, "no patients"},
		{func() (*volume.Cut, error) { return none.Slices(t.Context()) }, "no patients"},
		{func() (*volume.Cut, error) { return none.Patches([]int{1, 1, 1}) }, "no patients"},
		{func() (*volume.Cut, error) {
			return s.Slices(t.Context(), volume.Views(volume.View(3)), volume.NonEmpty("ct"))
		},
			"volume: slices: View(3): want Axial, Coronal and Sagittal, once each\nvolume: slices: NonEmpty: \"ct\" is a Scan: want a Mask"},
		{func() (*volume.Cut, error) { return s.Slices(t.Context(), volume.Views(volume.Axial, volume.Coronal)) },
			"axial slices of patient p0 have the shape (5, 6), coronal slices of patient p0 have (4, 6): SliceShape or a preparation"},
		{func() (*volume.Cut, error) { return s.Slices(t.Context(), volume.SliceShape(0, 1)) }, "SliceShape(0, 1): want positive"},
		{func() (*volume.Cut, error) { return s.Patches([]int{1, 1}) }, "shape (1, 1): want 3 positive numbers"},
		{func() (*volume.Cut, error) {
			return s.Patches(nil, volume.PerPatient(0), volume.Positives("lung", 2))
		}, "volume: patches: shape (): want 3 positive numbers\nvolume: patches: PerPatient(0): want 1 or more\n" +
			"volume: patches: Positives: the cohort has no volume \"lung\"\nvolume: patches: Positives(lung, 2): want a ratio from 0 to 1"},
	} {
		if _, err := c.make(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q in it", err, c.want)
		}
	}
	if _, err := s.Subset([]int{1}); err == nil {
		t.Error("Subset of a patient that is not there: want an error")
	}
	if _, _, err := s.Load(t.Context(), 1); err == nil {
		t.Error("Load of a patient that is not there: want an error")
	}
}

func TestSubsetsShareTheCache(t *testing.T) {
	s := cohortOf(t, patients(3))
	some, err := s.Subset([]int{2, 0})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(some.Names(), some.Len(), some.Bytes()); got != "[p2 p0] 2 720" {
		t.Errorf("got %s", got)
	}
	x := sampleOf(t, cut(t)(some.Whole()), 0)
	if got := fmt.Sprint(x["ct"].Data().([]float32)[0], x["patient"].Data()); got != "2 0" {
		t.Errorf("got the scan and number %s", got)
	}
	volumes, release, err := s.Load(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if got := s.Stats(); got.Hits != 1 || got.Misses != 1 || volumes[0].Name != "ct" {
		t.Errorf("got %+v", got)
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
		return volume.Open(fsys, volume.Scan("ct", "{patient}.nrrd"), volume.Prepare(volume.Enlarge("", outlined, made)), volume.MaxSize(1000))
	}
	s, err := cohort(3, 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, release, err := s.Load(t.Context(), 0); err != nil {
		t.Error(err)
	} else {
		release()
	}
	if _, err := cohort(1000, 1); err == nil || !strings.Contains(err.Error(), "48000 bytes of values, more than MaxSize(1000)") {
		t.Errorf("made too large: got %v", err)
	}
	liar, err := cohort(3, 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := liar.Load(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "made the shape (1, 4, 3, 4), want (1, 6, 3, 4) as planned") {
		t.Errorf("another shape than outlined: got %v", err)
	}
	if s, err = cohort(3, 3); err != nil {
		t.Fatal(err)
	}
	fsys["p.nrrd"] = nrrdFile(scanOf(0, 4, 3, 4))
	if _, _, err := s.Load(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "the file has changed: its volume has the shape (1, 12, 3, 4), it had (1, 6, 3, 4)") {
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
		{[]volume.Step{volume.Flip()}, "ct has the shape (4, 5, 6), pet has (2, 3, 4): ResampleToMatch puts"},
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
		volumes, release, err := s.Load(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		values, err := volumes[1].Float32()
		if err != nil || volumes[1].Fill != -3 || len(values) != 120 || values[0] != -3 || values[1] != 0 {
			t.Errorf("got %v, %v, filled with %v", volumes[1], values, volumes[1].Fill)
		}
		release()
		if ds := cut(t)(s.Slices(t.Context())); ds.Len() != 4 {
			t.Errorf("%d slices, want those of the prepared shape", ds.Len())
		}
	}
}
