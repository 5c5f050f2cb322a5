package volume_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume"
	"github.com/penstock-go/penstock/internal/datatest"
)

func TestWholeVolumesAreTheFiles(t *testing.T) {
	ds := cut(t)(cohortOf(t, patients(2)).Whole())
	if got, want := fmt.Sprint(ds.Spec()), "ct float32 (1, 4, 5, 6), tumour uint8 (1, 4, 5, 6), patient int64 ()"; got != want {
		t.Errorf("spec: got %s, want %s", got, want)
	}
	s := sampleOf(t, ds, 1)
	ct, tumour := dataset.ValuesOf[float32](s["ct"]), dataset.ValuesOf[uint8](s["tumour"])
	for i, x := range ct {
		if x != float32(10*i+1) {
			t.Fatalf("voxel %d: got %v", i, x)
		}
	}
	if tumour[61] != 1 || tumour[31] != 2 || tumour[30] != 0 || dataset.ValuesOf[int64](s["patient"])[0] != 1 {
		t.Errorf("other labels or patient: %v", s)
	}
	if got := ds.Name(1); got != "p1" {
		t.Errorf("name %q", got)
	}
}

func TestRaggedVolumesTellTheirShape(t *testing.T) {
	fsys := fstest.MapFS{}
	for p, shape := range [][]int{{4, 2, 3}, {1, 2, 3}} {
		fsys[fmt.Sprintf("%d_ct.nrrd", p)] = nrrdFile(scanOf(0, shape...))
	}
	scan := volume.Scan("ct", "{patient}_ct.nrrd", volume.As(dataset.Int16))
	s, err := volume.Open(fsys, scan)
	if err != nil {
		t.Fatal(err)
	}
	ds := cut(t)(s.Ragged())
	if got, want := fmt.Sprint(ds.Spec()), "ct int16 (n), patient int64 (), shape int64 (3)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	sample := sampleOf(t, ds, 0)
	if got := sample["ct"].Shape(); !slices.Equal(got, []int{24}) {
		t.Errorf("got the shape %v", got)
	}
	if _, err := s.Whole(); err == nil || !strings.Contains(err.Error(), "patient 0 has the shape (4, 2, 3), 1 has (1, 2, 3)") {
		t.Errorf("Whole: got %v", err)
	}

	fsys["2_ct.nrrd"] = nrrdFile(scanOf(0, 2, 5, 3))
	if s, err = volume.Open(fsys, scan); err != nil {
		t.Fatal(err)
	}
	ds = cut(t)(s.Ragged())
	sample = sampleOf(t, ds, 2)
	if got := dataset.ValuesOf[int16](sample["ct"]); len(got) != 30 || got[29] != 290 {
		t.Errorf("planes of many shapes: got %v", got)
	}
	if got := dataset.ValuesOf[int64](sample["shape"]); !slices.Equal(got, []int64{2, 5, 3}) {
		t.Errorf("planes of many shapes: got the shape %v", got)
	}
}

var views = []string{"axial", "coronal", "sagittal"}

func TestSlicesAreThoseOfThreeViews(t *testing.T) {
	ds := cut(t)(cohortOf(t, patients(2)).Slices(t.Context(), volume.Views("axial", "coronal", "sagittal"), volume.SliceShape(5, 6)))
	if got := ds.Len(); got != 2*(4+5+6) {
		t.Fatalf("%d slices", got)
	}
	seen := map[string]bool{}
	for i := range ds.Len() {
		s := sampleOf(t, ds, i)
		ct := dataset.ValuesOf[float32](s["ct"])
		p, view, at := dataset.ValuesOf[int64](s["patient"])[0], views[dataset.ValuesOf[int64](s["view"])[0]], int(dataset.ValuesOf[int64](s["slice"])[0])
		name := fmt.Sprintf("p%d, %v slice %d", p, view, at)
		if got := ds.Name(i); got != name {
			t.Errorf("slice %d: name %q, want %q", i, got, name)
		}
		seen[name] = true
		// Coronal slices are (4, 6) and sagittal ones (4, 5), so they are padded at
		// the end by a row, and by a column.
		for row := range 5 {
			for column := range 6 {
				z, y, x := at, row, column
				switch view {
				case "coronal":
					z, y, x = row, at, column
				case "sagittal":
					z, y, x = row, column, at
				}
				want := float32(10*((z*5+y)*6+x) + int(p))
				if z > 3 || y > 4 {
					want = -1000
				}
				if got := ct[6*row+column]; got != want {
					t.Fatalf("%s, row %d, column %d: got %v, want %v", name, row, column, got, want)
				}
			}
		}
	}
	if len(seen) != ds.Len() {
		t.Errorf("%d different slices of %d", len(seen), ds.Len())
	}
	if got, want := volume.Ends(ds), []int{15, 30}; !slices.Equal(got, want) {
		t.Errorf("ends %v, want %v", got, want)
	}
}

func TestViewsFollowTheBody(t *testing.T) {
	v := scanOf(0, 4, 5, 6)
	// Scanned from side to side: the slowest axis runs left, the fastest down.
	v.Axes[0].Direction = []float64{0.96, 0, 0.28}
	v.Axes[1].Direction = []float64{0.28, -0.96, 0}
	v.Axes[2].Direction = []float64{0, 0.28, -0.96}
	s, err := volume.Open(fstest.MapFS{"a.nrrd": nrrdFile(v)}, volume.Scan("mr", "{patient}.nrrd"))
	if err != nil {
		t.Fatal(err)
	}
	for view, want := range []string{"(1, 4, 5)", "(1, 4, 6)", "(1, 5, 6)"} {
		ds := cut(t)(s.Slices(t.Context(), volume.Views(views[view])))
		if got := ds.Spec()[0].String(); got != "mr float32 "+want {
			t.Errorf("%v: got %s, want %s", views[view], got, want)
		}
	}
}

func TestEmptySlicesAreDropped(t *testing.T) {
	s := cohortOf(t, patients(2))
	for _, c := range []struct {
		options []volume.SliceOption
		want    []string
	}{
		{[]volume.SliceOption{volume.NonEmpty("tumour")},
			[]string{"p0, axial slice 1", "p0, axial slice 2", "p1, axial slice 1", "p1, axial slice 2"}},
		{[]volume.SliceOption{volume.Views("sagittal"), volume.NonEmpty("tumour", 2)},
			[]string{"p0, sagittal slice 0", "p1, sagittal slice 1"}},
		{[]volume.SliceOption{volume.Views("coronal"), volume.NonEmpty("tumour", 1, 7)},
			[]string{"p0, coronal slice 0", "p1, coronal slice 0"}},
	} {
		ds := cut(t)(s.Slices(t.Context(), c.options...))
		var got []string
		for i := range ds.Len() {
			got = append(got, ds.Name(i))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("want -, got +\n%s", diff)
		}
	}
	if _, err := s.Slices(t.Context(), volume.NonEmpty("tumour", 9)); err == nil {
		t.Error("a label that nobody has: want an error")
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Slices(canceled, volume.NonEmpty("tumour")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

func TestPatchesOfAllVolumesAreCutAtTheSamePlace(t *testing.T) {
	ds := cut(t)(cohortOf(t, patients(2)).Patches([]int{2, 3, 9}, volume.PerPatient(20)))
	starts := map[string]int{}
	r, s := opened(t, ds)
	for i := range ds.Len() {
		datatest.Reset(s, 1, 2, i)
		if err := r.Place(t.Context(), i, s); err != nil {
			t.Fatal(err)
		}
		ct, mask, start := dataset.Row[float32](s, 0), dataset.Row[uint8](s, 1), dataset.Row[int64](s, 3)
		p := int(dataset.Row[int64](s, 2)[0])
		starts[fmt.Sprint(start)]++
		for k := range ct {
			z, y, x := k/27+int(start[0]), k/9%3+int(start[1]), k%9+int(start[2])
			want, label := float32(10*((z*5+y)*6+x)+p), uint8(0)
			if x < 0 || x >= 6 {
				want = -1000
			} else if at := (z*5+y)*6 + x; at == 61 || at == 62 {
				label = 1
			} else if at == 30+p {
				label = 2
			}
			if ct[k] != want || mask[k] != label {
				t.Fatalf("patch %d at %v, voxel %d: got %v, %d, want %v, %d", i, start, k, ct[k], mask[k], want, label)
			}
		}
	}
	if len(starts) != 9 || starts["[0 0 -1]"] == 0 || starts["[2 2 -1]"] == 0 {
		t.Errorf("of 40 patches at 9 places: %v", starts)
	}
}

func opened(t testing.TB, ds dataset.Dataset) (dataset.Reader, dataset.Slot) {
	t.Helper()
	return datatest.Open(t, ds), dataset.NewSlot(ds.Spec()...)
}

func TestPositivesHaveTheirRatio(t *testing.T) {
	fsys := patients(1)
	fsys["p1/ct.nrrd"] = nrrdFile(scanOf(0, 4, 5, 6))
	fsys["p1/tumour.nrrd"] = nrrdFile(maskOf([]int{4, 5, 6}, nil))
	cohort := cohortOf(t, fsys)
	const n = 3000
	for _, c := range []struct {
		labels []int
		ratio  float64
		places int
	}{{nil, 0.25, 3}, {[]int{2}, 0.8, 1}, {[]int{1, 2}, 1, 3}, {nil, 0, 0}} {
		ds := cut(t)(cohort.Patches([]int{1, 1, 1}, volume.PerPatient(n), volume.Positives("tumour", c.ratio, c.labels...)))
		r, s := opened(t, ds)
		positive, empty := map[string]int{}, map[string]int{}
		for i := range ds.Len() {
			datatest.Reset(s, 5, 0, i)
			if err := r.Place(t.Context(), i, s); err != nil {
				t.Fatal(err)
			}
			label, place := dataset.Row[uint8](s, 1)[0], fmt.Sprint(dataset.Row[int64](s, 3))
			if i >= n {
				empty[place]++
			} else if label != 0 && (len(c.labels) == 0 || slices.Contains(c.labels, int(label))) {
				positive[place]++
			}
		}
		sum := 0
		for place, k := range positive {
			sum += k
			// Every place is equally likely: within five standard deviations.
			if p := c.ratio / float64(c.places); math.Abs(float64(k)-n*p) > 5*math.Sqrt(n*p*(1-p)) {
				t.Errorf("%v of %v: place %s %d times of %d", c.ratio, c.labels, place, k, n)
			}
		}
		if math.Abs(float64(sum)-n*c.ratio) > 5*math.Sqrt(n*c.ratio*(1-c.ratio)) || len(positive) != c.places {
			t.Errorf("%v of %v: %d positives at %d places", c.ratio, c.labels, sum, len(positive))
		}
		if len(empty) != 120 {
			t.Errorf("%v of %v: a patient without labels has patches at %d places of 120", c.ratio, c.labels, len(empty))
		}
	}
}
