package coco

import (
	"bytes"
	"encoding/json"
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
		p.segments = map[int64]string{}
	}
	if err := p.Memory(imageBytes + int64(len(v.File))); err != nil {
		return err
	}
	p.segments[image] = v.File
	if len(v.Segments) == 0 || string(v.Segments) == "null" {
		return nil
	}
	k := -1
	ids := map[int64]bool{}
	err := list(json.NewDecoder(bytes.NewReader(v.Segments)), func(s *annotationJSON) error {
		k++
		if s.ID == nil || *s.ID < 1 || *s.ID > maxSegment {
			return fmt.Errorf("segment %d has no id from 1 to %d", k, maxSegment)
		}
		if ids[*s.ID] {
			return fmt.Errorf("segment %d is listed twice", *s.ID)
		}
		ids[*s.ID] = true
		if p.d.noCrowds && s.Crowd != 0 {
			return nil
		}
		s.Image = &image
		if err := p.add(s); err != nil {
			return fmt.Errorf("segment %d: %w", *s.ID, err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("annotation of image %d: %w", image, err)
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
