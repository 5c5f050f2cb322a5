package raster

import (
	"encoding/base64"
	"math"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/testenv"
)

// TestChangesOfDeepColoursAreTorchvisions compares with testdata/depth/golden.json: integers
// within one level, floats within 2e-6.
func TestChangesOfDeepColoursAreTorchvisions(t *testing.T) {
	testenv.OneGoroutine(t)
	var golden struct {
		Colours []struct {
			Dtype, Name, Values string
			Channels            int
			Arg                 float64
		}
	}
	datatest.JSON(t, "../../testdata/depth/golden.json", &golden)
	if len(golden.Colours) < 50 {
		t.Fatalf("%d cases", len(golden.Colours))
	}
	for _, c := range golden.Colours {
		m := &Floats{}
		m.Planes.Resize(c.Channels, 6, 5)
		x := uint32(20)
		for i := range m.Pix {
			x = 1664525*x + 1013904223
			switch c.Dtype {
			case "uint8":
				m.Dtype, m.Pix[i] = dataset.Uint8, float32(uint8(x>>16))
			case "uint16":
				m.Dtype, m.Pix[i] = dataset.Uint16, float32(x>>16)
			case "int16":
				m.Dtype, m.Pix[i] = dataset.Int16, float32(int16(x>>16))
			default:
				m.Pix[i] = float32(x>>8) / (1 << 24)
			}
		}
		off := 0.0
		switch c.Name {
		case "brightness":
			m.Brightness(c.Arg)
		case "contrast":
			m.Contrast(c.Arg)
			off = 1
		case "invert":
			m.Invert()
		case "solarize":
			m.Solarize(c.Arg)
		case "autocontrast":
			m.Autocontrast()
			off = 1
		}
		if !m.depth().Whole {
			off = 2e-6
		}
		data, err := base64.StdEncoding.DecodeString(c.Values)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range dense.Values[float32](data) {
			if math.Abs(float64(m.Pix[i]-want)) > off {
				t.Errorf("%s of %d channels of %s by %v: value %d is %v, want %v", c.Name, c.Channels, c.Dtype, c.Arg, i, m.Pix[i], want)
				break
			}
		}
	}
}
