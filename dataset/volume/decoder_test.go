package volume_test

import (
	"fmt"
	"math"
	"os"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset/volume"
)

func TestMetaImageIsRead(t *testing.T) {
	fsys := os.DirFS("internal/metaimage/testdata/files")
	for _, c := range []struct {
		name, want string
		position   []float64 // of voxel 1, 1, 1
	}{
		{"plain.mha", "plain.mha int16 (4, 3, 2), 3.25×2×0.5 mm, LPS", []float64{2, 0, 6.25}},
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
	if err != nil || words.Attributes["MyKey"] != "my value" {
		t.Errorf("got %+v, %v", words, err)
	}
	if _, err := volume.Read(fsys, "plain.mha", 47); err == nil || err.Error() != "volume: read plain.mha: 48 bytes of values, the limit is 47" {
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
