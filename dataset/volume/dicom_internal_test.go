package volume

import (
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume/internal/dicom"
)

// seriesAt is a series of axial slices at these positions.
func seriesAt(places ...[]float64) *series {
	s := &series{}
	for k, p := range places {
		m := &dicom.Image{Position: p, Orientation: []float64{1, 0, 0, 0, 1, 0}, Spacing: []float64{1, 1}, Bits: 16, Stored: 12, High: 11, Slope: 1}
		s.slices = append(s.slices, slice{Image: m, name: string(rune('a' + k))})
	}
	return s
}

func TestStacksFollowOneDirection(t *testing.T) {
	for want, s := range map[string]*series{
		"": seriesAt([]float64{0, 0, 6}, []float64{0, 0.8, 3.01}, []float64{0, 1.6, 0}),
		"b is at [0.5 0 3], want [0 0 3]: the slices do not follow each other in one direction": seriesAt([]float64{0, 0, 0}, []float64{0.5, 0, 3}, []float64{0, 0, 6}),
		"b and c are 1 mm apart, most slices 3":                                                 seriesAt([]float64{0, 0, 0}, []float64{0, 0, 3}, []float64{0, 0, 4}, []float64{0, 0, 7}),
		"b and c are 6 mm apart, most slices 3: slices are missing between them":                seriesAt([]float64{0, 0, 0}, []float64{0, 0, 3}, []float64{0, 0, 9}, []float64{0, 0, 12}),
		"a and b are at the same position":                                                      seriesAt([]float64{0, 0, 0}, []float64{1, 0, 0}, []float64{0, 0, 6}),
	} {
		err := s.stack()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestRescaledValuesHaveTheSmallestIntegers(t *testing.T) {
	for _, c := range []struct {
		stored           int
		signed           bool
		slope, intercept float64
		want             dataset.Dtype
	}{
		{8, false, 1, 0, dataset.Uint8}, {8, true, 1, 0, dataset.Int8}, {8, false, 1, -1, dataset.Int16}, {12, false, 1, -1024, dataset.Int16},
		{16, false, 1, 0, dataset.Uint16}, {16, false, 1, -1024, dataset.Int32}, {16, false, 2, 0, dataset.Uint32}, {12, true, -1, 0, dataset.Int16},
		{32, false, 1, 0, dataset.Uint32}, {32, false, 2, 0, dataset.Float32}, {12, false, 0.5, 0, dataset.Float32}, {12, false, 1, 0.5, dataset.Float32},
	} {
		s := seriesAt([]float64{0, 0, 0}, []float64{0, 0, 1})
		for _, m := range s.slices {
			m.Stored, m.Signed, m.Slope, m.Intercept = c.stored, c.signed, c.slope, c.intercept
		}
		if s.chooseDtype(); s.dtype != c.want {
			t.Errorf("%+v: got %v", c, s.dtype)
		}
		s.slices[1].Slope++
		if s.chooseDtype(); s.dtype != dataset.Float32 {
			t.Errorf("%+v, then another slope: got %v", c, s.dtype)
		}
	}
}
