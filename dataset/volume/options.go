package volume

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorgonia.org/tensor"
)

// An Option says what a cohort consists of, or changes what [Open] does.
type Option struct{ set func(*config) }

// config is what options say.
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

// A Patient is an entry of a table of patients: the name and, per volume, the
// file. A volume without a file here is where its pattern says.
type Patient struct {
	Name  string
	Files map[string]string
}

// Patients gives the patients and their order, instead of those that the
// patterns find, sorted by name.
func Patients(table ...Patient) Option {
	return Option{func(c *config) { c.table = append(c.table, table...) }}
}

// Prepare takes every patient's volumes through the steps once, after they were
// decoded and before they are kept and cut. Steps of several calls follow each other.
func Prepare(steps ...Step) Option {
	return Option{func(c *config) { c.steps = append(c.steps, steps...) }}
}

// CacheSize sets how many bytes of prepared volumes are kept in memory. The
// default is 2 GiB; [Cohort.Bytes] is what the whole cohort needs.
//
// Volumes in use are held beyond the limit, up to a patient per worker. A
// patient larger than the limit is used and forgotten. Where the limit is below
// the cohort's size, an order that jumps from patient to patient decodes volumes
// for a few samples each. Then take the samples of few patients at a time:
// sampler.Grouped(cut.Ends(), …) shuffles so.
func CacheSize(bytes int64) Option { return Option{func(c *config) { c.cacheSize = bytes }} }

// MaxSize sets how many bytes the values of one volume may take, so that no file
// can take all memory. The default is 4 GiB.
func MaxSize(bytes int64) Option { return Option{func(c *config) { c.limit = bytes }} }

// Tolerance sets how far apart in the world the corners of a patient's volumes
// may be, in voxels along their finest axis. The default is 0.01; infinity means
// that only shapes have to agree.
func Tolerance(voxels float64) Option { return Option{func(c *config) { c.tolerance = voxels }} }

func (c *core) validate() error {
	var errs []error
	if len(c.sources) == 0 {
		errs = append(errs, errors.New("volume: want a Scan or a Mask"))
	}
	for i, s := range c.sources {
		if slices.ContainsFunc(c.sources[:i], func(o source) bool { return o.name == s.name }) {
			errs = append(errs, fmt.Errorf("volume: two are named %q", s.name))
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
		errs = append(errs, fmt.Errorf("volume: MaxSize(%d): want 1 or more", c.limit))
	}
	if !(c.tolerance >= 0) {
		errs = append(errs, fmt.Errorf("volume: Tolerance(%v): want 0 or more", c.tolerance))
	}
	return errors.Join(errs...)
}

var fieldDtypes = []tensor.Dtype{
	tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64,
	tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Float32, tensor.Float64,
}
