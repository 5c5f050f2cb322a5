package nrrd_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/penstock-go/penstock/dataset/volume/internal/array"
	"github.com/penstock-go/penstock/internal/datatest"
)

var testFiles = os.DirFS("testdata/files")

const shared = "../../../../../shared/nrrd"

// A golden is what pynrrd reads from a file: its data and header.
type golden struct {
	Dtype  string
	Sizes  []int
	SHA256 string
	Header map[string]any
}

// notRead are files whose encoding, type or data files are not supported.
var notRead = []string{"block.nrrd", "hex.nrrd", "zrl.nrrd", "gzipbackwards.nrrd", "skiplist.nhdr", "list.nhdr", "listcrlf.nhdr",
	"listend.nhdr", "pattern.nhdr", "patternslabs.nhdr", "rows.nhdr", "slabs.nhdr"}

func goldens(t testing.TB) (g struct{ Files, Shared map[string]golden }) {
	t.Helper()
	datatest.Golden(t, &g)
	for _, name := range notRead {
		delete(g.Files, name)
	}
	return g
}

func TestOddFilesReadAsWritten(t *testing.T) {
	want := goldens(t).Files
	if len(want) < 50 {
		t.Fatalf("%d golden files", len(want))
	}
	for name, want := range want {
		t.Run(name, func(t *testing.T) { compare(t, os.DirFS("testdata/files"), name, want) })
	}
}

func TestFilesThatAreNotReadAreErrors(t *testing.T) {
	for _, name := range notRead {
		if _, _, err := read(testFiles, name, 0); err == nil || !strings.Contains(err.Error(), " read") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestSharedFilesReadAsPynrrdReadsThem(t *testing.T) {
	if _, err := os.Stat(shared); err != nil {
		t.Skip("../shared, next to the repository, is missing: it holds real NRRD files")
	}
	for name, want := range goldens(t).Shared {
		t.Run(name, func(t *testing.T) { compare(t, os.DirFS(shared), name, want) })
	}
}

func compare(t *testing.T, fsys fs.FS, name string, want golden) {
	h, data, err := read(fsys, name, 0)
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
	for field, want := range want.Header {
		got, compared := plain(h, field)
		if !compared {
			continue
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
			t.Errorf("%s: -want +got\n%s", field, diff)
		}
	}
}

// plain is a field as the golden file has it. The values are compared themselves, and fields that are not looked at are not.
func plain(h *array.Header, field string) (value any, compared bool) {
	switch field {
	case "space":
		short := map[string]string{"LPS": "left-posterior-superior", "RAS": "right-anterior-superior", "LAS": "left-anterior-superior"}
		return short[h.World], true
	case "kinds":
		return values(h.Axes, func(a array.Axis) any { return cmpName(a.Kind) }), true
	case "spacings":
		return values(h.Axes, func(a array.Axis) any { return a.Spacing }), true
	case "space origin":
		return values(h.Origin, func(x float64) any { return x }), true
	case "space directions":
		return values(h.Axes, func(a array.Axis) any {
			if a.Direction == nil {
				return []any{nil, nil, nil}
			}
			return values(a.Direction, func(x float64) any { return x * a.Spacing })
		}), true
	}
	return strings.TrimSpace(h.Attributes[field]), slices.Contains([]string{"key", "a key", "DWMRI_b-value"}, field)
}

func values[T any](of []T, value func(T) any) []any {
	all := make([]any, len(of))
	for i, v := range of {
		all[i] = value(v)
	}
	return all
}

func cmpName(kind string) any {
	if kind == "" {
		return "???"
	}
	return kind
}
