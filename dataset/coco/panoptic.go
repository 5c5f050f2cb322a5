package coco

import (
	"errors"
	"fmt"
	"io/fs"
)

// maxSegment is the largest id that red, green and blue hold.
const maxSegment = 1<<24 - 1

// panoptic adds the segments of one image.
func (p *parser) panoptic(v *annotationJSON) error {
	if v.Image == nil {
		return errors.New("an annotation has no image_id")
	}
	image := *v.Image
	if _, twice := p.segments[image]; twice {
		return fmt.Errorf("image %d has two annotations", image)
	}
	if !fs.ValidPath(v.File) || v.File == "." {
		return fmt.Errorf("annotation of image %d: file name %q is not a valid path", image, v.File)
	}
	if p.segments == nil {
		p.segments, p.ids = map[int64]string{}, map[int64]bool{}
	}
	p.segments[image] = v.File
	clear(p.ids)
	for k := range v.Segments {
		s := &v.Segments[k]
		if s.ID == nil || *s.ID < 1 || *s.ID > maxSegment {
			return fmt.Errorf("annotation of image %d: segment %d has no id from 1 to %d", image, k, maxSegment)
		}
		if p.ids[*s.ID] {
			return fmt.Errorf("annotation of image %d: segment %d is listed twice", image, *s.ID)
		}
		p.ids[*s.ID] = true
		if p.d.noCrowds && s.Crowd != 0 {
			continue
		}
		s.Image = v.Image
		if err := p.add(s); err != nil {
			return fmt.Errorf("annotation of image %d: segment %d: %w", image, *s.ID, err)
		}
	}
	return nil
}

// joinSegments gives the images the files of their segments.
func (p *parser) joinSegments() error {
	if !p.d.panoptic {
		return nil
	}
	for image := range p.segments {
		if _, ok := p.imageByID[image]; !ok {
			return fmt.Errorf("annotation of image %d: no image has that id", image)
		}
	}
	for k := range p.d.images {
		v := &p.d.images[k]
		name, ok := p.segments[v.id]
		if !ok {
			return fmt.Errorf("image %d has no annotation", v.id)
		}
		v.segments = name
	}
	return nil
}
