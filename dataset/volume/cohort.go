package volume

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"sync"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/files"
)

// A Cohort is a set of patients, each with the same named volumes, made by
// [Open]. [Cohort.Whole], [Cohort.Ragged], [Cohort.Slices] and [Cohort.Patches]
// make datasets of it, which share its cache.
//
// Such a dataset has a field for every volume, with the name of the volume and the
// shape (channels, z, y, x), or (channels, rows, columns) of a slice. All volumes of
// a patient are cut at the same place. An optional volume has a further field, a
// bool named "…_present". The field "patient", int64, is the index of the patient in
// [Cohort.Names]. Samples are ordered by patient. The dataset prints its plan with %v.
//
// A volume is decoded, changed by the steps of [Prepare] and kept in the
// cache. Samples are copied from there into their slots and converted to the
// dtype of the field; that allocates nothing. So put steps with the same result for
// every sample of a patient (resampling, windowing) in Prepare, and others (random
// flips) in [Augment].
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

func (c *Cohort) len() int { return len(c.patients) }

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
	if i < 0 || i >= c.len() {
		return fmt.Errorf("volume: patient %d is out of range: there are %d", i, c.len())
	}
	return nil
}

// size is that of the prepared volumes of all patients.
func (c *Cohort) size() int64 {
	var n int64
	for i := range c.patients {
		for _, v := range c.patient(i).outlines {
			if v != nil {
				n += v.size()
			}
		}
	}
	return n
}

// Stats reports on the cache of patients, for all datasets of the cohort and its subsets
// together. More misses than Len mean that volumes were decoded again: see [CacheSize].
func (c *Cohort) Stats() dataset.CacheStats { return c.cache.snapshot() }

// Load returns the prepared volumes of patient i, from the cache if they are
// there, in the order of the options of Open. A volume that the patient does
// not have is nil. The volumes are shared, so they must not be changed.
func (c *Cohort) Load(ctx context.Context, i int) ([]*Volume, error) {
	if err := c.checkPatient(i); err != nil {
		return nil, err
	}
	e, err := c.cache.acquire(ctx, c.patients[i])
	if err != nil {
		return nil, err
	}
	return slices.Clone(e.volumes.list), nil
}

// plan is what is read, how it is prepared and how much is cached.
func (c *Cohort) plan() string {
	text := figures.Count(len(c.patients), "patient", "patients") + "\n"
	for _, s := range c.sources {
		text += fmt.Sprintf("  read      %v\n", s)
	}
	if c.prepare != nil {
		text += fmt.Sprintf("  prepare   %v, once per patient\n", c.prepare)
	}
	return text + fmt.Sprintf("  cache     up to %s of %s", figures.Bytes(c.cacheSize), figures.Bytes(c.size()))
}

// patientVolumes are one patient's volumes, prepared, as the cache keeps them.
type patientVolumes struct {
	list  []*Volume // per source; nil where the patient has none
	bytes int64

	mu      sync.Mutex
	regions map[string]*region // by mask and labels
}

// load reads and prepares a patient's volumes.
func (c *core) load(ctx context.Context, i int) (*patientVolumes, error) {
	p := &c.all[i]
	loaded := &patientVolumes{list: make([]*Volume, len(c.sources))}
	for k, s := range c.sources {
		if p.files[k] == "" {
			continue
		}
		v, err := c.read(ctx, &farFS{FS: files.In(ctx, c.fsys)}, &s, p.files[k], true)
		if err != nil {
			return nil, c.fileError(p, k, err)
		}
		loaded.list[k] = v
	}
	if err := c.unchanged(p, loaded.list); err != nil {
		return nil, err
	}
	if c.prepare != nil {
		if err := c.prepare.run(presentOf(loaded.list), &work{ctx: ctx}); err != nil {
			return nil, fmt.Errorf("volume: patient %s: prepare: %w", p.name, err)
		}
	}
	for k, v := range loaded.list {
		if v == nil {
			continue
		}
		err := v.castExact(c.sources[k].dtype)
		if err == nil && !slices.Equal(v.Shape, p.outlines[k].Shape) {
			err = fmt.Errorf("prepare: made the shape %v, want %v as planned", dims(v.Shape), dims(p.outlines[k].Shape))
		}
		if err == nil {
			err = v.check()
		}
		if err != nil {
			return nil, c.fileError(p, k, err)
		}
		loaded.bytes += v.size()
	}
	return loaded, nil
}

// read reads one of a patient's volumes, or only its header.
func (c *core) read(ctx context.Context, fsys fs.FS, s *source, file string, values bool) (*Volume, error) {
	v, err := read(ctx, fsys, file, c.limit, values)
	if err == nil {
		err = v.channelsFirst()
	}
	if err == nil {
		err = c.checkSize(v)
	}
	if err != nil {
		return nil, err
	}
	v.Name, v.Mask, v.Fill = s.name, s.mask, s.fill
	return v, nil
}

// unchanged finds files that have changed since the cohort was opened, before a
// preparation allocates memory for them.
func (c *core) unchanged(p *patient, volumes []*Volume) error {
	headers := make([]*Volume, len(volumes))
	for k, v := range volumes {
		if v != nil {
			headers[k] = v.header()
		}
	}
	if c.prepare != nil {
		if err := c.prepare.outline(presentOf(headers)); err != nil {
			return fmt.Errorf("volume: patient %s: prepare: %w", p.name, err)
		}
	}
	for k, h := range headers {
		if h != nil && !slices.Equal(h.Shape, p.outlines[k].Shape) {
			return c.fileError(p, k, fmt.Errorf("the file has changed: its volume has the shape %v, it had %v", dims(h.Shape), dims(p.outlines[k].Shape)))
		}
	}
	return nil
}

// region is the set of a mask's voxels with some labels. It is found once per patient.
func (p *patientVolumes) region(source int, key string, labels []float64) (*region, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.regions[key]; r != nil {
		return r, nil
	}
	r, err := regionOf(p.list[source], labels)
	if err != nil {
		return nil, err
	}
	if p.regions == nil {
		p.regions = map[string]*region{}
	}
	p.regions[key] = r
	return r, nil
}

// readOutlines reads all headers, prepares them and checks that they fit together.
func (c *core) readOutlines() error {
	err := files.Scan(len(c.all), files.Scanners, func(k int) error { return c.outline(&c.all[k]) })
	if err != nil {
		return err
	}
	return c.checkPatients()
}

func (c *core) outline(p *patient) error {
	p.outlines = make([]*Volume, len(c.sources))
	var errs []error
	for k, s := range c.sources {
		if p.files[k] == "" {
			continue
		}
		v, err := c.read(context.Background(), c.fsys, &s, p.files[k], false)
		if err != nil {
			errs = append(errs, c.fileError(p, k, err))
			continue
		}
		p.outlines[k] = v
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	present := presentOf(p.outlines)
	where := "volume: patient " + p.name + ": "
	if err := fit(where, "prepare: ", present, c.prepare, c.tolerance); err != nil {
		return err
	}
	if c.prepare != nil {
		for _, v := range present {
			if err := c.checkSize(v); err != nil {
				return fmt.Errorf("%sprepare: %s: %w", where, v.Name, err)
			}
		}
	}
	p.shape = slices.Clone(present[0].Shape[1:])
	return nil
}

func (c *core) checkSize(v *Volume) error {
	if v.size() > c.limit {
		return fmt.Errorf("%v: %d bytes of values, more than MaxBytes(%d)", dims(v.Shape), v.size(), c.limit)
	}
	return nil
}

// fileError says which of the patient's volumes the error belongs to.
func (c *core) fileError(p *patient, source int, err error) error {
	return fmt.Errorf("volume: patient %s, %s (%s): %w", p.name, c.sources[source].name, p.files[source], err)
}

func presentOf(volumes []*Volume) []*Volume {
	return slices.DeleteFunc(slices.Clone(volumes), func(v *Volume) bool { return v == nil })
}

// fit changes the headers of the volumes of one body as prepare would, which may be
// nil, and checks that the volumes are on one grid then. They must be on one grid
// before, too, unless prepare begins with ResampleToMatch. Errors begin with where, and
// those of prepare with where and preparing.
func fit(where, preparing string, vs []*Volume, prepare *program, tolerance float64) error {
	if err := spatial(where, vs); err != nil {
		return err
	}
	if prepare == nil || !prepare.matches {
		if err := agree(where, vs, tolerance); err != nil {
			return fmt.Errorf("%w: ResampleToMatch puts them on one grid", err)
		}
	}
	if prepare == nil {
		return nil
	}
	if err := prepare.outline(vs); err != nil {
		return fmt.Errorf("%s%s%w", where, preparing, err)
	}
	err := spatial(where, vs)
	if err == nil {
		err = agree(where, vs, tolerance)
	}
	if err != nil {
		return fmt.Errorf("%w, after preparation", err)
	}
	return nil
}

// spatial checks that volumes have channels and two or three spatial axes.
func spatial(where string, vs []*Volume) error {
	var errs []error
	for _, v := range vs {
		if len(v.Shape) < 3 || len(v.Shape) > 4 || slices.Min(v.Shape) < 1 {
			errs = append(errs, fmt.Errorf("%s%v: want channels and two or three spatial axes", where, v))
		}
	}
	return errors.Join(errs...)
}

// agree checks that volumes are on one grid.
func agree(where string, vs []*Volume, tolerance float64) error {
	var errs []error
	first := vs[0]
	for _, v := range vs[1:] {
		if !slices.Equal(v.Shape[1:], first.Shape[1:]) {
			errs = append(errs, fmt.Errorf("%s%s has the shape %v, %s has %v", where, first.Name, dims(first.Shape[1:]), v.Name, dims(v.Shape[1:])))
		} else if d := differ(first, v, tolerance); d != "" {
			errs = append(errs, fmt.Errorf("%s%s and %s are on different grids: %s", where, first.Name, v.Name, d))
		}
	}
	return errors.Join(errs...)
}

// differ says how the geometry of two volumes of one shape differs, if by more than
// tolerance voxels, or "". What is unknown in one of them is not compared.
func differ(a, b *Volume, tolerance float64) string {
	if math.IsInf(tolerance, 1) {
		return ""
	}
	finest := math.Inf(1)
	for k := 1; k < len(a.Shape); k++ {
		s, t := a.Axes[k].Spacing, b.Axes[k].Spacing
		if s == 0 || t == 0 {
			continue
		}
		finest = min(finest, s, t)
		if math.Abs(s-t)*float64(a.Shape[k]-1) > tolerance*min(s, t) {
			return fmt.Sprintf("spacings of %s and %s mm", times(a.spacings()), times(b.spacings()))
		}
	}
	// If all corners agree, origins and directions agree.
	for corner := range 1 << (len(a.Shape) - 1) {
		index := make([]float64, len(a.Shape))
		for k := 1; k < len(index); k++ {
			if corner>>(k-1)&1 == 1 {
				index[k] = float64(a.Shape[k] - 1)
			}
		}
		p, ok := a.Position(index...)
		q, ok2 := b.Position(index...)
		if !ok || !ok2 || (a.World == "") != (b.World == "") {
			return ""
		}
		x, y := a.inLPS(p), b.inLPS(q)
		if d := math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2]); d > tolerance*finest {
			return fmt.Sprintf("voxel %v is at %.4g and at %.4g mm", index[1:], x, y)
		}
	}
	return ""
}

// checkPatients finds what samples need all patients to have in common.
func (c *core) checkPatients() error {
	var errs []error
	c.channels = make([]int, len(c.sources))
	for k, s := range c.sources {
		first := -1
		for i := range c.all {
			v := c.all[i].outlines[k]
			switch {
			case v == nil:
			case first < 0:
				first, c.channels[k] = i, v.Shape[0]
			case v.Shape[0] != c.channels[k]:
				errs = append(errs, fmt.Errorf("volume: %s has %d channels in patient %s, %d in %s",
					s.name, c.channels[k], c.all[first].name, v.Shape[0], c.all[i].name))
			}
		}
		if first < 0 {
			errs = append(errs, fmt.Errorf("volume: no patient has %s (%s)", s.name, s.pattern))
		}
	}
	for i := range c.all {
		if p := &c.all[i]; len(p.shape) != len(c.all[0].shape) {
			errs = append(errs, fmt.Errorf("volume: patient %s has %d spatial axes, %s has %d",
				p.name, len(p.shape), c.all[0].name, len(c.all[0].shape)))
		}
	}
	return files.Join(errs)
}
