package coco

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// segmentation reads the shape of an object: a list of polygons, or a run-length
// encoding.
func (p *parser) segmentation(o *pending, text json.RawMessage) error {
	switch {
	case len(text) == 0 || string(text) == "null":
		return nil
	case text[0] == '{':
		return p.encoded(o, text)
	}
	rest, ok := bytes.CutPrefix(text, []byte("["))
	if !ok {
		return fmt.Errorf("found %.20q, want polygons or runs", text)
	}
	o.shape.from = len(p.d.parts)
	for k := 0; ; k++ {
		if rest = space(rest); rest[0] == ']' {
			break
		}
		if rest[0] == ',' {
			rest = rest[1:]
		}
		var err error
		if p.numbers, rest, err = appendNumbers(p.numbers[:0], rest); err == nil {
			err = p.polygon(p.numbers)
		}
		if err != nil {
			return fmt.Errorf("polygon %d: %w", k, err)
		}
	}
	o.shape.to = len(p.d.parts)
	return nil
}

// maxCoordinate bounds coordinates, in fifths of a pixel, so that no number overflows.
const maxCoordinate = 1 << 24

// polygon adds a polygon.
func (p *parser) polygon(xy []float64) error {
	if len(xy) < 6 || len(xy)%2 == 1 {
		return fmt.Errorf("%d numbers: want x and y of three points or more", len(xy))
	}
	for _, x := range xy {
		at := float64(scale*x) + 0.5
		if !(math.Abs(at) < maxCoordinate) {
			return fmt.Errorf("coordinate %g: want up to ±%d", x, maxCoordinate/scale)
		}
		p.d.points = append(p.d.points, int32(at)) // rounds towards 0, as pycocotools does
	}
	p.d.parts = append(p.d.parts, len(p.d.points))
	return nil
}

type encodedJSON struct {
	Size   []int           `json:"size"`
	Counts json.RawMessage `json:"counts"`
}

// encoded reads a run-length encoding, as a list of counts or as pycocotools' text.
func (p *parser) encoded(o *pending, text json.RawMessage) (err error) {
	var v encodedJSON
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	if len(v.Size) != 2 || v.Size[0] < 1 || v.Size[1] < 1 || v.Size[0] > maxPixels/v.Size[1] {
		return fmt.Errorf("size %v: want height and width", v.Size)
	}
	o.h, o.w = v.Size[0], v.Size[1]
	o.shape = shape{from: len(p.d.runs), encoded: true}
	if len(v.Counts) > 0 && v.Counts[0] == '"' {
		var packed string
		if err := json.Unmarshal(v.Counts, &packed); err != nil {
			return err
		}
		p.d.runs, err = appendPacked(p.d.runs, packed, o.h*o.w)
	} else {
		err = p.counts(v.Counts, o.h*o.w)
	}
	o.shape.to = len(p.d.runs)
	for _, n := range p.d.runs[o.shape.from:] {
		if o.pixels += int64(n); o.pixels > int64(o.h*o.w) {
			break // resolve reports it
		}
	}
	return err
}

func (p *parser) counts(text json.RawMessage, pixels int) error {
	var counts []int64
	if err := json.Unmarshal(text, &counts); err != nil {
		return err
	}
	for _, n := range counts {
		if n < 0 || n > int64(pixels) {
			return fmt.Errorf("a run of %d pixels in a mask of %d", n, pixels)
		}
		p.d.runs = append(p.d.runs, uint32(n))
	}
	return nil
}

// appendPacked appends the runs of pycocotools' text: five bits per character, from the
// lowest on, a sixth that says whether there are more, and the sign in the last one's
// highest. From the fourth run on it is the difference to the run before the last.
func appendPacked(runs []uint32, text string, pixels int) ([]uint32, error) {
	first := len(runs)
	for k := 0; k < len(text); {
		var x int64
		for shift := 0; ; shift += 5 {
			if k == len(text) {
				return runs, errors.New("counts end inside a number")
			}
			if shift > 55 {
				return runs, errors.New("counts have a number of more than 60 bits")
			}
			c := int64(text[k]) - '0'
			k++
			if c < 0 || c > 63 {
				return runs, fmt.Errorf("counts have the byte %q", text[k-1])
			}
			x |= c & 31 << shift
			if c&32 == 0 {
				if c&16 != 0 {
					x |= -1 << (shift + 5)
				}
				break
			}
		}
		if n := len(runs) - first; n > 2 {
			x += int64(runs[len(runs)-2])
		}
		if x < 0 || x > int64(pixels) {
			return runs, fmt.Errorf("a run of %d pixels in a mask of %d", x, pixels)
		}
		runs = append(runs, uint32(x))
	}
	return runs, nil
}
