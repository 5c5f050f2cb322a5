package raster

import (
	"testing"

	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/testenv"
)

// coloursGolden is Pillow's results, which testdata/golden.py wrote.
type coloursGolden struct {
	Colour []struct {
		Op     string
		Factor float64
		SHA    string
	}
	Cube [2]string
}

func colours(t *testing.T) (g coloursGolden) {
	t.Helper()
	datatest.JSON(t, "../../testdata/golden.json", &g)
	return g
}

func TestColoursArePillows(t *testing.T) {
	testenv.OneGoroutine(t)
	ops := map[string]func(m *Bytes, factor float64){
		"brightness": (*Bytes).Brightness, "contrast": (*Bytes).Contrast, "saturation": (*Bytes).Saturation, "hue": (*Bytes).Hue,
		"gray": func(m *Bytes, _ float64) { m.Grey(3) },
	}
	cases := colours(t).Colour
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		img := sampleImage(120, 90, 1)
		ops[c.Op](img, c.Factor)
		if got := sum(rgb(img)); got != c.SHA {
			t.Errorf("%s %v: other pixels than Pillow's", c.Op, c.Factor)
		}
	}
}

func TestHSVOfEveryColourIsPillows(t *testing.T) {
	testenv.OneGoroutine(t)
	if testing.Short() {
		t.Skip("33 million colours")
	}
	there, back := make([]byte, 0, 3<<24), make([]byte, 0, 3<<24)
	for i := range 1 << 24 {
		a, b, c := toHSV(uint8(i), uint8(i>>8), uint8(i>>16))
		there = append(there, a, b, c)
		a, b, c = fromHSV(uint8(i), uint8(i>>8), uint8(i>>16))
		back = append(back, a, b, c)
	}
	want := colours(t).Cube
	if sum(there) != want[0] {
		t.Error("to HSV: other values than Pillow's")
	}
	if sum(back) != want[1] {
		t.Error("from HSV: other values than Pillow's")
	}
}
