package volume_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-go/penstock/dataset"
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
		{"a/{patient}/{patient}*t1.nrrd", []string{"BraTS_1", "BraTS_2"}}, // the name at the second place is not as long as it could be
		{"b/img{patient}.nrrd", []string{"1", "22"}},
		{"b/{patient}.nrrd", []string{"img1", "img22", "x[1]"}},
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
	if got := dataset.ValuesOf[float32](sample["ct"])[0]; got != 2 || dataset.ValuesOf[uint8](sample["tumour"])[30] != 2 {
		t.Errorf("p2 has the scan of p%v or another mask", got)
	}
	if got := dataset.ValuesOf[float32](sampleOf(t, ds, 1)["ct"])[0]; got != 1 || ds.Name(1) != "x" {
		t.Errorf("%s has the scan of p%v", ds.Name(1), got)
	}
}

// TestNamesOfATableNeedNotBeThoseThatPatternsFind has files whose longest possible name of a patient is another one.
func TestNamesOfATableNeedNotBeThoseThatPatternsFind(t *testing.T) {
	file := nrrdFile(scanOf(0, 2, 2))
	fsys := fstest.MapFS{"a_ct.nrrd": file, "a[1]*.nrrd": file, "b_ct.nrrd": file}
	s, err := volume.Open(fsys, volume.Scan("ct", "{patient}*.nrrd"), volume.Patients(volume.Patient{Name: "b"}, volume.Patient{Name: "a_"}, volume.Patient{Name: "a[1]*"}))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(s.Names()); got != "[b a_ a[1]*]" {
		t.Errorf("got %s", got)
	}
	_, err = volume.Open(fsys, volume.Scan("ct", "[{patient}"), volume.Patients(volume.Patient{Name: "b"}))
	if want := `volume: patient b, ct: pattern "[{patient}": want no special characters but * and ?`; fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
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
		pet := dataset.ValuesOf[float32](x["pet"])
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

func TestWrongCohortsAreReportedTogether(t *testing.T) {
	_, err := volume.Open(fstest.MapFS{}, volume.Scan("", "{patient}"), volume.Scan("ct", "ct.nrrd"), volume.Mask("ct", "", volume.As(dataset.Bool)),
		volume.Mask("m", "{patient}", volume.Fill(-1)), volume.Mask("n", "{patient}", volume.Fill(0.5)), volume.Scan("o", "{patient}", volume.As(dataset.Int8), volume.Fill(-128)),
		volume.CacheSize(-1), volume.MaxBytes(0), volume.Tolerance(math.NaN()))
	want := `volume:  from {patient}: want a name
volume: ct: pattern "ct.nrrd": want {patient} in it
volume: two volumes are named "ct"
volume: ct: pattern "": want {patient} in it
volume: ct: As(bool): want an integer of fixed size or a float
volume: m: Fill(-1): want a value of uint8
volume: n: Fill(0.5): want a value of uint8
volume: CacheSize(-1): want 0 or more
volume: MaxBytes(0): want 1 or more
volume: Tolerance(NaN): want 0 or more`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
	for _, c := range []struct {
		options []volume.Option
		want    string
	}{
		{nil, "want a Scan or a Mask"},
		{[]volume.Option{volume.Scan("a", "[{patient}")}, "want no special characters but * and ?"},
		{[]volume.Option{volume.Scan("a", "{patient}.nrrd")}, "no file matches a from {patient}.nrrd"},
		{[]volume.Option{volume.Scan("a", ""), volume.Patients(volume.Patient{Name: "p"})}, "no file in the table, and no pattern"},
	} {
		if _, err := volume.Open(fstest.MapFS{}, c.options...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q in it", err, c.want)
		}
	}
	if _, err := volume.Open(patients(1), volume.Scan("ct", "{patient}/ct.nrrd"), volume.MaxBytes(239)); err == nil ||
		!strings.Contains(err.Error(), "patient p0, ct (p0/ct.nrrd): (1, 4, 5, 6): 240 bytes of values, more than MaxBytes(239)") {
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
		make func() (dataset.Dataset, error)
		want string
	}{
		{func() (dataset.Dataset, error) { return none.Whole() }, "no patients"},
		{func() (dataset.Dataset, error) { return none.Ragged() }, "no patients"},
		{func() (dataset.Dataset, error) { return none.Slices(t.Context()) }, "no patients"},
		{func() (dataset.Dataset, error) { return none.Patches([]int{1, 1, 1}) }, "no patients"},
		{func() (dataset.Dataset, error) {
			return s.Slices(t.Context(), volume.Views("oblique"), volume.NonEmpty("ct"))
		},
			"volume: slices: Views: want of [axial coronal sagittal], once each\nvolume: slices: NonEmpty: \"ct\" is a Scan: want a Mask"},
		{func() (dataset.Dataset, error) {
			return s.Slices(t.Context(), volume.Views("axial", "coronal"))
		},
			"axial slices of patient p0 have the shape (5, 6), coronal slices of patient p0 have (4, 6): SliceShape or a preparation"},
		{func() (dataset.Dataset, error) { return s.Slices(t.Context(), volume.SliceShape(0, 1)) }, "SliceShape(0, 1): want positive"},
		{func() (dataset.Dataset, error) { return s.Patches([]int{1, 1}) }, "shape (1, 1): want 3 positive numbers"},
		{func() (dataset.Dataset, error) {
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
	if _, err := s.Load(t.Context(), 1); err == nil {
		t.Error("Load of a patient that is not there: want an error")
	}
}

func TestSubsetsShareTheCache(t *testing.T) {
	s := cohortOf(t, patients(3))
	some, err := s.Subset([]int{2, 0})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(some.Names(), some.Bytes()); got != "[p2 p0] 720" {
		t.Errorf("got %s", got)
	}
	x := sampleOf(t, cut(t)(some.Whole()), 0)
	if got := fmt.Sprint(dataset.ValuesOf[float32](x["ct"])[0], x["patient"].Data()); got != "2 0" {
		t.Errorf("got the scan and number %s", got)
	}
	volumes, err := s.Load(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Stats(); got.Hits != 1 || got.Misses != 1 || volumes[0].Name != "ct" {
		t.Errorf("got %+v", got)
	}
}
