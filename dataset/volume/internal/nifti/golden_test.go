package nifti_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/penstock-go/penstock/dataset/volume/internal/array"
	"github.com/penstock-go/penstock/dataset/volume/internal/nifti"
	"github.com/penstock-go/penstock/internal/datatest"
)

// A golden is what nibabel reads from a file.
type golden struct {
	Dtype  string
	Sizes  []int
	SHA256 string
	Affine []float64
	Scale  [2]float64
	Text   [3]string
	Units  int
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
			h, data, err := read(fsys, name, 0)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, h, data, want)
		})
	}
}

func compare(t *testing.T, h *array.Header, data []byte, want golden) {
	if got := h.Dtype.String(); got != want.Dtype {
		t.Errorf("dtype: got %s, want %s", got, want.Dtype)
	}
	if !slices.Equal(h.Sizes, want.Sizes) {
		t.Errorf("sizes: got %v, want %v", h.Sizes, want.Sizes)
	}
	if got := sum(data); got != want.SHA256 {
		t.Errorf("data: got %s, want %s", got, want.SHA256)
	}
	scale := [2]float64{h.Slope, h.Inter}
	if h.Slope == 0 {
		scale = [2]float64{1, 0}
	}
	colour := len(h.Sizes) > len(h.Axes)-len(spatial(h)) && want.Dtype == "uint8" && h.Axes[0].Kind == "list"
	if scale != want.Scale && !colour {
		t.Errorf("scale: got %v, want %v", scale, want.Scale)
	}
	if h.Attributes["descrip"] != want.Text[1] {
		t.Errorf("got %v, want descrip %q", h.Attributes, want.Text[1])
	}
	// The golden affine is in the file's unit.
	mm := array.Millimetres([]string{"", "m", "mm", "um"}[want.Units&3])
	var got, affine []float64
	for row := range 3 {
		for k, a := range spatial(h) {
			got = append(got, a.Spacing*a.Direction[row])
			affine = append(affine, mm*want.Affine[4*row+k])
		}
		got = append(got, h.Origin[row])
		affine = append(affine, mm*want.Affine[4*row+3])
	}
	if diff := cmp.Diff(affine, got, cmpopts.EquateApprox(1e-5, 1e-5)); diff != "" {
		t.Errorf("affine: -want +got\n%s", diff)
	}
}

// spatial are the axes with a direction.
func spatial(h *array.Header) (axes []array.Axis) {
	for _, a := range h.Axes {
		if a.Direction != nil {
			axes = append(axes, a)
		}
	}
	return axes
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// read reads a header and its values.
func read(fsys fs.FS, name string, limit int64) (*array.Header, []byte, error) {
	h, err := nifti.ReadHeader(fsys, name)
	if err != nil {
		return nil, nil, err
	}
	data, err := h.Load(context.Background(), fsys, limit)
	return h, data, err
}
