// Package transform prepares images: it decodes, resizes, crops, augments and
// normalises them in the words and with the arithmetic of PyTorch's torchvision
// on PIL images.
//
// [Images] takes a list of steps and compiles it. Resizing, cropping and
// flipping in a row become one window and one resampling of what is kept, and
// conversion and normalisation become part of writing the result into the batch.
package transform

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/dataset"
)

// A Pipeline is a dataset whose images have gone through the steps.
type Pipeline struct {
	inner dataset.Dataset
	spec  dataset.Spec
	field int
	raw   raw // the layout of images that are not files
	*program
}

// Images makes a dataset of ds with its field "image" (see [Field]) taken
// through the steps. That field is either a file, ragged uint8 (JPEG, PNG, GIF,
// WebP, BMP, TIFF or PNM, whatever its name), or pixels, uint8 of shape (h, w),
// (h, w, c) or (c, h, w) with 1, 3 or 4 channels. Where both of the latter
// would do, the channels are last.
//
// Every image becomes RGB as PIL's convert("RGB") makes it: gray is repeated,
// alpha is dropped, of an animation the first frame stays, and gray of 16 bits
// is cut off above 255, so that most such images become white. The result is
// float32 (3, h, w) with [ToTensor], uint8 (3, h, w) with [PILToTensor], and
// otherwise uint8 (h, w, 3). All other fields pass through.
//
// The orientation that a file asks for is left to [ExifTranspose], but for TIFF
// files, which PIL turns when it loads them. A file that is cut short gives an
// error instead of an image whatever part of it the steps need, and damaged code
// where they need it; see [AllowTruncated] and, for files that promise too much,
// [MaxPixels]. A file in another format is an error that names it and is
// [errors.ErrUnsupported].
//
// Images reports everything that is wrong with the steps at once.
func Images(ds dataset.Dataset, steps ...Step) (*Pipeline, error) {
	p, err := compile(steps)
	if err != nil {
		return nil, err
	}
	spec := slices.Clone(ds.Spec())
	x := &Pipeline{inner: ds, spec: spec, field: spec.Index(p.field), program: p}
	if x.field < 0 {
		return nil, fmt.Errorf("transform: the dataset has no field %q: it has %v", p.field, spec)
	}
	f := spec[x.field]
	if f.Ragged {
		if f.Bytes() != 1 || f.Elements() != 1 {
			err = errors.New("want files as ragged uint8")
		}
	} else {
		x.raw, err = rawOf(f)
	}
	if err != nil {
		return nil, fmt.Errorf("transform: field %v: %w", f, err)
	}
	spec[x.field], err = p.fieldOf(x.raw.w, x.raw.h)
	if err != nil {
		return nil, err
	}
	return x, nil
}

// Len is the number of samples, that of the underlying dataset.
func (x *Pipeline) Len() int { return x.inner.Len() }

// Spec is that of the underlying dataset, but for the images' field.
func (x *Pipeline) Spec() dataset.Spec { return x.spec }

// Name is the sample's name in the underlying dataset.
func (x *Pipeline) Name(i int) string { return dataset.Name(x.inner, i) }

// ReadAhead passes the advice on to the underlying dataset.
func (x *Pipeline) ReadAhead(ctx context.Context, indices []int) {
	dataset.ReadAhead(ctx, x.inner, indices)
}

// String is the plan: what is read, what is done to it and what comes out.
func (x *Pipeline) String() string {
	in := x.inner.Spec()[x.field]
	text := fmt.Sprintf("%v → %v\n", in, x.spec[x.field])
	if in.Ragged {
		text += "  decode    to RGB, only the window that the steps need\n"
	} else {
		text += "  decode    pixels to RGB, only the window that the steps need\n"
	}
	for _, line := range x.plan {
		text += "  " + line + "\n"
	}
	return text + "  store     " + x.output.String()
}

// Open makes a Reader with memory of its own.
func (x *Pipeline) Open() (dataset.Reader, error) {
	inner, err := x.inner.Open()
	if err != nil {
		return nil, err
	}
	r := &reader{Pipeline: x, inner: inner, raw: x.raw, lane: newLane(x.program)}
	r.cells = make([]dataset.Cell, len(x.spec))
	r.picture = dataset.NewCell(x.inner.Spec()[x.field])
	return r, nil
}

// A reader is one worker's way through the steps.
type reader struct {
	*Pipeline
	inner   dataset.Reader
	cells   []dataset.Cell // of the inner slot
	picture dataset.Cell   // what the inner dataset places
	raw     raw
	lane    *lane
}

// Close closes the underlying reader.
func (r *reader) Close() error { return r.inner.Close() }

// Place places sample i.
func (r *reader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	for f := range r.cells {
		r.cells[f] = dst.Cell(f)
	}
	r.cells[r.field] = r.picture
	if err := r.inner.Place(ctx, i, dst.With(r.cells)); err != nil {
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
	if err := r.begin(dst); err != nil {
		return err
	}
	if err := r.lane.run(dst.Rand()); err != nil {
		return err
	}
	dst.Stage(dataset.StageStore)
	if r.output.float {
		r.lane.storeFloats(dataset.Row[float32](dst, r.field), dst.Rand())
	} else {
		r.lane.storeBytes(dataset.Row[uint8](dst, r.field))
	}
	return nil
}

// begin reads the image's size.
func (r *reader) begin(dst dataset.Slot) error {
	if r.raw.pixel > 0 {
		r.raw.pix = r.picture.Bytes()
		r.lane.engine.begin(&r.raw, r.raw.w, r.raw.h, dst)
		return nil
	}
	return r.lane.file(r.picture.Bytes(), dst)
}
