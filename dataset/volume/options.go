package volume

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
)

// An Option adds a volume to a cohort, or changes what [Open] does.
type Option struct{ set func(*config) }

// config holds what the options set.
type config struct {
	sources   []source
	table     []Patient // as given by Patients; nil if they are to be found
	steps     []Step
	limit     int64   // bytes of one volume
	cacheSize int64   // bytes
	tolerance float64 // voxels
}

// defaultTolerance is that of [Tolerance].
const defaultTolerance = 0.01

func newConfig(options []Option) config {
	c := config{limit: 4 << 30, cacheSize: 2 << 30, tolerance: defaultTolerance}
	for _, o := range options {
		if o.set != nil {
			o.set(&c)
		}
	}
	return c
}

// A Patient is a row of a table of patients: the patient's name, and the paths
// of the files by the names of the volumes. The pattern of [Scan] or [Mask]
// finds volumes that Files lacks.
type Patient struct {
	Name  string
	Files map[string]string
}

// Patients sets the patients and their order. By default the patterns of [Scan]
// and [Mask] find them, and they are sorted by name.
func Patients(table ...Patient) Option {
	return Option{func(c *config) { c.table = append(c.table, table...) }}
}

// Prepare applies the steps to the volumes of every patient once, after they are
// decoded and before they are cached and cut. Steps of further calls are
// appended.
func Prepare(steps ...Step) Option {
	return Option{func(c *config) { c.steps = append(c.steps, steps...) }}
}

// CacheSize sets how many bytes of prepared volumes are kept in memory. The
// default is 2 GiB. [Cohort.Bytes] is what the whole cohort needs.
//
// Volumes in use may exceed the limit by up to one patient per worker. A patient
// larger than the limit is not kept. If the limit is below the size of the
// cohort, a random order of samples decodes a patient again for every few
// samples. Then shuffle with sampler.Grouped(cut.Ends(), …), which takes the
// samples of a few patients at a time.
func CacheSize(bytes int64) Option { return Option{func(c *config) { c.cacheSize = bytes }} }

// MaxBytes sets how many bytes the values of one volume may have, so that no
// file can take all memory. The default is 4 GiB.
func MaxBytes(bytes int64) Option { return Option{func(c *config) { c.limit = bytes }} }

// Tolerance sets how far apart the corners of a patient's volumes may be in the
// world, in voxels of the finest axis. The default is 0.01. Infinity means that
// only shapes must be equal.
func Tolerance(voxels float64) Option { return Option{func(c *config) { c.tolerance = voxels }} }

func (c *core) validate() error {
	var errs []error
	if c.fsys == nil {
		errs = append(errs, errors.New("volume: Open: the file system is nil"))
	}
	if len(c.sources) == 0 {
		errs = append(errs, errors.New("volume: want a Scan or a Mask"))
	}
	for i, s := range c.sources {
		if slices.ContainsFunc(c.sources[:i], func(o source) bool { return o.name == s.name }) {
			errs = append(errs, fmt.Errorf("volume: two volumes are named %q", s.name))
		}
		if s.name == "" {
			errs = append(errs, fmt.Errorf("volume: %v: want a name", s))
		}
		if s.pattern != "" && !strings.Contains(s.pattern, wildcard) || s.pattern == "" && len(c.table) == 0 {
			errs = append(errs, fmt.Errorf("volume: %s: pattern %q: want %s in it", s.name, s.pattern, wildcard))
		}
		if !slices.Contains(fieldDtypes, s.dtype) {
			errs = append(errs, fmt.Errorf("volume: %s: As(%v): want an integer of fixed size or a float", s.name, s.dtype))
		} else if err := s.checkFill(); err != nil {
			errs = append(errs, err)
		}
	}
	if c.prepare != nil {
		names := make([]string, len(c.sources))
		for k, s := range c.sources {
			names[k] = s.name
		}
		errs = append(errs, c.prepare.validate(names))
	}
	if c.cacheSize < 0 {
		errs = append(errs, fmt.Errorf("volume: CacheSize(%d): want 0 or more", c.cacheSize))
	}
	if c.limit < 1 {
		errs = append(errs, fmt.Errorf("volume: MaxBytes(%d): want 1 or more", c.limit))
	}
	if !(c.tolerance >= 0) {
		errs = append(errs, fmt.Errorf("volume: Tolerance(%v): want 0 or more", c.tolerance))
	}
	return errors.Join(errs...)
}

var fieldDtypes = []dataset.Dtype{
	dataset.Int8, dataset.Int16, dataset.Int32, dataset.Int64,
	dataset.Uint8, dataset.Uint16, dataset.Uint32, dataset.Float32, dataset.Float64,
}
