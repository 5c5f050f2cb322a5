package coco

import (
	"context"
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/slots"
)

// Open makes a Reader.
func (d *Dataset) Open() (dataset.Reader, error) { return &reader{Dataset: d}, nil }

type reader struct {
	*Dataset
	canvas canvas
}

func (r *reader) Close() error { return nil }

func (r *reader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := dataset.CheckIndex(i, r.Len()); err != nil {
		return err
	}
	dst.Stage(dataset.StageRead)
	if err := files.ReadSample(files.In(ctx, r.fsys), r.path(i), slots.Cell(dst.Cell(0)), r.maxFile); err != nil {
		return fmt.Errorf("coco: %w", err)
	}
	if r.panoptic {
		if err := files.ReadSample(files.In(ctx, r.fsys), r.segmentsPath(i), slots.Cell(dst.Cell(7)), r.maxFile); err != nil {
			return fmt.Errorf("coco: read %s: %w", r.segmentsPath(i), err)
		}
	}
	dst.Stage(dataset.StageDecode)
	p := &r.images[i]
	objects := r.objects[p.from:p.to]
	dataset.Set(dst, 1, p.id)
	n := len(objects)
	boxes, labels := dataset.Grow[float32](dst, 2, n), dataset.Grow[int64](dst, 3, n)
	areas, crowds, ids := dataset.Grow[float32](dst, 4, n), dataset.Grow[uint8](dst, 5, n), dataset.Grow[int64](dst, 6, n)
	for k := range objects {
		o := &objects[k]
		copy(boxes[4*k:], o.box[:])
		labels[k], areas[k], ids[k], crowds[k] = o.label, o.area, o.id, 0
		if o.crowd {
			crowds[k] = 1
		}
	}
	field := 7
	if r.masks {
		if err := r.placeMasks(ctx, p, dst, field); err != nil {
			return err
		}
		field++
	}
	if r.keypoints > 0 {
		keys := dataset.Grow[float32](dst, field, n)
		for k := range objects {
			row := keys[3*r.keypoints*k:][:3*r.keypoints]
			if at := objects[k].keys; at < 0 {
				clear(row)
			} else {
				copy(row, r.keys[at:])
			}
		}
	}
	return nil
}

// placeMasks draws the masks of all objects of an image.
func (r *reader) placeMasks(ctx context.Context, p *picture, dst dataset.Slot, field int) error {
	n, size := p.to-p.from, p.h*p.w // bounded by maxPixels
	if n > 0 && size > r.maskLimit/n {
		return fmt.Errorf("coco: image %d: %d masks of %d×%d pixels are more than Masks(%d)", p.id, n, p.w, p.h, r.maskLimit)
	}
	planes := dataset.Grow[uint8](dst, field, n*size)
	clear(planes)
	var b budget.Budget // of the steps along boundaries; the pixels are those that Masks allows
	b.Grant(0, int64(n)*stepsAllowed(p))
	for k := range n {
		o := &r.objects[p.from+k]
		to := plane{planes[k*size : (k+1)*size], p.h, p.w}
		if o.shape.encoded {
			to.decode(r.runs[o.shape.from:o.shape.to])
		} else if err := r.draw(ctx, &b, o.shape, to); err != nil {
			return fmt.Errorf("coco: image %d: annotation %d: %w", p.id, o.id, err)
		}
	}
	return nil
}

// stepsAllowed is how many steps along the boundary of an object the size of its image allows,
// beside those that the bytes of its points do: as many as it has pixels, and those of polygons
// that go around a narrow image.
func stepsAllowed(p *picture) int64 {
	return int64(p.h)*int64(p.w) + 16*scale*(int64(p.h)+int64(p.w))
}

// draw draws polygons into a plane of zeros.
func (r *reader) draw(ctx context.Context, b *budget.Budget, s shape, to plane) error {
	c := &r.canvas
	c.starts, c.ends, c.found = c.starts[:0], c.ends[:0], c.found[:0]
	for k := s.from; k < s.to; k++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		begin := 0
		if k > 0 {
			begin = r.parts[k-1]
		}
		points := r.points[begin:r.parts[k]]
		b.Read(pointBytes * int64(len(points)))
		if err := b.Work(length(points)); err != nil {
			return err
		}
		c.trace(to, points)
		if s.to-s.from > 1 {
			c.collect()
		}
	}
	if s.to-s.from > 1 {
		c.unite()
	}
	c.toggle(to)
	return nil
}

// pointBytes is how many bytes of the file a coordinate has at least: a digit and a comma.
const pointBytes = 2
