package transform

import (
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
)

// TestErrorsOfNumbersNameAllChoices compares the messages with what the steps accept.
func TestErrorsOfNumbersNameAllChoices(t *testing.T) {
	for _, c := range []struct {
		step func(n uint8) ([]Item, string) // and the choice's name
		want string
	}{
		{func(n uint8) ([]Item, string) {
			return []Item{Resize(8, Interpolation(Filter(n))), ToTensor()}, Filter(n).String()
		}, "Resize(8, Interpolation(unknown)): want the filter Bilinear, Nearest, Box, Bicubic, Lanczos, Hamming, OpenCVLinear, OpenCVArea or TensorFlowBilinear, or torchbilinear, torchbicubic or torchlanczos of JSON, not number 12"},
		{func(n uint8) ([]Item, string) { return []Item{Pad(1, PaddingMode(PadMode(n)))}, PadMode(n).String() }, "Pad(1, PaddingMode(unknown)): want the PaddingMode Constant, Edge, Reflect or Symmetric, not number 4"},
	} {
		for n := uint8(0); ; n++ {
			s, name := c.step(n)
			_, err := compile(nil, s)
			if err != nil {
				if err.Error() != c.want {
					t.Errorf("got  %v\nwant %s", err, c.want)
				}
				break
			}
			if !strings.Contains(strings.ToLower(c.want), strings.ToLower(name)) {
				t.Errorf("%v is accepted, but not named: %s", s, c.want)
			}
		}
	}
	const want = ": want dataset.BoxesXYXY, BoxesXYWH or BoxesCXCYWH, not masks"
	for _, s := range [][]Item{{Boxes("object", dataset.Masks)}, {Boxes("object", dataset.BoxesXYXY), ConvertBoundingBoxFormat(dataset.Masks)}} {
		if _, err := compile(nil, s); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v: got %v, want %s", s, err, want)
		}
	}
}
