package nifti_test

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/penstock-go/penstock/dataset/volume/internal/nifti"
	"github.com/penstock-go/penstock/internal/datatest"
)

// A golden is what nibabel reads from a file.
type golden struct {
	Dtype      string
	Sizes      []int
	SHA256     string
	Version    int
	Affine     []float64
	Placed     bool
	Qform      []float64
	Codes      []int
	Pixdim     [7]float64
	Scale      [2]float64
	Intent     [3]float64
	Text       [3]string
	Dims       [3]int
	Slices     [2]int
	Times, Cal [2]float64
	Units      int
	Extensions [][2]any
}

func goldens(t testing.TB) (g map[string]golden) {
	t.Helper()
	datatest.Golden(t, &g)
	return g
}

func TestFilesReadAsNibabelReadsThem(t *testing.T) {
	want := goldens(t)
	if len(want) < 30 {
		t.Fatalf("%d golden files", len(want))
	}
	for name, want := range want {
		t.Run(name, func(t *testing.T) {
			fsys := os.DirFS("testdata/files")
			m, err := nifti.Read(fsys, name, 0)
			if err != nil {
				t.Fatal(err)
			}
			compareData(t, m, want)
			compareHeader(t, &m.Header, want)
			compareGeometry(t, &m.Header, want)
		})
	}
}

func compareData(t *testing.T, m *nifti.Image, want golden) {
	if got := m.Dtype.String(); got != want.Dtype {
		t.Errorf("dtype: got %s, want %s", got, want.Dtype)
	}
	if !slices.Equal(m.Sizes, want.Sizes) {
		t.Errorf("sizes: got %v, want %v", m.Sizes, want.Sizes)
	}
	if got := sum(m.Data); got != want.SHA256 {
		t.Errorf("data: got %s, want %s", got, want.SHA256)
	}
}

func compareHeader(t *testing.T, h *nifti.Header, want golden) {
	slope, inter := h.Scale()
	got := golden{
		Dtype: want.Dtype, Sizes: want.Sizes, SHA256: want.SHA256, Affine: want.Affine, Placed: want.Placed, Qform: want.Qform,
		Version: h.Version, Codes: []int{h.QformCode, h.SformCode, h.IntentCode, h.SliceCode}, Pixdim: h.Pixdim,
		Scale: [2]float64{slope, inter}, Intent: h.IntentP, Text: [3]string{h.IntentName, h.Descrip, h.AuxFile},
		Dims: [3]int{h.FreqDim, h.PhaseDim, h.SliceDim}, Slices: [2]int{h.SliceStart, h.SliceEnd},
		Times: [2]float64{h.SliceDuration, h.Toffset}, Cal: [2]float64{h.CalMin, h.CalMax}, Units: h.Units,
		Extensions: [][2]any{},
	}
	for _, e := range h.Extensions {
		data := e.Data
		for i := range want.Extensions { // nibabel drops the padding, which must be zeros
			if n := len(strings.TrimRight(string(data), "\x00")); sum(data[:n]) == want.Extensions[i][1] {
				data = data[:n]
			}
		}
		got.Extensions = append(got.Extensions, [2]any{float64(e.Code), sum(data)})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("header: -want +got\n%s", diff)
	}
	if h.Units == 18 && (h.XYZUnit != "mm" || h.TimeUnit != "ms") {
		t.Errorf("units: got %s and %s, want mm and ms", h.XYZUnit, h.TimeUnit)
	}
}

func compareGeometry(t *testing.T, h *nifti.Header, want golden) {
	near := cmpopts.EquateApprox(1e-6, 1e-6)
	affine, axes, ok := h.Affine()
	if !ok {
		t.Fatal("the place is unknown")
	}
	for i, axis := range axes {
		if (axis == i) != (i < len(h.Dim)) {
			t.Errorf("axes: got %v for dim %v", axes, h.Dim)
		}
	}
	if want.Qform != nil {
		if diff := cmp.Diff(want.Qform, flat(h.Qform()), near); diff != "" {
			t.Errorf("qform: -want +got\n%s", diff)
		}
	}
	if diff := cmp.Diff(want.Affine, flat(affine), near); diff != "" {
		t.Errorf("affine: -want +got\n%s", diff)
	}
	origin, directions, spacing := h.Origin(), h.Directions(), h.Spacing()
	for axis := range min(3, len(h.Dim)) {
		for row := range 3 {
			if got, want := directions[axis][row]*spacing[axis], affine[row][axis]; math.Abs(got-want) > 1e-5*spacing[axis] {
				t.Errorf("direction times spacing of axis %d: got %g, want %g", axis, got, want)
			}
		}
	}
	if origin[0] != affine[0][3] || origin[2] != affine[2][3] {
		t.Errorf("origin: got %v", origin)
	}
}

func flat(m [4][4]float64) []float64 {
	var f []float64
	for _, row := range m {
		f = append(f, row[:]...)
	}
	return f
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
