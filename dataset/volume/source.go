package volume

import (
	"fmt"
	"io/fs"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/internal/dense"
)

// A source is one named volume of every patient.
type source struct {
	name     string
	pattern  string
	mask     bool
	optional bool
	dtype    tensor.Dtype
	fill     float64
	using    Decoder // nil for those that names tell
}

// decoder is that of the file.
func (s *source) decoder(fsys fs.FS, file string) Decoder {
	if s.using != nil {
		return s.using
	}
	return decoderOf(fsys, file)
}

// A SourceOption changes what [Scan] or [Mask] takes.
type SourceOption struct{ set func(*source) }

// Scan is a volume of measured values, such as a CT scan: its name, which is
// that of the samples' field, and where patients have it. The pattern is a path
// with {patient} where the patient's name stands, which is a name or part of a
// name between slashes; it may stand there several times. Besides, *, ? and [ ]
// match as in [path.Match], and must match one file per patient. Names that begin
// with a dot are passed over. With a table of
// files (see [Patients]) the pattern may be "".
//
// The field is float32 unless [As] says otherwise.
func Scan(name, pattern string, options ...SourceOption) Option {
	return sourceOf(source{name: name, pattern: pattern, dtype: tensor.Float32}, options)
}

// Mask is a volume of labels, described as in [Scan]. Steps that would mix or
// change values leave labels as they are.
//
// The field is uint8 unless [As] says otherwise.
func Mask(name, pattern string, options ...SourceOption) Option {
	return sourceOf(source{name: name, pattern: pattern, mask: true, dtype: tensor.Uint8}, options)
}

func sourceOf(s source, options []SourceOption) Option {
	for _, o := range options {
		if o.set != nil {
			o.set(&s)
		}
	}
	return Option{func(c *config) { c.sources = append(c.sources, s) }}
}

// As sets the dtype of the field: a plain integer or a float. A value that an
// integer cannot hold is an error; floats are rounded to what theirs can.
func As(dt tensor.Dtype) SourceOption { return SourceOption{func(s *source) { s.dtype = dt }} }

// Optional allows patients without this volume. Their samples hold the value of
// [Fill], and a bool field named after the volume, "ct_present", tells.
func Optional() SourceOption { return SourceOption{func(s *source) { s.optional = true }} }

// Using reads the volume by a decoder, whatever its name tells. The pattern may match
// a folder, where the decoder reads folders.
func Using(d Decoder) SourceOption { return SourceOption{func(s *source) { s.using = d }} }

// Fill sets the value of voxels that lie beyond the volume, where a sample or the
// grid of another volume goes on, or of a volume that is missing. The default is 0.
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
	if dense.IsFloat(s.dtype) || holds(s.dtype, s.fill) {
		return nil
	}
	return fmt.Errorf("volume: %s: Fill(%v): want a value of %v", s.name, s.fill, s.dtype)
}
