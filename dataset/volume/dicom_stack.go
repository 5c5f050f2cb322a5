package volume

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/dataset/volume/internal/dicom"
	"github.com/penstock-go/penstock/internal/files"
)

// checkPlane returns an error if the slice does not say where it is.
func checkPlane(m *dicom.Image) error {
	switch {
	case m.Position == nil:
		return errors.New("ImagePositionPatient is missing")
	case m.Orientation == nil:
		return errors.New("ImageOrientationPatient is missing")
	case m.Spacing == nil:
		return errors.New("PixelSpacing is missing")
	case !(m.Spacing[0] > 0 && m.Spacing[1] > 0):
		return fmt.Errorf("PixelSpacing: %v, want positive numbers", m.Spacing)
	}
	row, column := m.Orientation[:3], m.Orientation[3:]
	a, _ := unitOf(row)
	b, _ := unitOf(column)
	if cosine := row[0]*column[0] + row[1]*column[1] + row[2]*column[2]; math.Abs(a-1) > 1e-3 || math.Abs(b-1) > 1e-3 || math.Abs(cosine) > 1e-3 {
		return fmt.Errorf("ImageOrientationPatient: %v, want two unit vectors at a right angle", m.Orientation)
	}
	return nil
}

// agree finds slices whose series, size, storage or plane is not that of the first.
func (s *series) agree() error {
	const exact = 1e-3 // for directions and spacings, which files hold with few digits
	var errs []error
	first := s.slices[0]
	for _, m := range s.slices[1:] {
		what := ""
		switch {
		case m.Series != first.Series:
			what = "is of another series than"
		case m.Rows != first.Rows || m.Columns != first.Columns:
			what = fmt.Sprintf("has %d×%d values, unlike the %d×%d of", m.Rows, m.Columns, first.Rows, first.Columns)
		case m.Bits != first.Bits || m.Stored != first.Stored || m.High != first.High || m.Signed != first.Signed:
			what = "stores values in another way than"
		case m.FrameOfReference != first.FrameOfReference:
			what = "has another frame of reference than"
		case farther(m.Orientation, first.Orientation, exact):
			what = "has another direction than"
		case farther(m.Spacing, first.Spacing, exact*first.Spacing[0]):
			what = "has another spacing than"
		}
		if what != "" {
			errs = append(errs, fmt.Errorf("%s %s %s: want one stack of slices per folder", m.name, what, first.name))
		}
	}
	return files.Join(errs)
}

// farther reports whether any two of the numbers differ by more than exact.
func farther(a, b []float64, exact float64) bool {
	for k := range a {
		if !(math.Abs(a[k]-b[k]) <= exact) {
			return true
		}
	}
	return false
}

// stack sorts the slices by position and makes sure that their distances are equal and
// in one direction.
func (s *series) stack() error {
	o := s.slices[0].Orientation
	n := cross([3]float64(o[:3]), [3]float64(o[3:]))
	_, s.normal = unitOf(n[:])
	for k := range s.slices {
		s.slices[k].at = dot([3]float64(s.slices[k].Position), [3]float64(s.normal))
	}
	slices.SortStableFunc(s.slices, func(a, b slice) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	last := len(s.slices) - 1
	if last == 0 {
		return nil
	}
	gaps := make([]float64, last)
	for k := range gaps {
		gaps[k] = s.slices[k+1].at - s.slices[k].at
	}
	sorted := slices.Sorted(slices.Values(gaps))
	usual := sorted[(last-1)/2]
	exact := max(0.01*usual, 1e-3) // the precision of positions from scanners
	for k, gap := range gaps {
		a, b := s.slices[k].name, s.slices[k+1].name
		switch {
		case gap < 1e-3:
			return fmt.Errorf("%s and %s are at the same position: want a folder per time point or echo, and no copies", a, b)
		case gap > usual+exact:
			return fmt.Errorf("%s and %s are %.4g mm apart, most slices %.4g: slices are missing between them", a, b, gap, usual)
		case gap < usual-exact:
			return fmt.Errorf("%s and %s are %.4g mm apart, most slices %.4g", a, b, gap, usual)
		}
	}
	return s.align(exact)
}

// align finds the step from slice to slice, and makes sure that all slices are one step
// apart. If the gantry was tilted, the step is not along the normal.
func (s *series) align(exact float64) error {
	first, last := s.slices[0].Position, s.slices[len(s.slices)-1].Position
	s.step = make([]float64, 3)
	for d := range s.step {
		s.step[d] = (last[d] - first[d]) / float64(len(s.slices)-1)
	}
	for k, m := range s.slices {
		expected := make([]float64, 3)
		for d := range expected {
			expected[d] = first[d] + float64(k)*s.step[d]
		}
		if farther(m.Position, expected, exact) {
			return fmt.Errorf("%s is at %v, want %.6g: the slices do not follow each other in one direction", m.name, m.Position, expected)
		}
	}
	return nil
}
