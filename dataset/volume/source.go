package volume

import (
	"fmt"
	"io/fs"

	"github.com/penstock-go/penstock/dataset"
)

// A source is one named volume of every patient.
type source struct {
	name     string
	pattern  string
	mask     bool
	optional bool
	dtype    dataset.Dtype
	fill     float64
	using    Decoder // nil if the name of the file tells the decoder
}

// decoder is that of the file.
func (s *source) decoder(fsys fs.FS, file string) Decoder {
	if s.using != nil {
		return s.using
	}
	return decoderOf(fsys, file)
}

// A SourceOption changes a [Scan] or [Mask].
type SourceOption struct{ set func(*source) }

// Scan adds a volume of measured values, such as a CT scan, to a cohort. name
// is the name of the volume and of its field. pattern is the path of its file,
// with {patient} in place of the patient's name, which has no slashes.
// {patient} may occur several times. *, ? and [ ] match as in [path.Match], but
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

// Using reads the volume with d instead of the decoder that [Read] chooses. The
// pattern may match folders if d reads folders.
func Using(d Decoder) SourceOption { return SourceOption{func(s *source) { s.using = d }} }

// Fill sets the value of voxels outside the volume, where a sample or the grid
// of another volume is larger. A missing volume has this value everywhere. The
// default is 0. The step [PadOrCrop] does not use it, see [Crop.Fill].
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
