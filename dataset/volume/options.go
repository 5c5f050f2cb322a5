package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/files"
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
// default is 2 GiB. A dataset of the cohort prints how many the whole cohort needs.
//
// Volumes in use may exceed the limit by up to one patient per worker, and [Positives]
// takes up to 4 bytes per voxel of its mask in addition. A patient
// larger than the limit is not kept. If the limit is below the size of the
// cohort, a random order of samples decodes a patient again for every few
// samples. Then shuffle with sampler.Grouped([Ends](ds), …), which takes the
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

// A source is one named volume of every patient.
type source struct {
	name     string
	pattern  string
	mask     bool
	optional bool
	dtype    dataset.Dtype
	fill     float64
}

// A SourceOption changes a [Scan] or [Mask].
type SourceOption struct{ set func(*source) }

// Scan adds a volume of measured values, such as a CT scan, to a cohort. name
// is the name of the volume and of its field. pattern is the path of its file,
// with {patient} in place of the patient's name, which has no slashes.
// {patient} may occur several times. * and ? match as in [path.Match], but
// must match one file per patient. Patient names that begin with a dot are
// skipped. The pattern may be "" if [Patients] names the files.
//
// The field is float32 unless [As] says otherwise.
func Scan(name, pattern string, options ...SourceOption) Option {
	return sourceOf(source{name: name, pattern: pattern, dtype: dataset.Float32}, options)
}

// Mask adds a volume of labels to a cohort, as [Scan] does. Steps do not
// interpolate labels or change their values.
//
// The field is uint8 unless [As] says otherwise.
func Mask(name, pattern string, options ...SourceOption) Option {
	return sourceOf(source{name: name, pattern: pattern, mask: true, dtype: dataset.Uint8}, options)
}

func sourceOf(s source, options []SourceOption) Option {
	for _, o := range options {
		if o.set != nil {
			o.set(&s)
		}
	}
	return Option{func(c *config) { c.sources = append(c.sources, s) }}
}

// As sets the dtype of the field: an integer of fixed size or a float. A value
// that an integer dtype cannot hold is an error. Floats are rounded to the
// dtype.
func As(dt dataset.Dtype) SourceOption { return SourceOption{func(s *source) { s.dtype = dt }} }

// Optional allows patients without this volume. Their samples have the value of
// [Fill], and a bool field, "ct_present" for the volume "ct", is false.
func Optional() SourceOption { return SourceOption{func(s *source) { s.optional = true }} }

// Fill sets the value of voxels outside the volume, where a sample, the grid of another
// volume or [PadOrCrop] is larger. A missing volume has this value everywhere. The default
// is 0.
func Fill(value float64) SourceOption { return SourceOption{func(s *source) { s.fill = value }} }

// String prints the source: "ct from {patient}/ct.nrrd".
func (s source) String() string {
	text := s.name
	if s.pattern != "" {
		text += " from " + s.pattern
	}
	if s.optional {
		text += " (optional)"
	}
	return text
}

func (s source) checkFill() error {
	if s.dtype.IsFloat() || holds(s.dtype, s.fill) {
		return nil
	}
	return fmt.Errorf("volume: %s: Fill(%v): want a value of %v", s.name, s.fill, s.dtype)
}

// wildcard stands for the patient's name in a pattern.
const wildcard = "{patient}"

// findPatients sets c.all to the patients, with their names and files.
func (c *core) findPatients() error {
	table := c.table
	found := make([]map[string][]string, len(c.sources)) // files by patient
	names := map[string]bool{}
	for k, s := range c.sources {
		if s.pattern == "" || len(table) > 0 {
			continue
		}
		var err error
		if found[k], err = matchPatients(c.fsys, s.pattern); err != nil {
			return fmt.Errorf("volume: %s: %w", s.name, err)
		}
		for name := range found[k] {
			names[name] = true
		}
	}
	if len(table) == 0 {
		for name := range names {
			table = append(table, Patient{Name: name})
		}
		slices.SortFunc(table, func(a, b Patient) int { return strings.Compare(a.Name, b.Name) })
	}
	if len(table) == 0 {
		return fmt.Errorf("volume: no file matches %s", figures.Join(c.sources))
	}
	seen := map[string]bool{}
	var errs []error
	for _, row := range table {
		if row.Name == "" || seen[row.Name] {
			errs = append(errs, fmt.Errorf("volume: patient %q: want a name, and no other patient with it", row.Name))
			continue
		}
		seen[row.Name] = true
		p := patient{name: row.Name, files: make([]string, len(c.sources))}
		for k, s := range c.sources {
			file, err := c.fileOf(row, s, found[k])
			if err != nil {
				errs = append(errs, fmt.Errorf("volume: patient %s, %s: %w", row.Name, s.name, err))
			}
			p.files[k] = file
		}
		for name := range row.Files {
			if !slices.ContainsFunc(c.sources, func(s source) bool { return s.name == name }) {
				errs = append(errs, fmt.Errorf("volume: patient %s: file of %q, which is not a Scan or Mask of the cohort", row.Name, name))
			}
		}
		if !slices.ContainsFunc(p.files, func(f string) bool { return f != "" }) && len(errs) == 0 {
			errs = append(errs, fmt.Errorf("volume: patient %s has no volume", row.Name))
		}
		c.all = append(c.all, p)
	}
	return files.Join(errs)
}

// fileOf is the file of a volume of the patient, or "" if it is optional and missing.
func (c *core) fileOf(row Patient, s source, found map[string][]string) (string, error) {
	if file := row.Files[s.name]; file != "" {
		return file, nil // a missing file is an error when it is opened, even of an optional volume
	}
	files := found[row.Name]
	if len(c.table) > 0 && s.pattern != "" {
		if err := checkPattern(s.pattern); err != nil {
			return "", err
		}
		var err error
		if files, err = fs.Glob(c.fsys, patternOf(s.pattern, escape(row.Name))); err != nil {
			return "", fmt.Errorf("match %q: %w", s.pattern, err)
		}
	}
	switch {
	case len(files) == 1:
		return files[0], nil
	case len(files) > 1:
		return "", fmt.Errorf("%d files match %s: %s, %s: want one", len(files), s.pattern, files[0], files[1])
	case s.optional:
		return "", nil
	case s.pattern == "":
		return "", errors.New("no file in the table, and no pattern")
	}
	return "", fmt.Errorf("no file matches %s: %w", patternOf(s.pattern, row.Name), fs.ErrNotExist)
}

// matchPatients finds the files that match the pattern, by patient.
func matchPatients(fsys fs.FS, pattern string) (map[string][]string, error) {
	if err := checkPattern(pattern); err != nil {
		return nil, err
	}
	files, err := fs.Glob(fsys, patternOf(pattern, "*"))
	if err != nil {
		return nil, fmt.Errorf("match %q: %w", pattern, err)
	}
	// The regular expression finds the name at the first {patient}. path.Match with the name in every {patient} then tells
	// whether the others are the same.
	expression := strings.NewReplacer(regexp.QuoteMeta(wildcard), "([^/]+)", `\*`, "[^/]*", `\?`, "[^/]").Replace(regexp.QuoteMeta(pattern))
	matching, err := regexp.Compile("^" + expression + "$")
	if err != nil {
		return nil, fmt.Errorf("match %q: %w", pattern, err)
	}
	found := map[string][]string{}
	for _, file := range files {
		m := matching.FindStringSubmatch(file)
		if m == nil || strings.HasPrefix(m[1], ".") {
			continue
		}
		if ok, err := path.Match(patternOf(pattern, escape(m[1])), file); err != nil || !ok {
			continue
		}
		found[m[1]] = append(found[m[1]], file)
	}
	return found, nil
}

func checkPattern(pattern string) error {
	if strings.ContainsAny(pattern, `[\`) {
		return fmt.Errorf("pattern %q: want no special characters but * and ?", pattern)
	}
	return nil
}

// escape quotes the characters of a name that are special to path.Match.
func escape(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}

func patternOf(pattern, name string) string { return strings.ReplaceAll(pattern, wildcard, name) }
