package transform

import (
	"errors"
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/dataset"
)

// PassThrough names fields that stay as they are although steps move the image: a thumbnail, or the
// file of a second image that another [Pipeline] prepares.
//
// As in torchvision, all fields that no step names pass through, and the plan lists them
// ([Pipeline.String]). But some would surely no longer belong to the image: then [Images] returns
// an error if the field must be named here. These are masks and, where no step declares masks or
// keypoints instead, boxes (ragged float32 (n, 4)). Masks are fields named "mask", "masks" or
// "segments", if they are ragged uint8 or of shape (h, w). Where images are arrays, all arrays of their
// height and width are masks too. Fields named by [Apart] need not be named here.
//
// Whether another ragged uint8 field holds image files is known only once a sample is read, and
// not for PNM files, whose beginning is too short to be sure. Then the sample's error ends the
// loop, also where the loader skips samples that fail: see [dataset.MayPass]. [Compile] ignores
// PassThrough.
func PassThrough(fields ...string) Option {
	fields = slices.Clone(fields)
	return setting(named("PassThrough", quoted(fields...)...), func(p *program) error {
		if len(fields) == 0 || slices.Contains(fields, "") {
			return errors.New("want the names of fields")
		}
		p.annotated.passed = fields
		return nil
	})
}

// moves says that s moves pixels of the image.
func (p *program) moves(s Step) {
	if p.mover == "" {
		p.mover = nameOf(s)
	}
}

// movedBy is the first step that moves pixels of images, which are files or arrays. It is empty if
// there is none.
func (p *program) movedBy(files bool) string {
	if p.upright && files {
		return "ExifTranspose()" // comes before all others, and leaves arrays as they are
	}
	mover := p.mover
	for _, v := range p.views {
		if mover == "" {
			mover = v.program.movedBy(files)
		}
	}
	return mover
}

// handled are the fields of the dataset that steps move or see.
func (p *program) handled() []string {
	names := p.names()
	for _, b := range p.annotated.boxes {
		names = append(names, b.rows...)
	}
	for _, k := range p.annotated.points {
		names = append(names, k.rows...)
	}
	for _, s := range p.samplings {
		names = append(names, s.fields...)
	}
	for _, v := range p.views {
		names = append(names, v.program.handled()...)
	}
	return names
}

// passing are the fields that stay as they are.
func (p *program) passing(spec dataset.Spec) (fields dataset.Spec) {
	handled := append(p.handled(), p.field)
	for _, f := range spec {
		if !slices.Contains(handled, f.Name) {
			fields = append(fields, f)
		}
	}
	return fields
}

// checkPassing is the error of fields that stay as they are although they surely belong to the
// image, whose arrays have w×h pixels. Zeros mean that it is a file.
func (p *program) checkPassing(spec dataset.Spec, w, h int) error {
	var errs []error
	for _, name := range p.passed {
		call, handled := named("PassThrough", quoted(name)...), p.handled()
		switch {
		case spec.Index(name) < 0:
			errs = append(errs, fmt.Errorf("%s: the dataset has no field %q, only %v", call, name, spec))
		case name == p.field:
			errs = append(errs, fmt.Errorf("%s: that is the field of the images", call))
		case slices.Contains(handled, name):
			errs = append(errs, fmt.Errorf("%s: another step names that field", call))
		}
	}
	mover := p.movedBy(w == 0)
	for _, f := range p.passing(spec) {
		if mover == "" || p.passes(f.Name) || f.Ragged && len(p.boxes) > 0 { // of which Boxes has an error
			continue
		}
		if want := p.belongs(f, w, h); want != "" {
			errs = append(errs, fmt.Errorf("field %v would stay as it is while %s moves the image: want %s, or %s if it has nothing to do with the image",
				f, mover, want, named("PassThrough", quoted(f.Name)...)))
		}
	}
	return errors.Join(errs...)
}

// passes reports whether a step says that the field stays as it is.
func (a *annotated) passes(name string) bool {
	for _, b := range a.boxes {
		if slices.Contains(b.apart, name) {
			return true
		}
	}
	return slices.Contains(a.passed, name)
}

// belongs is the step with which a field moves with images of w×h pixels. It is empty if the field
// may have nothing to do with them.
func (p *program) belongs(f dataset.Field, w, h int) string {
	file := f.Ragged && f.Dtype == dataset.Uint8 && f.Elements() == 1
	named := f.Name == "mask" || f.Name == "masks" || f.Name == "segments"
	boxes := f.Ragged && f.Dtype == dataset.Float32 && slices.Equal(f.Shape, dataset.Shape{4}) && !p.annotated.any()
	sized := w > 0 && slices.Equal(f.Shape, dataset.Shape{h, w})
	switch array := !f.Ragged && (sized || named && len(f.Shape) == 2); {
	case !boxes && !array && !(file && named):
		return ""
	case p.upright && w == 0:
		return "files that are upright already, without ExifTranspose()"
	case boxes:
		return fieldCall("Boxes", f.Name, "XYXY") + " or another format"
	case file && f.Name == "masks":
		return fieldCall("Masks", f.Name)
	case file:
		return fieldCall("Mask", f.Name)
	case w > 0 && !sized, f.Dtype.IsFloat():
		return fmt.Sprintf("Apply(…, %q)", f.Name)
	case f.Dtype == dataset.Uint8 || f.Dtype == dataset.Uint16:
		return fieldCall("Mask", f.Name)
	}
	return fieldCall("Mask", f.Name) + " of uint8 or uint16"
}

// bytesPassing are the fields of bytes that pass through while the image, a file or an array, moves,
// without a step that says so. They must not be image files.
func (p *program) bytesPassing(spec dataset.Spec, files bool) (fields []int) {
	if p.movedBy(files) == "" {
		return nil
	}
	for _, f := range p.passing(spec) {
		if f.Ragged && f.Dtype == dataset.Uint8 && f.Elements() == 1 && !p.passes(f.Name) {
			fields = append(fields, spec.Index(f.Name))
		}
	}
	return fields
}

// An unsaidFile is the error of an image file that would pass through. The steps are wrong, and not
// the sample: with other steps it can be read. So a loader does not skip all samples by it.
type unsaidFile struct{ error }

// Temporary makes it an error after dataset.MayPass, Persistent one after dataset.Persists.
func (unsaidFile) Temporary() bool  { return true }
func (unsaidFile) Persistent() bool { return true }

// readsMasks are the names of the formats that Mask reads.
var readsMasks = []string{"PNG", "GIF", "BMP", "TIFF"}

// checkFiles is the error of image files that would pass through.
func (r *reader) checkFiles(dst dataset.Slot) error {
	for _, f := range r.unsaid {
		data, name := dst.Cell(f).Bytes(), r.Pipeline.Dataset.Spec()[f].Name
		for i := range formats {
			if !certain(&formats[i], data) {
				continue
			}
			files, want := r.raw.pixel == 0, ""
			if slices.Contains(readsMasks, formats[i].name) && !(r.program.upright && files) {
				want = fieldCall("Mask", name) + " if it is a mask, or "
			}
			return unsaidFile{fmt.Errorf("transform: field %q holds a %s file, which would stay as it is while %s moves the image: want %s%s if it has nothing to do with the image",
				name, formats[i].name, r.program.movedBy(files), want, named("PassThrough", quoted(name)...))}
		}
	}
	return nil
}

// certain reports whether data begins as no text does, with one of the format's longer signatures.
func certain(f *format, data []byte) bool {
	return slices.ContainsFunc(f.magic, func(m string) bool { return len(m) > 2 && begins(data, m) })
}

// passLine is the plan's line of the fields that stay as they are.
func (p *program) passLine(spec dataset.Spec) string {
	fields := p.passing(spec)
	if len(fields) == 0 {
		return ""
	}
	return "\n  pass on   " + fields.String()
}
