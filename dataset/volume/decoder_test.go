package volume_test

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume"
)

func TestMetaImageIsRead(t *testing.T) {
	fsys := os.DirFS("internal/metaimage/testdata/files")
	for _, c := range []struct {
		name, want string
		position   []float64 // of voxel 1, 1, 1
	}{
		{"plain.mha", "plain.mha int16 (4, 3, 2), 3.25×2×0.5 mm, LPS", []float64{2, 0, 6.25}},
		{"list.mhd", "list.mhd int16 (4, 3, 2), 3.25×2×0.5 mm, LPS", []float64{2, 0, 6.25}},
		{"negative.mha", "negative.mha int16 (4, 3, 2), 3×2×1 mm, LPS", []float64{0.5, 0, 6}},
		{"rotation.mha", "rotation.mha int16 (4, 3, 2), 3.25×2×0.5 mm, LPS", []float64{0.7, -0.1, 6.25}},
		{"long.mha", "long.mha int16 (4, 3, 2), 1.625×2×1 mm, LPS", []float64{2.5, 0, 1.375}},
	} {
		v, err := volume.Read(fsys, c.name, 48)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := v.String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
		got, _ := v.Position(1, 1, 1)
		for d := range got {
			if math.Abs(got[d]-c.position[d]) > 1e-12 {
				t.Errorf("%s: position %v, want %v", c.name, got, c.position)
				break
			}
		}
		h, err := volume.ReadHeader(fsys, c.name)
		if err != nil || h.String() != c.want {
			t.Errorf("header: got %v, %v, want %s", h, err, c.want)
		}
	}
	four, err := volume.Read(fsys, "four.mha", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := four.String(), "four.mha int16 (2, 2, 3, 4), 3×2×1 mm, LPS"; got != want || four.Axes[0].Kind != "list" || four.Axes[0].Spacing != 0.5 {
		t.Errorf("got %s, first axis %+v, want %s", got, four.Axes[0], want)
	}
	words, err := volume.Read(fsys, "words.mha", 0)
	if err != nil || !slices.Contains(words.Attributes, volume.Attribute{Key: "MyKey", Value: "my value"}) {
		t.Errorf("got %+v, %v", words, err)
	}
	if _, err := volume.Read(fsys, "plain.mha", 47); err == nil || err.Error() != "volume: read plain.mha: DimSize: 48 bytes of data, the limit is 47" {
		t.Errorf("beyond the limit: got %v", err)
	}
}

func TestUnitsBecomeMillimetres(t *testing.T) {
	file := "NDims = 2\nDimSize = 1 1\nElementType = MET_CHAR\nElementSpacing = 0.25 0.5\nOffset = 1 2\nDistanceUnits = cm\nElementDataFile = LOCAL\nx"
	v, err := volume.Read(fstest.MapFS{"a.mha": {Data: []byte(file)}}, "a.mha", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(v, v.Origin), "a.mha int8 (1, 1), 5×2.5 mm [10 20]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// folders is a Decoder whose volumes are folders with a file per row.
type folders struct{ spoil func(v *volume.Volume) }

func (f folders) ReadHeader(fsys fs.FS, name string) (*volume.Volume, error) {
	v, err := f.Read(fsys, name, 0)
	if err == nil {
		v.Data = nil
	}
	return v, err
}

func (f folders) Read(fsys fs.FS, name string, _ int64) (*volume.Volume, error) {
	entries, err := fs.ReadDir(fsys, name)
	if err != nil {
		return nil, err
	}
	v := &volume.Volume{Dtype: dataset.Uint8, Axes: make([]volume.Axis, 2)}
	for _, e := range entries {
		row, err := fs.ReadFile(fsys, name+"/"+e.Name())
		if err != nil {
			return nil, err
		}
		v.Shape = dataset.Shape{len(entries), len(row)}
		v.Data = append(v.Data, row...)
	}
	if f.spoil != nil {
		f.spoil(v)
	}
	return v, nil
}

func TestUserDecodersReadFolders(t *testing.T) {
	fsys := fstest.MapFS{"p0/ct/0": {Data: []byte("abc")}, "p0/ct/1": {Data: []byte("def")}, "p1/ct/0": {Data: []byte("ghi")}, "p1/ct/1": {Data: []byte("jkl")}}
	c, err := volume.Open(fsys, volume.Scan("ct", "{patient}/ct", volume.Using(folders{}), volume.As(dataset.Uint8)))
	if err != nil {
		t.Fatal(err)
	}
	ds := cut(t)(c.Whole())
	if got := string(dataset.ValuesOf[uint8](sampleOf(t, ds, 1)["ct"])); got != "ghijkl" {
		t.Errorf("got %s", got)
	}
	for want, spoil := range map[string]func(v *volume.Volume){
		"3 axes for the shape (2, 3)":                  func(v *volume.Volume) { v.Axes = append(v.Axes, volume.Axis{}) },
		"2 axes for the shape (2, 0)":                  func(v *volume.Volume) { v.Shape[1] = 0 },
		"values of complex64, want integers or floats": func(v *volume.Volume) { v.Dtype = dataset.Complex64 },
		"of uint8: more values than memory can hold":   func(v *volume.Volume) { v.Shape[1] = math.MaxInt },
		"p0, ct (p0/ct): 6 bytes of data, want 8":      func(v *volume.Volume) { v.Shape[1] = 4 },
	} {
		c, err := volume.Open(fsys, volume.Scan("ct", "{patient}/ct", volume.Using(folders{spoil})))
		if err == nil {
			_, _, err = c.Load(t.Context(), 0)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}
