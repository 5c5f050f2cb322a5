package dataset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"gorgonia.org/tensor"
)

// A Study is a set of patients with named volumes that are loaded together, made
// by [Volumes]. It is no dataset itself: [Study.Whole], [Study.Ragged],
// [Study.Slices] and [Study.Patches] make datasets of it, which share its cache.
//
// A volume is decoded, taken through the [Preparation] and kept in the cache;
// from there every sample is copied, and converted, straight into its slot. So
// what is the same for every sample of a patient (resampling, windowing) belongs
// into the preparation, and what differs (random flips) behind the cut.
//
// Study, its datasets and their readers may be used by several goroutines.
type Study struct {
	*studyCore
	patients []int // of the core
}

type studyCore struct {
	fsys      fs.FS
	sources   []Source
	table     []Patient // as given by Patients; nil if they are to be found
	prepare   Preparation
	limit     int64   // bytes of one volume
	cacheSize int64   // bytes
	tolerance float64 // voxels
	errs      []error

	all      []studyPatient
	channels []int // per source
	cache    *volumeCache
}

type studyPatient struct {
	name     string
	files    []string  // per source; "" where the patient has none
	outlines []*Volume // per source, prepared, without values; nil where the patient has none
	shape    []int     // (z, y, x) or (y, x), of all volumes
}

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

// Fill sets the value of voxels that lie beyond the volume, or of a volume that
// is missing. The default is 0.
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

// Volumes makes a study of the volumes in fsys, usually an [os.DirFS]: NRRD and
// NIfTI files, see [ReadVolume].
//
// It reads the headers of all files, several at a time. Volumes that are missing,
// headers that cannot be read, and patients whose volumes differ in shape or
// place are errors that name the patient; they are reported together.
//
// A volume has two or three spatial axes, in all patients the same number. Other
// axes, such as time or the components of a vector, become channels; there are
// equally many of them in every patient.
func Volumes(fsys fs.FS, options ...StudyOption) (*Study, error) {
	c := &studyCore{fsys: fsys, limit: 4 << 30, cacheSize: 2 << 30, tolerance: 0.01}
	for _, option := range options {
		option.add(c)
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	if err := c.findPatients(); err != nil {
		return nil, err
	}
	if err := c.readOutlines(); err != nil {
		return nil, err
	}
	c.cache = newVolumeCache(c.cacheSize, c.load)
	s := &Study{studyCore: c, patients: make([]int, len(c.all))}
	for i := range s.patients {
		s.patients[i] = i
	}
	return s, nil
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
	if isFloat(s.dtype) {
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

// Len is the number of patients.
func (s *Study) Len() int { return len(s.patients) }

// Names are the patients' names, in their order.
func (s *Study) Names() []string {
	names := make([]string, len(s.patients))
	for i, p := range s.patients {
		names[i] = s.all[p].name
	}
	return names
}

// Subset is the study of some of the patients, given by their places in Names,
// with the same cache: training and validation are best parted by patient, not
// by slice.
func (s *Study) Subset(patients []int) (*Study, error) {
	t := &Study{studyCore: s.studyCore}
	for _, i := range patients {
		if i < 0 || i >= len(s.patients) {
			return nil, fmt.Errorf("dataset: study: patient %d of %d", i, len(s.patients))
		}
		t.patients = append(t.patients, s.patients[i])
	}
	return t, nil
}

// Headers are the prepared volumes of patient i, which must be below Len, without
// values: their kinds, shapes and geometry. A volume that the patient does not
// have is nil.
func (s *Study) Headers(i int) []*Volume {
	outlines := s.all[s.patients[i]].outlines
	headers := make([]*Volume, len(outlines))
	for k, v := range outlines {
		if v != nil {
			headers[k] = v.Header()
		}
	}
	return headers
}

// Bytes is what the prepared volumes of all patients take in memory, the limit
// that [VolumeCache] would need to keep them.
func (s *Study) Bytes() int64 {
	var n int64
	for _, p := range s.patients {
		n += s.all[p].bytes()
	}
	return n
}

func (p *studyPatient) bytes() int64 {
	var n int64
	for _, v := range p.outlines {
		if v != nil {
			n += v.Bytes()
		}
	}
	return n
}

// Stats is what the cache has done so far, for all datasets of the study and its subsets.
func (s *Study) Stats() VolumeStats { return s.cache.snapshot() }

// Load is the prepared volumes of patient i, from the cache if they are there;
// nil for one that the patient does not have. They are shared and must not be
// changed. They stay in memory until release is called, which is due once.
func (s *Study) Load(ctx context.Context, i int) (volumes []*Volume, release func(), err error) {
	if err := checkIndex(i, len(s.patients)); err != nil {
		return nil, nil, err
	}
	e, err := s.cache.acquire(ctx, s.patients[i])
	if err != nil {
		return nil, nil, err
	}
	return slices.Clone(e.volumes.list), func() { s.cache.release(e) }, nil
}

// String is the way of the volumes as far as the cut: what is read, what is done
// to it and how much is kept.
func (s *Study) String() string {
	text := fmt.Sprintf("%d patients\n", len(s.patients))
	for _, source := range s.sources {
		text += fmt.Sprintf("  read      %v\n", source)
	}
	if s.prepare != nil {
		text += fmt.Sprintf("  prepare   %v, once per patient\n", s.prepare)
	}
	return text + fmt.Sprintf("  cache     up to %d MiB of %d MiB", s.cacheSize>>20, s.Bytes()>>20)
}
