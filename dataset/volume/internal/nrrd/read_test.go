package nrrd_test

import (
	"context"
	"encoding/binary"
	"io/fs"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/penstock-go/penstock/dataset/volume/internal/array"
	"github.com/penstock-go/penstock/dataset/volume/internal/nrrd"
	"github.com/penstock-go/penstock/internal/bulk"
)

// read reads a header and its values.
func read(fsys fs.FS, name string, limit int64) (*array.Header, []byte, error) {
	h, err := nrrd.ReadHeader(fsys, name)
	if err != nil {
		return nil, nil, err
	}
	data, err := h.Load(context.Background(), fsys, limit)
	return h, data, err
}

func TestTextLongerThanABufferIsReadWhole(t *testing.T) {
	const n = 100_000
	for _, separator := range []string{" ", "\r\n", " , "} {
		text := []byte("NRRD0001\ntype: int64\ndimension: 1\nsizes: " + strconv.Itoa(n) + "\nencoding: ascii\n\n")
		value := func(i int) int64 { return int64(i) * int64(i) * int64(i) * int64(1-i%2*2) * 9000 }
		for i := range n {
			text = append(strconv.AppendInt(text, value(i), 10), separator...)
		}
		_, data, err := read(files("f", string(text)), "f", 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if got := int64(binary.NativeEndian.Uint64(data[8*i:])); got != value(i) {
				t.Fatalf("value %d: got %d, want %d", i, got, value(i))
			}
		}
	}
}

func TestDataAreAligned(t *testing.T) {
	for name := range goldens(t).Files {
		_, data, err := read(testFiles, name, 0)
		if err != nil {
			t.Fatal(err)
		}
		if uintptr(unsafe.Pointer(&data[0]))%bulk.Align != 0 {
			t.Errorf("%s is not aligned", name)
		}
	}
}

// header reads a header with these lines after type and encoding.
func header(t *testing.T, lines ...string) *array.Header {
	t.Helper()
	text := "NRRD0006\ntype: uchar\nencoding: raw\n" + strings.Join(lines, "\n") + "\n\n"
	h, err := nrrd.ReadHeader(files("f", text), "f")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestSpacingComesFromDirectionsElseFromSpacings(t *testing.T) {
	h := header(t, "dimension: 3", "sizes: 1 1 1", "space dimension: 2", `space units: "cm" "cm"`, "space origin: (1,2)",
		"spacings: nan -2.5 5", "kinds: ??? RGB-color domain", "space directions: none none (3,4)")
	want := []array.Axis{{}, {Kind: "rgb-color", Spacing: 25}, {Kind: "domain", Spacing: 50, Direction: []float64{0.6, 0.8}}}
	if diff := cmp.Diff(want, h.Axes, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("axes: -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]float64{10, 20}, h.Origin); diff != "" {
		t.Errorf("origin: -want +got\n%s", diff)
	}
}

func TestSpacesHaveManyNames(t *testing.T) {
	for _, c := range []struct {
		names []string
		world string
		axes  int
	}{
		{[]string{"right-anterior-superior", "Right Anterior Superior", "rightanteriorsuperior", "RAS"}, "RAS", 3},
		{[]string{"left-anterior-superior", "left anterior superior", "LAS"}, "LAS", 3},
		{[]string{"left-posterior-superior", "leftposteriorsuperior", "lps"}, "LPS", 3},
		{[]string{"right-anterior-superior-time", "RAST"}, "RAS", 4},
		{[]string{"left-anterior-superior-time", "LAST"}, "LAS", 4},
		{[]string{"left-posterior-superior-time", "leftposteriorsuperiortime", "LPST"}, "LPS", 4},
		{[]string{"scanner-xyz"}, "", 3},
		{[]string{"scanner-xyz-time", "scanner-xyzt"}, "", 4},
		{[]string{"3D-right-handed", "3D right handed", "3Drighthanded"}, "", 3},
		{[]string{"3D-left-handed-time", "3D left handed time"}, "", 4},
		{[]string{"right-up", "right up"}, "", 2},
		{[]string{"right-down", "right down"}, "", 2},
	} {
		for _, name := range c.names {
			origin := "space origin: (" + strings.TrimSuffix(strings.Repeat("1,", c.axes), ",") + ")"
			h := header(t, "dimension: 1", "sizes: 1", "space: "+name, origin)
			if h.World != c.world || len(h.Origin) != c.axes {
				t.Errorf("%s: got %q, %v, want %q, %d axes", name, h.World, h.Origin, c.world, c.axes)
			}
		}
	}
}
