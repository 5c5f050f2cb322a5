// Package transform prepares images: it decodes, resizes, crops, augments and
// normalises them. Its steps have the names of torchvision's transforms and
// compute the same as those do on PIL images. The bytes of a picture become a
// model's input in three lines:
//
//	model, err := transform.Compile(transform.Resize(256), transform.CenterCrop(224), transform.ToTensor())
//	values := make([]float32, model.Spec()[0].Elements()) // of the shape (3, 224, 224)
//	err = model.Into(values, transform.File(jpeg))
//
// Steps take options with torchvision's keyword names: Resize(256,
// Interpolation(Bicubic)). Settings, such as [MaxPixels] and [Boxes], are options too,
// and stand anywhere in the list.
//
// [Images] applies a list of steps to the images of a dataset. [Compile] is for
// single images. Both first compile the list: consecutive resizes, crops and
// flips become one resampling, which reads only the part of the image that is
// kept. Conversion and normalisation happen while the result is written into the
// batch.
//
// Steps before [ToTensor] see uint8 pixels of shape (h, w, 3), and those that do not say
// otherwise keep it. What comes after, such as [Normalize], sees float32 of shape (3, h, w).
// [Depth16] says what changes with it.
package transform

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// A Pipeline is a dataset with steps applied to its images. [Images] makes it.
type Pipeline struct {
	dataset.Wrap // of the dataset of images
	spec         dataset.Spec
	field        int
	raw          source.Raw // the layout of images that are not files
	layout
	*program
}

// Images returns ds with the steps applied to its field "image", or to the field
// that [Field] names. Masks, boxes and keypoints of the image move with it: those that the
// dataset says are such ([dataset.Field.Kind]), and those that [Boxes], [Mask], [Masks] and
// [KeyPoints] declare. All other fields stay as they are, and the plan lists them
// ([Pipeline.String]). [Views] makes several results.
//
// The field holds either files or pixels. Files are ragged uint8: JPEG, PNG, GIF,
// WebP, BMP, TIFF or PNM, and packed photos (package packed), recognised by their
// first bytes. Pixels are uint8 of shape (h, w), (h, w, c) or (c, h, w) with 1, 3 or
// 4 channels. A shape that could be both (h, w, c) and (c, h, w) is taken as
// (h, w, c).
//
// Every image becomes RGB, as with PIL's convert("RGB"): grey is repeated, alpha
// is dropped, and an animation gives its first frame. As in PIL, values of 16-bit
// grey images above 255 become 255, so most such images become white. [Depth16] keeps
// such values and other channels. The result
// is float32 (3, h, w) with [ToTensor], uint8 (3, h, w) with [PILToTensor], and
// uint8 (h, w, 3) without either. [ToDtype] makes float16 or bfloat16 of float32,
// [Layout] sets the order of the dimensions, and [Grayscale] can reduce the 3
// channels to 1.
//
// TIFF files are rotated by their orientation, as PIL does when it loads them.
// For other formats the step [ExifTranspose] does that.
//
// A file that ends too early is an error, even if the steps need only its
// beginning (see [AllowTruncated]). Damaged data is an error only if the steps
// need it. An image that is too large is an error (see [MaxPixels]). The error of
// a file in another format names the format and wraps [errors.ErrUnsupported].
//
// The error of Images itself joins everything that is wrong with the steps.
func Images(ds dataset.Dataset, list ...Item) (*Pipeline, error) {
	x, err := pipelineOf(ds, list)
	if err != nil {
		return nil, within("transform", err)
	}
	return x, nil
}

func pipelineOf(ds dataset.Dataset, list []Item) (*Pipeline, error) {
	if ds == nil {
		return nil, errors.New("Images: the dataset is nil")
	}
	p, err := compileFor(ds.Spec(), list)
	if err != nil {
		return nil, err
	}
	if p.inputs != nil {
		return nil, errors.New("Inputs: only for Compile: the dataset says what its fields are")
	}
	return p.over(ds)
}

// over is the dataset of the results of ds.
func (p *program) over(ds dataset.Dataset) (x *Pipeline, err error) {
	if p.hands > 0 {
		return nil, fmt.Errorf("Parallel(%d): only for Compile of images: a loader's workers prepare several images at a time", p.hands)
	}
	spec := slices.Clone(ds.Spec())
	x = &Pipeline{Wrap: dataset.Wrap{Dataset: ds}, spec: spec, field: spec.Index(p.field), program: p}
	if x.field < 0 {
		return nil, fmt.Errorf("the dataset has no field %q, only %v", p.field, spec)
	}
	f := spec[x.field]
	if f.Ragged {
		if f.Bytes() != 1 || f.Elements() != 1 {
			err = errors.New("want files as ragged uint8")
		}
	} else if p.deep != nil {
		x.raw, err = p.deepRaw(f)
	} else {
		x.raw, err = source.PixelsOf(f)
	}
	if err != nil {
		return nil, fmt.Errorf("field %v: %w", f, err)
	}
	if err := p.findFields(spec); err != nil {
		return nil, err
	}
	if len(p.views) > 0 {
		if x.spec, err = p.withViews(spec, x.field, x.raw.W, x.raw.H); err != nil {
			return nil, err
		}
		return x, nil
	}
	if spec[x.field], err = p.fieldOf(x.raw.W, x.raw.H); err != nil {
		return nil, err
	}
	spec[x.field].Kind = dataset.Image
	if x.layout, spec, err = p.annotate(spec, ds.Spec(), p.field); err != nil {
		return nil, err
	}
	if x.spec, err = p.withSizes(spec); err != nil {
		return nil, err
	}
	return x, nil
}

// Spec is the underlying dataset's Spec with the field of the images replaced by
// that of the results.
func (x *Pipeline) Spec() dataset.Spec { return x.spec }

// String describes the compiled steps: what is read, what is done to it, what is
// stored, and which other fields are passed on as they are.
func (x *Pipeline) String() string {
	in := x.Dataset.Spec()[x.field]
	text := fmt.Sprintf("%v → %v\n", in, x.spec[x.field])
	from, window, views := "to RGB", "only the window that the steps need", len(x.views) > 0 && x.crops.n == 0
	if !in.Ragged {
		from = "pixels to RGB"
	}
	if x.deep != nil {
		from = x.deep.String()
	}
	if views {
		text, window = in.String()+"\n", "once, only the window in which all views are"
	}
	text += "  decode    " + from + ", " + window + "\n"
	for _, line := range x.plan {
		text += "  " + line + "\n"
	}
	if len(x.views) > 0 {
		text += x.viewLines(x.spec)
	} else {
		text += "  store     " + x.output.String()
	}
	return text + x.passLine(x.Dataset.Spec())
}

// Open makes a Reader for one goroutine. Readers share no memory.
func (x *Pipeline) Open() (dataset.Reader, error) {
	inner, err := x.Dataset.Open()
	if err != nil {
		return nil, err
	}
	r := &reader{Pipeline: x, inner: inner, raw: x.raw, lane: newLane(x.program)}
	r.cells = make([]dataset.Cell, len(x.Dataset.Spec()))
	r.input = dataset.NewCell(x.Dataset.Spec()[x.field])
	if len(x.views) > 0 {
		r.viewer = newViewer(x.program, x.Dataset.Spec())
	} else if x.annotated.any() {
		r.lane.engine.annotations = newAnnotations(x.layout, x.program, x.Dataset.Spec(), nil)
	}
	if x.raw.Pixel == 0 {
		r.parts, _ = inner.(dataset.PartReader)
	}
	return r, nil
}

// A reader applies the steps to samples, for one worker.
type reader struct {
	*Pipeline
	inner  dataset.Reader
	parts  dataset.PartReader // inner, if it is one and the images are files
	cells  []dataset.Cell     // of the inner slot
	input  dataset.Cell       // what the inner dataset places
	file   source.Encoded
	raw    source.Raw
	lane   *lane
	viewer *viewer // nil without Views
}

// Close closes the underlying reader.
func (r *reader) Close() error { return r.inner.Close() }

// Place places sample i.
func (r *reader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	if err := r.read(ctx, i, dst); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.isDirect() {
		r.storeDirect(dst)
		return nil
	}
	dst.Stage(dataset.StageDecode)
	if err := r.Begin(dst); err != nil {
		return err
	}
	if r.viewer != nil {
		if err := r.viewer.Begin(r.lane, dst, dst.Rand()); err != nil {
			return err
		}
		return r.viewer.place(dst)
	}
	if err := r.lane.engine.annotations.Begin(r.lane, dst); err != nil {
		return err
	}
	if err := r.lane.run(dst.Rand()); err != nil {
		return err
	}
	dst.Stage(dataset.StageStore)
	if err := r.place(dst); err != nil {
		return err
	}
	return r.lane.engine.annotations.store()
}

// Begin reads the image's size.
func (r *reader) Begin(dst dataset.Slot) error {
	if r.raw.Pixel > 0 {
		r.raw.Pix = r.input.Bytes()
		r.lane.engine.Begin(&r.raw, r.raw.W, r.raw.H, dst)
		return nil
	}
	return r.lane.file(r.file, dst)
}

// read lets the underlying dataset place its fields, and the image in input or file.
func (r *reader) read(ctx context.Context, i int, dst dataset.Slot) error {
	for f := range r.cells {
		r.cells[f] = dst.Cell(f)
	}
	r.cells[r.field] = r.input
	r.lane.engine.annotations.inputs(r.cells)
	r.viewer.inputs(r.cells)
	if r.parts == nil {
		err := r.inner.Place(ctx, i, dst.With(r.cells))
		r.file = source.Encoded{Data: r.input.Bytes()}
		return err
	}
	n, parts, err := r.parts.PlaceParts(ctx, i, r.field, dst.With(r.cells))
	switch {
	case err != nil:
		return err
	case parts == nil:
		r.file = source.Encoded{Data: r.input.Bytes()}
		return nil
	}
	r.file, err = source.ReadFile(r.input.Grow(n), parts)
	return err
}
