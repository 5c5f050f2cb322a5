package coco

import (
	"cmp"
	"fmt"
	"slices"
)

// join sorts images by id and gives them their objects.
func (p *parser) join() error {
	d := p.d
	slices.SortFunc(d.images, func(a, b picture) int { return cmp.Compare(a.id, b.id) })
	for k := range d.images {
		p.imageByID[d.images[k].id] = k
	}
	slices.SortFunc(d.categories, func(a, b Category) int { return cmp.Compare(a.ID, b.ID) })
	for k, c := range d.categories {
		p.categories[c.ID] = k
	}
	for k := range p.objects {
		if err := p.resolve(&p.objects[k]); err != nil {
			return fmt.Errorf("annotation %d: %w", p.objects[k].id, err)
		}
	}
	if err := p.joinSegments(); err != nil {
		return err
	}
	slices.SortStableFunc(p.objects, func(a, b pending) int { return cmp.Compare(a.image, b.image) })
	d.objects = make([]object, len(p.objects))
	for k, o := range p.objects {
		d.objects[k] = o.object
	}
	at := 0
	for k := range d.images {
		v := &d.images[k]
		for v.from = at; at < len(p.objects) && p.objects[at].image == v.id; at++ {
		}
		v.to = at
	}
	if d.noEmpty {
		d.images = slices.DeleteFunc(d.images, func(v picture) bool { return v.from == v.to })
	}
	return nil
}

// resolve compares an object with its image and category, and sets its label.
func (p *parser) resolve(o *pending) error {
	image, ok := p.imageByID[o.image]
	if !ok {
		return fmt.Errorf("no image has the id %d", o.image)
	}
	index, ok := p.categories[o.category]
	if !ok {
		return fmt.Errorf("no category has the id %d", o.category)
	}
	o.label = o.category
	if p.d.contiguous {
		o.label = int64(index)
	}
	v := &p.d.images[image]
	if o.h > 0 && (o.h != v.h || o.w != v.w || o.pixels != int64(o.h*o.w)) {
		return fmt.Errorf("segmentation: a mask of %d×%d pixels, with runs of %d, for an image of %d×%d", o.w, o.h, o.pixels, v.w, v.h)
	}
	if p.d.anyBoxes {
		return nil
	}
	x, y, w, h := o.box[0], o.box[1], o.box[2], o.box[3]
	if w < 0 || h < 0 {
		return fmt.Errorf("bbox %g has a negative width or height: want x, y, width and height, or AnyBoxes()", o.box)
	}
	if v.w > 0 && v.h > 0 && (x > float32(v.w) || y > float32(v.h) || x+w < 0 || y+h < 0) {
		return fmt.Errorf("bbox %g lies outside of image %d of %d×%d pixels: AnyBoxes() accepts it", o.box, v.id, v.w, v.h)
	}
	return nil
}
