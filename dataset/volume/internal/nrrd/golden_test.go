package nrrd_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-go/penstock/dataset/volume/internal/nrrd"
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

func goldens(t testing.TB) (g struct{ Files, Shared map[string]golden }) {
	t.Helper()
	datatest.Golden(t, &g)
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

func TestSharedFilesReadAsPynrrdReadsThem(t *testing.T) {
	if _, err := os.Stat(shared); err != nil {
		t.Skip("../shared, next to the repository, is missing: it holds real NRRD files")
	}
	for name, want := range goldens(t).Shared {
		t.Run(name, func(t *testing.T) { compare(t, os.DirFS(shared), name, want) })
	}
}

func compare(t *testing.T, fsys fs.FS, name string, want golden) {
	m, err := nrrd.Read(fsys, name, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Dtype.String(); got != want.Dtype {
		t.Errorf("dtype: got %s, want %s", got, want.Dtype)
	}
	if !slices.Equal(m.Sizes, want.Sizes) {
		t.Errorf("sizes: got %v, want %v", m.Sizes, want.Sizes)
	}
	sum := sha256.Sum256(m.Data)
	if got := hex.EncodeToString(sum[:]); got != want.SHA256 {
		t.Errorf("data: got %s, want %s, of %d bytes", got, want.SHA256, len(m.Data))
	}
	for field, want := range want.Header {
		got, compared := plain(&m.Header, field)
		if !compared {
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", field, diff)
		}
	}
}

// plain is a field as the golden file has it. Types and encodings are not compared, because they have many names.
func plain(h *nrrd.Header, field string) (value any, compared bool) {
	switch field {
	case "type", "encoding", "lineskip", "byteskip", "number":
		return nil, false
	case "dimension":
		return float64(len(h.Sizes)), true
	case "sizes":
		return values(h.Sizes, func(n int) any { return float64(n) }), true
	case "endian":
		return string(h.Endian), true
	case "content":
		return h.Content, true
	case "space":
		return h.Space, true
	case "sample units":
		return h.SampleUnits, true
	case "space dimension":
		return float64(h.SpaceDimension), true
	case "line skip":
		return float64(h.LineSkip), true
	case "byte skip":
		return float64(h.ByteSkip), true
	case "min":
		return *h.Min, true
	case "max":
		return *h.Max, true
	case "old min":
		return *h.OldMin, true
	case "old max":
		return *h.OldMax, true
	case "spacings":
		return values(h.Spacings, number), true
	case "thicknesses":
		return values(h.Thicknesses, number), true
	case "axis mins":
		return values(h.AxisMins, number), true
	case "axis maxs":
		return values(h.AxisMaxs, number), true
	case "centerings":
		return values(h.Centers, named), true
	case "kinds":
		return values(h.Kinds, named), true
	case "labels":
		return values(h.Labels, named), true
	case "units":
		return values(h.Units, named), true
	case "space units":
		return values(h.SpaceUnits, named), true
	case "space origin":
		return values(h.SpaceOrigin, number), true
	case "space directions":
		return values(h.SpaceDirections, func(v []float64) any {
			if v == nil {
				return slices.Repeat([]any{nil}, h.SpaceDimension)
			}
			return values(v, number)
		}), true
	case "measurement frame":
		return values(h.MeasurementFrame, func(v []float64) any { return values(v, number) }), true
	case "data file":
		return h.DataFiles.Names[0], true
	}
	text, ok := h.Value(field)
	if !ok {
		return "no such key", true
	}
	return strings.TrimSpace(text), true
}

func values[T any](of []T, value func(T) any) []any {
	all := make([]any, len(of))
	for i, v := range of {
		all[i] = value(v)
	}
	return all
}

func number(v float64) any {
	if math.IsNaN(v) {
		return nil
	}
	return v
}

func named(s string) any {
	if s == "" {
		return "???"
	}
	return s
}
