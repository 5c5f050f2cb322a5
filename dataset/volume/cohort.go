package volume

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"github.com/penstock-go/penstock/internal/figures"
)

// A Cohort is a set of patients, each with the same named volumes, made by
// [Open]. It is not a dataset itself. [Cohort.Whole], [Cohort.Ragged],
// [Cohort.Slices] and [Cohort.Patches] make datasets of it, which share its
// cache.
//
// A volume is decoded, changed by the steps of [Prepare] and kept in the
// cache. Samples are copied from there into their slots and converted to the
// dtype of the field. So put steps with the same result for every sample of a
// patient (resampling, windowing) in Prepare, and others (random flips) in
// [Augment].
//
// A Cohort, its datasets and their Readers may be used by several goroutines.
type Cohort struct {
	*core
	patients []int // of the core
}

// core is what a cohort shares with its subsets.
type core struct {
	config
	fsys     fs.FS
	prepare  *program // nil if there are no steps
	all      []patient
	channels []int // per source
	cache    *cache
}

// patient is what the headers tell about a patient.
type patient struct {
	name     string
	files    []string  // per source; "" where the patient has none
	outlines []*Volume // per source, prepared, without values; nil where the patient has none
	shape    []int     // (z, y, x) or (y, x), of all volumes
}

// Open makes a cohort of the volumes in fsys, usually an [os.DirFS], in any
// format of [Read]. At least one option must be a [Scan] or a [Mask].
//
// It reads the headers of all files, several at a time. Missing volumes,
// unreadable headers, and patients whose volumes differ in shape or position are
// errors that name the patient. All errors are reported together. If volumes of
// a patient are on different grids, as PET and CT scans are, [Prepare] must
// begin with [ResampleToMatch].
//
// A volume has two or three spatial axes, the same number for all patients.
// Other axes, such as time or the components of a vector, become channels. All
// patients must have the same number of channels.
func Open(fsys fs.FS, options ...Option) (*Cohort, error) {
	c := &core{fsys: fsys, config: newConfig(options)}
	if len(c.steps) > 0 {
		c.prepare = compile(c.steps, false)
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
	c.cache = newCache(c.cacheSize, c.load)
	s := &Cohort{core: c, patients: make([]int, len(c.all))}
	for i := range s.patients {
		s.patients[i] = i
	}
	return s, nil
}

// Len is the number of patients.
func (c *Cohort) Len() int { return len(c.patients) }

// Names are the names of the patients, in the order of their indices.
func (c *Cohort) Names() []string {
	names := make([]string, len(c.patients))
	for i := range names {
		names[i] = c.patient(i).name
	}
	return names
}

func (c *Cohort) patient(i int) *patient { return &c.all[c.patients[i]] }

// Subset is a cohort of some of the patients, given by their indices in
// [Cohort.Names]. It shares the cache. Use it to split training and validation
// by patient, not by slice.
func (c *Cohort) Subset(patients []int) (*Cohort, error) {
	s := &Cohort{core: c.core}
	for _, i := range patients {
		if err := c.checkPatient(i); err != nil {
			return nil, err
		}
		s.patients = append(s.patients, c.patients[i])
	}
	return s, nil
}

func (c *Cohort) checkPatient(i int) error {
	if i < 0 || i >= c.Len() {
		return fmt.Errorf("volume: patient %d is out of range: there are %d", i, c.Len())
	}
	return nil
}

// Headers are the prepared volumes of patient i without their values: their
// dtypes, shapes and geometry, in the order of the options of Open. A volume
// that the patient does not have is nil. i must be from 0 to Len()-1.
func (c *Cohort) Headers(i int) []*Volume {
	outlines := c.patient(i).outlines
	headers := make([]*Volume, len(outlines))
	for k, v := range outlines {
		if v != nil {
			headers[k] = v.Header()
		}
	}
	return headers
}

// Bytes is the size of the prepared volumes of all patients. A [CacheSize] of
// this many bytes keeps all of them.
func (c *Cohort) Bytes() int64 {
	var n int64
	for i := range c.patients {
		for _, v := range c.patient(i).outlines {
			if v != nil {
				n += v.Bytes()
			}
		}
	}
	return n
}

// Stats reports on the cache, for all datasets of the cohort and its subsets
// together.
func (c *Cohort) Stats() CacheStats { return c.cache.snapshot() }

// Load returns the prepared volumes of patient i, from the cache if they are
// there, in the order of the options of Open. A volume that the patient does
// not have is nil. The volumes are shared, so they must not be changed. They
// stay in memory until release is called. Call it exactly once.
func (c *Cohort) Load(ctx context.Context, i int) (volumes []*Volume, release func(), err error) {
	if err := c.checkPatient(i); err != nil {
		return nil, nil, err
	}
	e, err := c.cache.acquire(ctx, c.patients[i])
	if err != nil {
		return nil, nil, err
	}
	return slices.Clone(e.volumes.list), func() { c.cache.release(e) }, nil
}

// String is the plan up to the cut: what is read, how it is prepared and how
// much is cached.
func (c *Cohort) String() string {
	text := figures.Count(len(c.patients), "patient", "patients") + "\n"
	for _, s := range c.sources {
		text += fmt.Sprintf("  read      %v\n", s)
	}
	if c.prepare != nil {
		text += fmt.Sprintf("  prepare   %v, once per patient\n", c.prepare)
	}
	return text + fmt.Sprintf("  cache     up to %s of %s", figures.Bytes(c.cacheSize), figures.Bytes(c.Bytes()))
}
