package coco

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"

	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/files"
)

// read reads the annotation file.
func (d *Dataset) read() error {
	f, size, err := files.Open(d.fsys, d.file)
	if err != nil {
		return err
	}
	defer f.Close()
	p := parser{Budget: budget.For(size), d: d, from: json.NewDecoder(bufio.NewReaderSize(f, 1<<16))}
	if err := p.file(); err != nil {
		return err
	}
	return p.join()
}

// A parser reads one annotation file.
type parser struct {
	budget.Budget
	d    *Dataset
	from *json.Decoder

	imageByID  map[int64]int // from id to index of d.images
	categories map[int64]int
	objects    []pending
	segments   map[int64]string // the files of panoptic annotations, by image

	numbers []float64 // of one polygon
}

// pending is an object until all images and categories are known.
type pending struct {
	object
	image, category int64
	h, w            int   // of an encoded mask; 0: no such
	pixels          int64 // that an encoded mask has
}

// file reads the object that the file holds, and the lists in it, in any order.
func (p *parser) file() error {
	if err := delim(p.from, '{'); err != nil {
		return err
	}
	seen := map[string]bool{} // of the lists that are read
	var skipped json.RawMessage
	for p.from.More() {
		key, err := p.from.Token()
		if err != nil {
			return cut(err)
		}
		name, _ := key.(string)
		if seen[name] {
			return fmt.Errorf("two lists named %q", name)
		}
		switch name {
		case "images":
			err = list(p.from, p.image)
		case "annotations":
			err = list(p.from, p.annotation)
		case "categories":
			err = list(p.from, p.category)
		default:
			if err := p.from.Decode(&skipped); err != nil {
				return fmt.Errorf("%.100s: %w", name, cut(err))
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, cut(err))
		}
		seen[name] = true
	}
	for _, name := range []string{"images", "annotations"} {
		if !seen[name] {
			return fmt.Errorf("no list named %q: want COCO's annotations", name)
		}
	}
	return delim(p.from, '}')
}

func delim(from *json.Decoder, want json.Delim) error {
	if t, err := from.Token(); err != nil {
		return cut(err)
	} else if t != want {
		return fmt.Errorf("found %v, want %v", t, want)
	}
	return nil
}

// cut says of a file that ends too early that it does.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// list reads a list of objects. T is the zero value before every one of them.
func list[T any](from *json.Decoder, add func(*T) error) error {
	if err := delim(from, '['); err != nil {
		return err
	}
	var v, zero T
	for k := 0; from.More(); k++ {
		v = zero
		if err := from.Decode(&v); err != nil {
			return fmt.Errorf("entry %d: %w", k, cut(err))
		}
		if err := add(&v); err != nil {
			return err
		}
	}
	return delim(from, ']')
}

// What is kept of an entry, in bytes, with its place in a map.
const (
	imageBytes    = 160
	categoryBytes = 160
	objectBytes   = 256
)

type imageJSON struct {
	ID     *int64 `json:"id"`
	File   string `json:"file_name"`
	Height int    `json:"height"`
	Width  int    `json:"width"`
}

// maxPixels bounds the area of an image, so that no number overflows.
const maxPixels = 1 << 30

func (p *parser) image(v *imageJSON) error {
	if v.ID == nil {
		return fmt.Errorf("image %q has no id", v.File)
	}
	if p.imageByID == nil {
		p.imageByID = map[int64]int{}
	}
	if _, twice := p.imageByID[*v.ID]; twice {
		return fmt.Errorf("image %d is listed twice", *v.ID)
	}
	if !fs.ValidPath(v.File) || v.File == "." {
		return fmt.Errorf("image %d: file name %q is not a valid path", *v.ID, v.File)
	}
	if p.d.masks && (v.Height < 1 || v.Width < 1 || v.Height > maxPixels/v.Width) {
		return fmt.Errorf("image %d: %d×%d pixels: want 1 to %d", *v.ID, v.Width, v.Height, maxPixels)
	}
	if err := p.Memory(imageBytes + int64(len(v.File))); err != nil {
		return err
	}
	p.imageByID[*v.ID] = len(p.d.images)
	p.d.images = append(p.d.images, picture{id: *v.ID, name: v.File, h: v.Height, w: v.Width})
	return nil
}

type categoryJSON struct {
	ID            *int64   `json:"id"`
	Name          string   `json:"name"`
	Supercategory string   `json:"supercategory"`
	KeyPoints     []string `json:"keypoints"`
	Thing         int      `json:"isthing"`
}

func (p *parser) category(v *categoryJSON) error {
	if v.ID == nil {
		return fmt.Errorf("category %q has no id", v.Name)
	}
	if p.categories == nil {
		p.categories = map[int64]int{}
	}
	if _, twice := p.categories[*v.ID]; twice {
		return fmt.Errorf("category %d is listed twice", *v.ID)
	}
	if err := p.Memory(categoryBytes + 32*int64(len(v.KeyPoints))); err != nil {
		return err
	}
	p.categories[*v.ID] = 0 // until all are sorted
	p.d.categories = append(p.d.categories, Category{*v.ID, v.Name, v.Supercategory, v.KeyPoints, v.Thing != 0})
	return nil
}

type annotationJSON struct {
	ID           *int64          `json:"id"`
	Image        *int64          `json:"image_id"`
	Category     int64           `json:"category_id"`
	Box          []float64       `json:"bbox"`
	Area         float64         `json:"area"`
	Crowd        int             `json:"iscrowd"`
	Segmentation json.RawMessage `json:"segmentation"`
	KeyPoints    []float64       `json:"keypoints"`
	File         string          `json:"file_name"`
	Segments     json.RawMessage `json:"segments_info"` // annotations, which only Panoptic reads
}

func (p *parser) annotation(v *annotationJSON) error {
	if p.d.panoptic {
		return p.panoptic(v)
	}
	if v.ID == nil {
		return errors.New("an annotation has no id")
	}
	if p.d.noCrowds && v.Crowd != 0 {
		return nil
	}
	if err := p.add(v); err != nil {
		return fmt.Errorf("annotation %d: %w", *v.ID, err)
	}
	return nil
}

func (p *parser) add(v *annotationJSON) error {
	if v.Image == nil {
		return errors.New("no image_id")
	}
	if len(v.Box) != 4 {
		return fmt.Errorf("bbox of %d numbers: want 4", len(v.Box))
	}
	if err := p.Memory(objectBytes); err != nil {
		return err
	}
	o := pending{object: object{id: *v.ID, area: float32(v.Area), crowd: v.Crowd != 0, keys: -1}, image: *v.Image, category: v.Category}
	for k, x := range v.Box {
		o.box[k] = float32(x)
		if math.IsInf(float64(o.box[k]), 0) {
			return fmt.Errorf("bbox has the number %g", x)
		}
	}
	if n := 3 * p.d.keypoints; n > 0 && len(v.KeyPoints) > 0 {
		if len(v.KeyPoints) != n {
			return fmt.Errorf("%d numbers of keypoints: want %d", len(v.KeyPoints), n)
		}
		o.keys = len(p.d.keys)
		for _, x := range v.KeyPoints {
			p.d.keys = append(p.d.keys, float32(x))
		}
	}
	if p.d.masks {
		if err := p.segmentation(&o, bytes.TrimSpace(v.Segmentation)); err != nil {
			return fmt.Errorf("segmentation: %w", err)
		}
	}
	p.objects = append(p.objects, o)
	return nil
}

// appendNumbers appends the numbers of the list with which text begins, and returns what
// comes after it. It is faster than encoding/json, which matters because polygons are most of
// an annotation file. text is valid JSON.
func appendNumbers(numbers []float64, text []byte) (all []float64, rest []byte, err error) {
	text, ok := bytes.CutPrefix(space(text), []byte("["))
	if !ok {
		return numbers, nil, fmt.Errorf("found %.20q, want a list of numbers", text)
	}
	for text = space(text); text[0] != ']'; text = space(text) {
		n := bytes.IndexAny(text, ",] \t\r\n")
		v, err := strconv.ParseFloat(string(text[:n]), 64)
		if err != nil {
			return numbers, nil, err
		}
		numbers = append(numbers, v)
		if text = space(text[n:]); text[0] == ',' {
			text = text[1:]
		}
	}
	return numbers, text[1:], nil
}

func space(text []byte) []byte { return bytes.TrimLeft(text, " \t\r\n") }

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
