package nrrd_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/penstock-go/penstock/dataset/volume/internal/nrrd"
)

// header reads a header with these lines after type and encoding.
func header(t *testing.T, lines ...string) *nrrd.Header {
	t.Helper()
	text := "NRRD0006\ntype: uchar\nencoding: raw\n" + strings.Join(lines, "\n") + "\n\n"
	h, err := nrrd.ReadHeader(files("f", text), "f")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestAffineLeadsFromIndicesToTheWorld(t *testing.T) {
	for _, c := range []struct {
		name   string
		lines  []string
		affine [4][4]float64
		axes   [3]int
		ok     bool
	}{
		{
			"three axes", []string{"dimension: 3", "sizes: 1 1 1", "space: LPS", "space origin: (10,20,30)", "space directions: (1,2,3) (4,5,6) (7,8,9)"},
			[4][4]float64{{1, 4, 7, 10}, {2, 5, 8, 20}, {3, 6, 9, 30}, {0, 0, 0, 1}}, [3]int{0, 1, 2}, true,
		}, {
			"vectors first", []string{"dimension: 4", "sizes: 3 1 1 1", "space: RAS", "space directions: none (2,0,0) (0,3,0) (0,0,4)"},
			[4][4]float64{{2, 0, 0, 0}, {0, 3, 0, 0}, {0, 0, 4, 0}, {0, 0, 0, 1}}, [3]int{1, 2, 3}, true,
		}, {
			"time as an axis of the world", []string{"dimension: 4", "sizes: 1 1 1 9", "space: LAST", "space origin: (1,2,3,4)", "space directions: (2,0,0,0) (0,3,0,0) (0,0,4,0) (0,0,0,5)"},
			[4][4]float64{{2, 0, 0, 1}, {0, 3, 0, 2}, {0, 0, 4, 3}, {0, 0, 0, 1}}, [3]int{0, 1, 2}, true,
		}, {
			"a slice", []string{"dimension: 2", "sizes: 1 1", "space dimension: 3", "space directions: (0,2,0) (0,0,2)"},
			[4][4]float64{{0, 0, 1, 0}, {2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 0, 1}}, [3]int{0, 1, -1}, true,
		},
		{"no directions", []string{"dimension: 1", "sizes: 1", "space: LPS"}, [4][4]float64{3: {3: 1}}, [3]int{-1, -1, -1}, false},
		{"no space", []string{"dimension: 1", "sizes: 1"}, [4][4]float64{3: {3: 1}}, [3]int{-1, -1, -1}, false},
	} {
		affine, axes, ok := header(t, c.lines...).Affine()
		if affine != c.affine || axes != c.axes || ok != c.ok {
			t.Errorf("%s: got %v %v %v, want %v %v %v", c.name, affine, axes, ok, c.affine, c.axes, c.ok)
		}
	}
	for _, lines := range [][]string{
		{"dimension: 2", "sizes: 1 1", "space dimension: 2", "space directions: (1,0) (0,1)"},
		{"dimension: 4", "sizes: 1 1 1 1", "space: LPS", "space directions: (1,0,0) (0,1,0) (0,0,1) (1,1,1)"},
		{"dimension: 4", "sizes: 1 1 1 1", "space dimension: 4", "space directions: (1,0,0,0) (0,1,0,0) (0,0,1,0) (0,0,0,1)"},
	} {
		if _, _, ok := header(t, lines...).Affine(); ok {
			t.Errorf("%v has an affine", lines)
		}
	}
}

func TestSpacingComesFromDirectionsElseFromSpacings(t *testing.T) {
	h := header(t, "dimension: 3", "sizes: 1 1 1", "space dimension: 2", "spacings: nan 2.5 5", "space directions: none none (3,4)")
	want := []float64{math.NaN(), 2.5, 5}
	if diff := cmp.Diff(want, h.Spacing(), cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("spacing: -want +got\n%s", diff)
	}
	if diff := cmp.Diff([][]float64{nil, nil, {0.6, 0.8}}, h.Directions(), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("directions: -want +got\n%s", diff)
	}
}

func TestSpacesHaveManyNames(t *testing.T) {
	for _, c := range []struct {
		names []string
		space string
		world string
		axes  int
	}{
		{[]string{"right-anterior-superior", "Right Anterior Superior", "rightanteriorsuperior", "RAS"}, "right-anterior-superior", "RAS", 3},
		{[]string{"left-anterior-superior", "left anterior superior", "LAS"}, "left-anterior-superior", "LAS", 3},
		{[]string{"left-posterior-superior", "leftposteriorsuperior", "lps"}, "left-posterior-superior", "LPS", 3},
		{[]string{"right-anterior-superior-time", "RAST"}, "right-anterior-superior-time", "RAS", 4},
		{[]string{"left-anterior-superior-time", "LAST"}, "left-anterior-superior-time", "LAS", 4},
		{[]string{"left-posterior-superior-time", "leftposteriorsuperiortime", "LPST"}, "left-posterior-superior-time", "LPS", 4},
		{[]string{"scanner-xyz"}, "scanner-xyz", "", 3},
		{[]string{"scanner-xyz-time", "scanner-xyzt"}, "scanner-xyz-time", "", 4},
		{[]string{"3D-right-handed", "3D right handed", "3Drighthanded"}, "3D-right-handed", "", 3},
		{[]string{"3D-left-handed-time", "3D left handed time"}, "3D-left-handed-time", "", 4},
		{[]string{"right-up", "right up"}, "right-up", "", 2},
		{[]string{"right-down", "right down"}, "right-down", "", 2},
	} {
		for _, name := range c.names {
			h := header(t, "dimension: 1", "sizes: 1", "space: "+name)
			if h.Space != c.space || h.World() != c.world || h.SpaceDimension != c.axes {
				t.Errorf("%s: got %s, %q, %d axes, want %s, %q, %d", name, h.Space, h.World(), h.SpaceDimension, c.space, c.world, c.axes)
			}
		}
	}
}

func TestKindsHaveManyNamesAndSizes(t *testing.T) {
	for name, c := range map[string]struct {
		kind string
		size string
	}{
		"RGB": {"RGB-color", "3"}, "rgbcolor": {"RGB-color", "3"}, "HSVcolor": {"HSV-color", "3"}, "RGBA": {"RGBA-color", "4"},
		"contravariant-vector": {"vector", "5"}, "Domain": {"domain", "5"}, "complex": {"complex", "2"}, "stub": {"stub", "1"},
		"2D-sym-tensor": {"2D-symmetric-matrix", "3"}, "2D-masked-sym-matrix": {"2D-masked-symmetric-matrix", "4"},
		"2D-tensor": {"2D-matrix", "4"}, "2D-masked-tensor": {"2D-masked-matrix", "5"},
		"3D-symmetric-tensor": {"3D-symmetric-matrix", "6"}, "3D-masked-symmetric-matrix": {"3D-masked-symmetric-matrix", "7"},
		"3D-matrix": {"3D-matrix", "9"}, "3D-masked-tensor": {"3D-masked-matrix", "10"}, "quaternion": {"quaternion", "4"},
		"???": {"", "5"}, "none": {"", "5"},
	} {
		if got := header(t, "dimension: 1", "sizes: "+c.size, "kinds: "+name).Kinds[0]; got != c.kind {
			t.Errorf("%s: got %s, want %s", name, got, c.kind)
		}
	}
}

func TestFieldsHaveManyNames(t *testing.T) {
	h := header(t, "Dimension: 1", "sizes: 5", "spacedimension: 1", "axismins: 1", "AxisMaxs: 2", "centerings: cell", "oldmin: 3", "oldmax:4",
		"lineskip: 5", "byteskip: 6", "sampleunits: a b", `spaceunits: "c"`, "spaceorigin: (7)", "spacedirections: ( 8 )", "measurementframe: (9)", "blocksize: 10")
	eight, three, four := []float64{8}, 3.0, 4.0
	want := nrrd.Header{
		Version: 6, Type: nrrd.Uint8, Encoding: nrrd.Raw, Sizes: []int{5}, SpaceDimension: 1, AxisMins: []float64{1}, AxisMaxs: []float64{2},
		Centers: []string{"cell"}, OldMin: &three, OldMax: &four, LineSkip: 5, ByteSkip: 6, SampleUnits: "a b", SpaceUnits: []string{"c"},
		SpaceOrigin: []float64{7}, SpaceDirections: [][]float64{eight}, MeasurementFrame: [][]float64{{9}}, BlockSize: 10,
	}
	if diff := cmp.Diff(want, *h, cmpopts.IgnoreUnexported(nrrd.Header{}, nrrd.DataFiles{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
