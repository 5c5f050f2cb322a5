package dataset

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/internal/dense"
)

// A StudyOption says what a study consists of, or changes what [Volumes] does.
type StudyOption interface{ add(*studyCore) }

type studyOption func(*studyCore)

func (f studyOption) add(s *studyCore) { f(s) }

// A Source is one named volume of every patient. [Scan] and [Mask] make it.
type Source struct {
	name     string
	pattern  string
	mask     bool
	optional bool
	dtype    tensor.Dtype
	fill     float64
}

// Scan is a volume of measured values, such as a CT scan: its name, which is
// that of the samples' field, and where patients have it. The pattern is a path
// with {patient} where the patient's name stands, which is a name or part of a
// name between slashes; it may stand there several times. Besides, *, ? and [ ]
// match as in [path.Match], and must match one file per patient. Names that begin
// with a dot are passed over. With a table of
// files (see [Patients]) the pattern may be "".
//
// The field is float32 unless [Source.As] says otherwise.
func Scan(name, pattern string) Source {
	return Source{name: name, pattern: pattern, dtype: tensor.Float32}
}

// Mask is a volume of labels, described as in [Scan]. The steps of a preparation
// that would mix or change values leave labels as they are.
//
// The field is uint8 unless [Source.As] says otherwise.
func Mask(name, pattern string) Source {
	return Source{name: name, pattern: pattern, mask: true, dtype: tensor.Uint8}
}

// As sets the kind of the field: a plain integer or a float. A value that an
// integer cannot hold is an error; floats are rounded to what theirs can.
func (s Source) As(dt tensor.Dtype) Source {
	s.dtype = dt
	return s
}

// Optional allows patients without this volume. Their samples hold the fill
// value, and a bool field named after the volume, "ct_present", tells.
func (s Source) Optional() Source {
	s.optional = true
	return s
}

// Fill sets the value of voxels that lie beyond the volume, where a sample or the
// grid of another volume goes on, or of a volume that is missing. The default is 0.
func (s Source) Fill(value float64) Source {
	s.fill = value
	return s
}

func (s Source) add(c *studyCore) { c.sources = append(c.sources, s) }

// String prints the source: "ct from {patient}/ct.nrrd".
func (s Source) String() string {
	text := s.name
	if s.pattern != "" {
		text += " from " + s.pattern
	}
	if s.optional {
		text += " (optional)"
	}
	return text
}

// A Patient is an entry of a table of patients: the name and, per volume, the
// file. A volume without a file here is where its pattern says.
type Patient struct {
	Name  string
	Files map[string]string
}

// Patients gives the patients and their order, instead of those that the
// patterns find, sorted by name.
func Patients(table ...Patient) StudyOption {
	return studyOption(func(s *studyCore) { s.table = append(s.table, table...) })
}

// A Preparation edits a patient's volumes after they were decoded, once, before
// they are kept and cut. volume.Steps of package transform/volume makes one.
//
// Volumes have their channels first, see [Volume.Shape]. Both methods change them
// in place, in the same way but for the values, and may replace Data; both are
// called by many goroutines at once, each with its own volumes.
type Preparation interface {
	fmt.Stringer
	// Validate reports everything that is wrong with the preparation itself, for
	// volumes of these names.
	Validate(names []string) error
	// Outline changes shapes, kinds and geometry of volumes that have no values.
	Outline(volumes []*Volume) error
	// Prepare changes the volumes. It returns soon after ctx is done.
	Prepare(ctx context.Context, volumes []*Volume) error
}

// A GridMatcher is a Preparation that may bring volumes of one body from grids of
// their own, which differ in shape, spacing, origin or direction, to one grid. Where
// MatchesGrids says that it does, a patient's volumes have to agree in shape and
// place only once they are prepared. volume.ResampleToMatch is such a step.
type GridMatcher interface {
	Preparation
	MatchesGrids() bool
}

// Prepare sets what is done to the volumes between decoding and cutting.
func Prepare(p Preparation) StudyOption {
	return studyOption(func(s *studyCore) {
		if s.prepare != nil {
			s.errs = append(s.errs, errors.New("dataset: Prepare: want it once"))
		}
		s.prepare = p
	})
}

// VolumeCache sets how many bytes of prepared volumes are kept in memory. The
// default is 2 GiB; [Study.Bytes] is what the whole study needs.
//
// Volumes in use are held beyond the limit, up to a patient per worker. A
// patient larger than the limit is used and forgotten. Where the limit is below
// the study's size, an order that jumps from patient to patient decodes volumes
// for a few samples each. Then take the samples of few patients at a time:
// sampler.Grouped(cut.Ends(), …) shuffles so.
func VolumeCache(bytes int64) StudyOption {
	return studyOption(func(s *studyCore) { s.cacheSize = bytes })
}

// MaxVolumeSize sets how many bytes the values of one file may take, so that no
// file can take all memory. The default is 4 GiB.
func MaxVolumeSize(bytes int64) StudyOption {
	return studyOption(func(s *studyCore) { s.limit = bytes })
}

// Tolerance sets how far apart in the world the corners of a patient's volumes
// may be, in voxels along their finest axis. The default is 0.01; infinity means
// that only shapes have to agree.
func Tolerance(voxels float64) StudyOption {
	return studyOption(func(s *studyCore) { s.tolerance = voxels })
}

func (c *studyCore) validate() error {
	errs := c.errs
	if len(c.sources) == 0 {
		errs = append(errs, errors.New("dataset: volumes: want a Scan or a Mask"))
	}
	for i, s := range c.sources {
		if slices.ContainsFunc(c.sources[:i], func(o Source) bool { return o.name == s.name }) {
			errs = append(errs, fmt.Errorf("dataset: volumes: two are named %q", s.name))
		}
		if s.name == "" {
			errs = append(errs, fmt.Errorf("dataset: volumes: %v: want a name", s))
		}
		if s.pattern != "" && !strings.Contains(s.pattern, wildcard) || s.pattern == "" && len(c.table) == 0 {
			errs = append(errs, fmt.Errorf("dataset: volumes: %s: pattern %q: want %s in it", s.name, s.pattern, wildcard))
		}
		if !slices.Contains(volumeDtypes, s.dtype) {
			errs = append(errs, fmt.Errorf("dataset: volumes: %s: As(%v): want an integer of fixed size or a float", s.name, s.dtype))
		} else if err := s.checkFill(); err != nil {
			errs = append(errs, err)
		}
	}
	if c.prepare != nil {
		names := make([]string, len(c.sources))
		for k, s := range c.sources {
			names[k] = s.name
		}
		errs = append(errs, c.prepare.Validate(names))
	}
	if c.cacheSize < 0 {
		errs = append(errs, fmt.Errorf("dataset: VolumeCache(%d): want 0 or more", c.cacheSize))
	}
	if c.limit < 1 {
		errs = append(errs, fmt.Errorf("dataset: MaxVolumeSize(%d): want 1 or more", c.limit))
	}
	if !(c.tolerance >= 0) {
		errs = append(errs, fmt.Errorf("dataset: Tolerance(%v): want 0 or more", c.tolerance))
	}
	return errors.Join(errs...)
}

var volumeDtypes = []tensor.Dtype{
	tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64,
	tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Float32, tensor.Float64,
}

func (s Source) checkFill() error {
	if dense.IsFloat(s.dtype) {
		return nil
	}
	bits := int(s.dtype.Size()) * 8
	lo, hi := 0.0, math.Ldexp(1, bits)
	if strings.HasPrefix(s.dtype.Name(), "int") {
		lo, hi = -hi/2, hi/2
	}
	if s.fill != math.Trunc(s.fill) || s.fill < lo || s.fill >= hi {
		return fmt.Errorf("dataset: volumes: %s: Fill(%v): want a value of %v", s.name, s.fill, s.dtype)
	}
	return nil
}
