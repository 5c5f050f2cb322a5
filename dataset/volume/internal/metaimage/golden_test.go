package metaimage_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset/volume/internal/array"
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

// notRead are headers of several data files.
var notRead = []string{"lines.mhd", "list.mhd", "list2.mhd", "pattern.mhd", "first.mhd", "bare.mhd"}

func goldens(t testing.TB) (g map[string]golden) {
	t.Helper()
	datatest.Golden(t, &g)
	if len(g) < 60 {
		t.Fatalf("%d golden files", len(g))
	}
	for _, name := range notRead {
		delete(g, name)
	}
	return g
}

func TestSeveralDataFilesAreErrors(t *testing.T) {
	for _, name := range notRead {
		if _, _, err := read(os.DirFS("testdata/files"), name, 0); err == nil || !strings.Contains(err.Error(), "several data files") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestFilesReadAsSimpleITKReadsThem(t *testing.T) {
	for name, want := range goldens(t) {
		t.Run(name, func(t *testing.T) {
			h, data, err := read(os.DirFS("testdata/files"), name, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := h.Dtype.String(); got != want.Dtype {
				t.Errorf("dtype: got %s, want %s", got, want.Dtype)
			}
			if !slices.Equal(h.Sizes, want.Sizes) {
				t.Errorf("sizes: got %v, want %v", h.Sizes, want.Sizes)
			}
			sum := sha256.Sum256(data)
			if got := hex.EncodeToString(sum[:]); got != want.SHA256 {
				t.Errorf("data: got %s, want %s, of %d bytes", got, want.SHA256, len(data))
			}
			compareGeometry(t, h, want)
		})
	}
}

func compareGeometry(t *testing.T, h *array.Header, want golden) {
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-12*max(1, math.Abs(want)) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	rank := len(want.Spacing)
	axes := h.Axes[len(h.Axes)-rank:]
	for i, s := range want.Spacing {
		if i >= 3 {
			near("spacing", axes[i].Spacing, s)
			continue
		}
		near("origin", h.Origin[i], want.Origin[i])
		for k := range min(rank, 3) { // SimpleITK has axes in columns, which need not be unit vectors
			near("step", axes[i].Spacing*axes[i].Direction[k], s*want.Direction[k*rank+i])
		}
	}
	if len(h.Origin) != min(rank, 3) {
		t.Errorf("origin %v of %d axes", h.Origin, rank)
	}
}

func TestOtherFieldsAreKept(t *testing.T) {
	h, err := metaimage.ReadHeader(os.DirFS("testdata/files"), "words.mha")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"AnatomicalOrientation": "RAI", "Modality": "MET_MOD_CT", "Comment": "a = b: c", "MyKey": "my value"}
	if !maps.Equal(h.Attributes, want) {
		t.Errorf("got %v, want %v", h.Attributes, want)
	}
}

// read reads a header and its values.
func read(fsys fs.FS, name string, limit int64) (*array.Header, []byte, error) {
	h, err := metaimage.ReadHeader(fsys, name)
	if err != nil {
		return nil, nil, err
	}
	data, err := h.Load(context.Background(), fsys, limit)
	return h, data, err
}
