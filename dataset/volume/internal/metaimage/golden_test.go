package metaimage_test

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset/volume/internal/metaimage"
	"github.com/penstock-go/penstock/internal/datatest"
)

// A golden is what SimpleITK reads from a file.
type golden struct {
	Dtype                      string
	Sizes                      []int
	Spacing, Origin, Direction []float64
	SHA256                     string
}

func goldens(t testing.TB) (g map[string]golden) {
	t.Helper()
	datatest.Golden(t, &g)
	return g
}

func TestFilesReadAsSimpleITKReadsThem(t *testing.T) {
	want := goldens(t)
	if len(want) < 60 {
		t.Fatalf("%d golden files", len(want))
	}
	for name, want := range want {
		t.Run(name, func(t *testing.T) {
			m, err := metaimage.Read(os.DirFS("testdata/files"), name, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := m.Dtype.String(); got != want.Dtype {
				t.Errorf("dtype: got %s, want %s", got, want.Dtype)
			}
			if !slices.Equal(m.Shape(), want.Sizes) {
				t.Errorf("sizes: got %v, want %v", m.Shape(), want.Sizes)
			}
			sum := sha256.Sum256(m.Data)
			if got := hex.EncodeToString(sum[:]); got != want.SHA256 {
				t.Errorf("data: got %s, want %s, of %d bytes", got, want.SHA256, len(m.Data))
			}
			compareGeometry(t, &m.Header, want)
		})
	}
}

func compareGeometry(t *testing.T, h *metaimage.Header, want golden) {
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-12*max(1, math.Abs(want)) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	rank := len(want.Spacing)
	for i, s := range want.Spacing {
		near("spacing", h.Spacing[i], s)
	}
	for i := range min(rank, 3) {
		near("origin", h.Origin[i], want.Origin[i])
		for k := range min(rank, 3) { // SimpleITK has axes in columns
			near("direction", h.Directions[i][k], want.Direction[k*rank+i])
		}
	}
	if len(h.Origin) != min(rank, 3) || len(h.Directions) != min(rank, 3) {
		t.Errorf("origin %v and directions %v of %d axes", h.Origin, h.Directions, rank)
	}
}

func TestOtherFieldsAreKept(t *testing.T) {
	h, err := metaimage.ReadHeader(os.DirFS("testdata/files"), "words.mha")
	if err != nil {
		t.Fatal(err)
	}
	want := []metaimage.Field{{"AnatomicalOrientation", "RAI"}, {"Modality", "MET_MOD_CT"}, {"Comment", "a = b: c"}, {"MyKey", "my value"}}
	if !slices.Equal(h.Fields, want) {
		t.Errorf("got %v, want %v", h.Fields, want)
	}
}
