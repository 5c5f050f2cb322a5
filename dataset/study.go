package dataset

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/files"
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
	advisor  files.Advisor
}

type studyPatient struct {
	name     string
	files    []string  // per source; "" where the patient has none
	outlines []*Volume // per source, prepared, without values; nil where the patient has none
	shape    []int     // (z, y, x) or (y, x), of all volumes
}

// Volumes makes a study of the volumes in fsys, usually an [os.DirFS]: NRRD and
// NIfTI files, see [ReadVolume].
//
// It reads the headers of all files, several at a time. Volumes that are missing,
// headers that cannot be read, and patients whose volumes differ in shape or
// place are errors that name the patient; they are reported together. A scan on a
// grid of its own, as PET has beside CT, takes a preparation that begins with
// volume.ResampleToMatch, see [GridMatcher].
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
	if err := CheckIndex(i, len(s.patients)); err != nil {
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
	text := figures.Count(len(s.patients), "patient", "patients") + "\n"
	for _, source := range s.sources {
		text += fmt.Sprintf("  read      %v\n", source)
	}
	if s.prepare != nil {
		text += fmt.Sprintf("  prepare   %v, once per patient\n", s.prepare)
	}
	return text + fmt.Sprintf("  cache     up to %s of %s", figures.Bytes(s.cacheSize), figures.Bytes(s.Bytes()))
}
