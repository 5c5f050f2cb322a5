package transform_test

import (
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// TestRangesBeyondAllSizesAreErrors has ranges whose sizes would overflow: RandomZoomOut made an image
// of them nevertheless, and ScaleJitter negative sizes. The greatest valid ranges work before a crop.
func TestRangesBeyondAllSizesAreErrors(t *testing.T) {
	for _, v := range []float64{1<<20 + 1, 1e18, 1e30, 1e300} {
		for want, s := range map[string]transform.Step{
			"want a SideRange from 1 to 1048576, with the least number first": transform.RandomZoomOut(1, transform.SideRange(1, v)),
			"want a Scale up to 1048576":                                      transform.ScaleJitter(20, transform.Scale(1, v)),
		} {
			want = "transform: " + s.String() + ": " + want
			if _, err := transform.Images(boxedImage(), s, transform.CenterCrop(4)); err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		}
	}
	for _, s := range []transform.Item{transform.RandomZoomOut(1, transform.SideRange(1<<20, 1<<20)), transform.ScaleJitter(20, transform.Scale(1<<20, 1<<20))} {
		x, err := transform.Images(boxedImage(), s, transform.CenterCrop(4))
		if err == nil {
			_, err = dataset.At(t.Context(), x, 0)
		}
		if err != nil {
			t.Errorf("%v: %v", s, err)
		}
	}
}
