package volume

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/files"
)

// A Cohort is a set of patients with named volumes that are loaded together, made
// by [Open]. It is no dataset itself: [Cohort.Whole], [Cohort.Ragged],
// [Cohort.Slices] and [Cohort.Patches] make datasets of it, which share its cache.
//
// A volume is decoded, taken through the steps of [Prepare] and kept in the cache;
// from there every sample is copied, and converted, straight into its slot. So put
// what is the same for every sample of a patient (resampling, windowing) into
// Prepare, and what differs (random flips) into [Augment].
//
// Cohort, its datasets and their readers may be used by several goroutines.
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
	advisor  files.Advisor
}

// patient is one of a cohort, as far as headers tell.
type patient struct {
	name     string
	files    []string  // per source; "" where the patient has none
	outlines []*Volume // per source, prepared, without values; nil where the patient has none
	shape    []int     // (z, y, x) or (y, x), of all volumes
}

// Open makes a cohort of the volumes in fsys, usually an [os.DirFS], in any format
// that [Read] reads. At least one option is a [Scan] or a [Mask].
//
// It reads the headers of all files, several at a time. Volumes that are missing,
// headers that cannot be read, and patients whose volumes differ in shape or
// place are errors that name the patient; they are reported together. A scan on a
// grid of its own, as a PET beside its CT has, takes a [Prepare] that begins with
// [ResampleToMatch].
//
// A volume has two or three spatial axes, in all patients the same number. Other
// axes, such as time or the components of a vector, become channels; there are
// equally many of them in every patient.
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

// Names are the patients' names, in their order.
func (c *Cohort) Names() []string {
	names := make([]string, len(c.patients))
	for i := range names {
		names[i] = c.patient(i).name
	}
	return names
}

func (c *Cohort) patient(i int) *patient { return &c.all[c.patients[i]] }

// Subset is the cohort of some of the patients, given by their places in Names,
// with the same cache: training and validation are best parted by patient, not
// by slice.
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
		return fmt.Errorf("volume: patient %d of %d", i, c.Len())
	}
	return nil
}

// Headers are the prepared volumes of patient i, which must be below Len, without
// values: their dtypes, shapes and geometry. A volume that the patient does not
// have is nil.
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

// Bytes is what the prepared volumes of all patients take in memory, the limit
// that [CacheSize] would need to keep them.
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

// Stats is what the cache has done so far, for all datasets of the cohort and its subsets.
func (c *Cohort) Stats() CacheStats { return c.cache.snapshot() }

// Load is the prepared volumes of patient i, from the cache if they are there;
// nil for one that the patient does not have. They are shared and must not be
// changed. They stay in memory until release is called, which is due once.
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

// String is the way of the volumes as far as the cut: what is read, what is done
// to it and how much is kept.
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
