package volume

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume/internal/array"
	"github.com/penstock-go/penstock/dataset/volume/internal/dicom"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/files"
)

// readSeries reads a series, a folder of slices, or one slice, or only its header.
func readSeries(ctx context.Context, fsys fs.FS, name string, limit int64, values bool) (*Volume, error) {
	s, err := readSlices(fsys, name)
	if err != nil {
		return nil, err
	}
	v := s.header(name)
	if err := v.checkHeader(); err != nil || !values {
		return v, err
	}
	if limit > 0 && v.size() > limit {
		return nil, fmt.Errorf("%d bytes of values, the limit is %d", v.size(), limit)
	}
	v.Data = bulk.Make(int(v.size())) // the files are as large: every header was compared with the size of its file
	return v, s.decode(ctx, fsys, v)
}

// A slice is one file of a series.
type slice struct {
	*dicom.Image
	name string // in the folder
	at   float64
}

// series are slices ordered by position along the normal of their planes.
type series struct {
	slices []slice
	normal []float64
	step   []float64 // from slice to slice; nil if there is one
	dtype  dataset.Dtype
}

// readSlices reads the headers of all files in the folder, or of the one file, and
// makes sure that they are one stack of slices.
func readSlices(fsys fs.FS, name string) (*series, error) {
	names, err := slicesIn(fsys, name)
	if err != nil {
		return nil, err
	}
	s := &series{slices: make([]slice, len(names))}
	err = files.Scan(len(names), files.Scanners, func(k int) error {
		m, err := dicom.ReadHeader(fsys, names[k])
		if err == nil {
			err = checkPlane(m)
		}
		s.slices[k] = slice{Image: m, name: path.Base(names[k])}
		if err != nil && names[k] != name {
			return fmt.Errorf("%s: %w", s.slices[k].name, err)
		}
		return err
	})
	if err == nil {
		err = s.agree()
	}
	if err == nil {
		err = s.stack()
	}
	if err != nil {
		return nil, err
	}
	s.chooseDtype()
	return s, nil
}

// slicesIn are the files in a folder that are not hidden, or the one file.
func slicesIn(fsys fs.FS, name string) ([]string, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, files.Cause(err)
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	entries, err := fs.ReadDir(fsys, name)
	if err != nil {
		return nil, files.Cause(err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") && e.Name() != "DICOMDIR" {
			names = append(names, path.Join(name, e.Name()))
		}
	}
	if len(names) == 0 {
		return nil, errors.New("a folder without files: want those of a DICOM series")
	}
	return names, nil
}

// chooseDtype chooses the smallest integer dtype that holds all values, if slope and
// intercept are integers and the same in all slices, and float32 otherwise.
func (s *series) chooseDtype() {
	first := s.slices[0]
	s.dtype = dataset.Float32
	for _, m := range s.slices {
		if m.Slope != first.Slope || m.Intercept != first.Intercept {
			return
		}
	}
	const most = 1 << 20 // so that products fit in int64
	if a, b := first.Slope, first.Intercept; a != math.Trunc(a) || b != math.Trunc(b) || math.Abs(a) > most || math.Abs(b) > most {
		return
	}
	low, high := first.Range()
	lo, hi := first.Slope*float64(low)+first.Intercept, first.Slope*float64(high)+first.Intercept
	for _, dt := range []dataset.Dtype{dataset.Uint8, dataset.Int8, dataset.Uint16, dataset.Int16, dataset.Uint32, dataset.Int32} {
		if holds(dt, lo) && holds(dt, hi) {
			s.dtype = dt
			return
		}
	}
}

func (s *series) header(name string) *Volume {
	first := s.slices[0]
	across := array.Axis{Kind: "space", Spacing: first.Thickness, Direction: s.normal}
	if s.step != nil {
		across.Place(s.step, 1)
	}
	down, right := array.Axis{Kind: "space"}, array.Axis{Kind: "space"}
	right.Place(first.Orientation[:3], 1)
	down.Place(first.Orientation[3:], 1)
	down.Spacing, right.Spacing = first.Spacing[0], first.Spacing[1]
	v := &Volume{Name: name, Dtype: s.dtype, Shape: dataset.Shape{len(s.slices), first.Rows, first.Columns}, World: "LPS",
		Origin: slices.Clone(first.Position), Axes: []Axis{Axis(across), Axis(down), Axis(right)}}
	for key, value := range map[string]string{"Modality": first.Modality, "SeriesDescription": first.Description, "Units": first.Units, "SeriesInstanceUID": first.Series} {
		if value == "" {
			continue
		}
		if v.Attributes == nil {
			v.Attributes = map[string]string{}
		}
		v.Attributes[key] = value
	}
	return v
}

// decode reads all slices into the volume, row by row.
func (s *series) decode(ctx context.Context, fsys fs.FS, v *Volume) error {
	first := s.slices[0]
	raw := make([]byte, first.Size())
	row := make([]int64, first.Columns)
	stored, size := len(raw)/first.Rows, v.Dtype.Size()
	to := v.Data
	for _, m := range s.slices {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := m.Decode(fsys, raw); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		slope, intercept := int64(m.Slope), int64(m.Intercept)
		for y := range first.Rows {
			m.Values(row, raw[y*stored:][:stored])
			if v.Dtype == dataset.Float32 {
				for x, value := range row {
					dense.Values[float32](to)[x] = float32(m.Slope*float64(value) + m.Intercept)
				}
			} else {
				for x, value := range row {
					bulk.Put(to[x*size:][:size], uint64(slope*value+intercept))
				}
			}
			to = to[first.Columns*size:]
		}
	}
	return nil
}

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
	a, b := array.Length(row), array.Length(column)
	if cosine := dot([3]float64(row), [3]float64(column)); math.Abs(a-1) > 1e-3 || math.Abs(b-1) > 1e-3 || math.Abs(cosine) > 1e-3 {
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
	var across array.Axis
	across.Place(n[:], 1)
	s.normal = across.Direction
	for k := range s.slices {
		s.slices[k].at = dot([3]float64(s.slices[k].Position), [3]float64(s.normal))
	}
	slices.SortStableFunc(s.slices, func(a, b slice) int { return cmp.Compare(a.at, b.at) })
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
