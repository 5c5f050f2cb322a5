package coco

import (
	"context"
	"fmt"

	"github.com/penstock-go/penstock/dataset"
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
	if err := files.ReadSample(files.In(ctx, r.fsys), r.Path(i), slots.Cell(dst.Cell(0)), r.maxFile); err != nil {
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
		copy(keys, r.keys[3*r.keypoints*p.from:])
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
	for k := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.draw(r.objects[p.from+k].shape, plane{planes[k*size : (k+1)*size], p.h, p.w})
	}
	return nil
}

// draw draws the mask of a shape into a plane of zeros.
func (r *reader) draw(s shape, p plane) {
	if s.encoded {
		p.decode(r.runs[s.from:s.to])
		return
	}
	for k := s.from; k < s.to; k++ {
		begin := 0
		if k > 0 {
			begin = r.parts[k-1]
		}
		r.canvas.polygon(p, r.points[begin:r.parts[k]], k == s.from)
	}
}
