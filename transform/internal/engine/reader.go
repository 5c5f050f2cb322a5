package engine

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/slots"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// A lane applies the steps to one image after the other. It keeps its memory
// between images and belongs to one goroutine at a time.
type lane struct {
	*Plan
	output Output // the program's; where it is ragged, with this image's size
	files  source.Files
	turned source.Upright
	Engine Engine
	tiles  []Tile // of this image
}

func newLane(p *Plan) *lane {
	l := &lane{Plan: p, output: p.Output}
	l.Engine.of = p.Field
	l.Engine.limit = p.Limit
	l.files.Take(p.Limit, p.Cut, p.Deep != nil, p.Field, p.Codecs)
	l.Engine.Frame = newFrame(p)
	return l
}

// file begins with an encoded image.
func (l *lane) file(e source.Encoded, slot dataset.Slot) error {
	w, h, err := l.files.Open(e)
	if err != nil {
		return err
	}
	l.opened(w, h, slot)
	return nil
}

// opened begins with the image of w×h pixels that files has opened.
func (l *lane) opened(w, h int, slot dataset.Slot) {
	if l.Upright {
		if o := l.files.Orientation(); o > 1 {
			w, h = l.turned.Begin(&l.files, o, w, h)
			l.Engine.Begin(&l.turned, w, h, slot)
			return
		}
	}
	l.Engine.Begin(&l.files, w, h, slot)
}

// lead applies the leading steps that do not need pixels, and returns how many.
func (l *lane) lead(r *rand.Rand) (n int, err error) {
	for _, op := range l.Ops {
		if _, ok := op.(leading); !ok {
			break
		}
		if err := op.Do(&l.Engine, r); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// Run applies the steps to the image, until it can be stored row by row.
func (l *lane) Run(r *rand.Rand) error { return l.runFrom(0, r) }

// runFrom is Run without the first n steps.
func (l *lane) runFrom(n int, r *rand.Rand) error {
	e, o := &l.Engine, &l.output
	for _, op := range l.Ops[n:] {
		if err := op.Do(e, r); err != nil {
			return err
		}
	}
	switch {
	case l.Plan.Tiles != nil:
		return l.beginTiles()
	case l.Crops.N > 0:
		return l.Crops.begin(e)
	}
	w, h := e.Size()
	p := &o.Patches
	if p.Side > 0 {
		if err := p.Check(w, h, l.Limit); err != nil {
			return fmt.Errorf("transform: %w", err)
		}
	}
	switch {
	case l.Ragged, p.Most > 0:
		if err := e.Check(w, h); err != nil {
			return err
		}
		o.W, o.H = w, h
	case w != o.W || h != o.H:
		return fmt.Errorf("transform: the steps made %s, want %d×%d", figures.Pixels(w, h), o.H, o.W)
	}
	return e.Frame.prepare(e)
}

// A Task is a plan for the samples of a dataset.
type Task struct {
	*Plan
	In, Out dataset.Spec // of the dataset and of the results
	Field   int
	Raw     source.Raw // the layout of images that are not files
	Bytes   int        // of a frame, if samples are clips of arrays
	Layout
}

// Open makes a reader of what inner reads, which is a [BatchReader] if inner is one. But images with annotations are placed one by one, because what is placed
// with them is, too. Readers share no memory.
func (x *Task) Open(inner dataset.Reader) dataset.Reader {
	r := &Reader{Task: x, Inner: inner, Raw: x.Raw, Lane: newLane(x.Plan)}
	r.cells = make([]dataset.Cell, len(x.In))
	r.input = dataset.NewCell(x.In[x.Field])
	if len(x.Views) > 0 {
		r.Viewer = newViewer(x.Plan)
	} else if x.Moves {
		r.Lane.Engine.Annotations = newAnnotations(x.Layout, x.Plan, x.In)
	}
	if x.Raw.Pixel == 0 {
		r.parts, _ = inner.(dataset.PartReader)
	}
	if b, ok := inner.(dataset.BatchReader); ok && !x.Moves {
		return &BatchReader{Reader: r, inner: b}
	}
	return r
}

// A Reader applies the steps to samples, for one worker.
type Reader struct {
	*Task
	Inner  dataset.Reader
	parts  dataset.PartReader // inner, if it is one and the images are files
	cells  []dataset.Cell     // of the inner slot
	input  dataset.Cell       // what the inner dataset places
	file   source.Encoded
	Raw    source.Raw
	Lane   *lane
	Viewer *viewer // nil without Views

	dst   dataset.Slot // of the clip that is being placed
	draws slots.Watch  // since before its first frame
}

// Close closes the underlying reader.
func (r *Reader) Close() error { return r.Inner.Close() }

// Place places sample i.
func (r *Reader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	if err := r.Read(ctx, i, dst); err != nil {
		return err
	}
	return r.place(ctx, dst)
}

// place places the sample that has been read.
func (r *Reader) place(ctx context.Context, dst dataset.Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.isDirect() {
		r.storeDirect(dst)
		return nil
	}
	dst.Stage(dataset.StageDecode)
	if r.Frames > 0 {
		return r.placeClip(ctx, dst)
	}
	if err := r.Begin(dst); err != nil {
		return err
	}
	if r.Viewer != nil {
		if err := r.Viewer.Begin(r.Lane, dst, dst.Rand()); err != nil {
			return err
		}
		return r.Viewer.Place(dst, dst.Rand())
	}
	if err := r.Lane.Engine.Annotations.Begin(r.Lane, dst); err != nil {
		return err
	}
	if err := r.Lane.Run(dst.Rand()); err != nil {
		return err
	}
	dst.Stage(dataset.StageStore)
	if err := r.Put(dst); err != nil {
		return err
	}
	return r.Lane.Engine.Annotations.Store()
}

// Begin reads the image's size.
func (r *Reader) Begin(dst dataset.Slot) error {
	if r.Raw.Pixel > 0 {
		r.Raw.Pix = r.input.Bytes()
		r.Lane.Engine.Begin(&r.Raw, r.Raw.W, r.Raw.H, dst)
		return nil
	}
	return r.Lane.file(r.file, dst)
}

// Read lets the underlying dataset place its fields, and the image in input or file.
func (r *Reader) Read(ctx context.Context, i int, dst dataset.Slot) error {
	for f := range r.cells {
		r.cells[f] = dst.Cell(f)
	}
	r.cells[r.Field] = r.input
	r.Lane.Engine.Annotations.inputs(r.cells)
	if r.parts == nil {
		err := r.Inner.Place(ctx, i, dst.With(r.cells))
		r.file = source.Encoded{Data: r.input.Bytes()}
		return err
	}
	n, parts, err := r.parts.PlaceParts(ctx, i, r.Field, dst.With(r.cells))
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

// Put stores the image that the lane has run in the sample.
func (r *Reader) Put(dst dataset.Slot) error {
	cell := dst.Cell(r.Field)
	if r.Ragged {
		cell.Grow(r.Lane.values() * r.Output.Dtype.Size())
	}
	if err := r.Lane.Store(cell.Bytes(), dst.Rand()); err != nil {
		return err
	}
	return r.putSizes(dst)
}

// putSizes stores the fields of sizes in the sample.
func (r *Reader) putSizes(dst dataset.Slot) error {
	if r.Sizes != "" {
		h, w := r.Lane.shown()
		size := dataset.Row[int64](dst, len(r.Out)-len(r.Derived)-1)
		size[0], size[1] = int64(h), int64(w)
	}
	return r.derive(dst)
}

// shown is the size of the result without what PadTo has added.
func (l *lane) shown() (h, w int) {
	if l.output.Blanks {
		return l.Engine.Shown.Dy(), l.Engine.Shown.Dx()
	}
	return l.output.H, l.output.W
}

// isDirect reports whether images are planes that only have to be normalised, as those of CIFAR are.
func (x *Task) isDirect() bool {
	return x.Raw.Pixel == 1 && x.Frames == 0 && x.Deep == nil && len(x.Ops) == 0 && x.Output.hasNorm() && !x.Ragged && x.Sizes == "" && len(x.Derived) == 0 && x.Output.Patches.Side == 0 && !x.Moves && len(x.Views) == 0 && x.Crops.N == 0 && x.Tiles == nil
}

// storeDirect normalises the planes that lie in the image's cell.
func (r *Reader) storeDirect(dst dataset.Slot) {
	dst.Stage(dataset.StageStore)
	out := dst.Cell(r.Field).Bytes()
	if t := r.Output.full; t != nil {
		t.planes(r, dense.Values[float32](out), dst.Rand())
	} else {
		r.Output.halves.planes(r, dense.Values[uint16](out), dst.Rand())
	}
}

func (t *target[T]) planes(r *Reader, out []T, random *rand.Rand) {
	pix, n := r.input.Bytes(), r.Raw.W*r.Raw.H
	for c, from := range [3]int{0, r.Raw.Green, r.Raw.Blue} {
		t.norm.StorePlane(out[r.Output.from[c]*n:][:n], pix[from:], c)
	}
	t.erase(&r.Output, out, random)
}
