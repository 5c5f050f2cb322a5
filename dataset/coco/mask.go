package coco

import (
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
)

// A shape is where the mask of an object is kept: run lengths from up to, but not
// including, to, or polygons of these numbers.
type shape struct {
	from, to int
	encoded  bool
}

// A plane is a mask of h×w pixels, line by line.
type plane struct {
	pixels []uint8
	h, w   int
}

// fill sets the pixels from up to, but not including, to, which are counted column by
// column.
func (p plane) fill(from, to int) {
	x, y := from/p.h, from%p.h
	for left := to - from; left > 0; x, y = x+1, 0 {
		n := min(left, p.h-y)
		for at := y*p.w + x; n > 0; n-- {
			p.pixels[at] = 1
			at += p.w
			left--
		}
	}
}

// decode draws runs, which have as many pixels as the plane: of pixels that stay 0, and
// of pixels that become 1, in turn.
func (p plane) decode(runs []uint32) {
	at := 0
	for k, n := range runs {
		if k%2 == 1 {
			p.fill(at, at+int(n))
		}
		at += int(n)
	}
}

// scale is how many steps of a polygon's boundary there are per pixel.
const scale = 5

// A canvas draws polygons. It keeps its memory between them.
type canvas struct {
	crossings
	starts, ends []uint32 // of the runs of the polygons of one object
}

// length is how many steps there are along the boundary of a polygon.
func length(points []int32) (steps int64) {
	for k := 0; k < len(points); k += 2 {
		next := (k + 2) % len(points)
		dx, dy := int64(points[next])-int64(points[k]), int64(points[next+1])-int64(points[k+1])
		steps += max(dx, -dx, dy, -dy)
	}
	return steps
}

// trace finds where the boundary of a polygon crosses the centre lines of columns, with the
// roundings of pycocotools' rleFrPoly, which fills from every crossing to the next one, column by
// column. Points are x and y in fifths of a pixel.
func (c *canvas) trace(p plane, points []int32) {
	c.crossings = crossings{h: p.h, w: p.w, found: c.found[:0]}
	n := len(points) / 2
	for k := range n {
		next := (k + 1) % n
		c.edge(int(points[2*k]), int(points[2*k+1]), int(points[2*next]), int(points[2*next+1]))
	}
}

// collect keeps where the runs of a polygon start and end. Every column has an even number of
// crossings, because the boundary is closed.
func (c *canvas) collect() {
	slices.Sort(c.found)
	for k := 0; k+1 < len(c.found); k += 2 {
		c.starts, c.ends = append(c.starts, c.found[k]), append(c.ends, c.found[k+1])
	}
}

// unite makes the crossings those of the union of all collected runs.
func (c *canvas) unite() {
	slices.Sort(c.starts)
	slices.Sort(c.ends)
	c.found = c.found[:0]
	open, next := 0, 0 // runs that are open, and the next one to start
	for _, end := range c.ends {
		for next < len(c.starts) && c.starts[next] <= end {
			if open == 0 {
				c.found = append(c.found, c.starts[next])
			}
			open++
			next++
		}
		if open--; open == 0 {
			c.found = append(c.found, end)
		}
	}
}

// toggle fills a plane of zeros row by row: a pixel differs from the one above it where a
// crossing is. Every column has an even number of crossings, so no run goes on from the end of a
// column to the next one. Crossings below the image end runs there.
func (c *canvas) toggle(p plane) {
	left, right, top, bottom := p.w, 0, p.h, 0
	for _, at := range c.found {
		x, y := int(at)/(p.h+1), int(at)%(p.h+1)
		left, right, top, bottom = min(left, x), max(right, x+1), min(top, y), max(bottom, y)
		if y < p.h {
			p.pixels[y*p.w+x] ^= 1
		}
	}
	row := func(y int) []uint8 { return p.pixels[y*p.w+left : y*p.w+right] }
	for y := top + 1; y <= min(bottom, p.h-1); y++ {
		subtle.XORBytes(row(y), row(y), row(y-1))
	}
}

// crossings are found along a boundary that is walked step by step.
type crossings struct {
	h, w  int
	u, v  int // the last step
	begun bool
	found []uint32 // x·(h+1) + y of every crossing
}

// edge walks from one point to another: along its longer direction in steps of one, with
// the other coordinate rounded.
func (c *crossings) edge(x0, y0, x1, y1 int) {
	dx, dy := abs(x1-x0), abs(y1-y0)
	if dx >= dy {
		if x0 > x1 {
			slope := ratio(y0-y1, dx)
			for t := dx; t >= 0; t-- {
				c.step(x1+t, along(y1, slope, t))
			}
			return
		}
		slope := ratio(y1-y0, dx)
		for t := 0; t <= dx; t++ {
			c.step(x0+t, along(y0, slope, t))
		}
		return
	}
	if y0 > y1 {
		slope := ratio(x0-x1, dy)
		for t := dy; t >= 0; t-- {
			c.step(along(x1, slope, t), y1+t)
		}
		return
	}
	slope := ratio(x1-x0, dy)
	for t := 0; t <= dy; t++ {
		c.step(along(x0, slope, t), y0+t)
	}
}

func ratio(a, b int) float64 {
	if b == 0 { // a point
		return 0
	}
	return float64(a) / float64(b)
}

// along is the rounded coordinate t steps from a. The conversion forbids a fused
// operation, which would round otherwise.
func along(a int, slope float64, t int) int { return int(float64(a) + float64(slope*float64(t)) + 0.5) }

// step notes a crossing if the step leads over the centre line of a column.
func (c *crossings) step(u, v int) {
	last, lastV, begun := c.u, c.v, c.begun
	c.u, c.v, c.begun = u, v, true
	if !begun || u == last {
		return
	}
	at := u - 1
	if u < last {
		at = u
	}
	x := (at - scale/2) / scale
	if at < scale/2 || (at-scale/2)%scale != 0 || x >= c.w {
		return
	}
	y := max(min(v, lastV)-scale/2, 0)
	c.found = append(c.found, uint32(x*(c.h+1)+min((y+scale-1)/scale, c.h)))
}

func abs(x int) int { return max(x, -x) }

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
