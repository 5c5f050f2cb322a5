package source

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"
	"runtime/debug"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
)

// A Format is a format that the setting Decoder has added.
type Format struct {
	name, magic string
	decode      func(io.Reader) (image.Image, error)
	config      func(io.Reader) (image.Config, error)
}

// NewFormat is a format whose files begin with magic.
func NewFormat(name, magic string, decode func(io.Reader) (image.Image, error), config func(io.Reader) (image.Config, error)) Format {
	return Format{name, magic, decode, config}
}

// Formats makes the formats of a lane, which keep their files.
func Formats(own []Format, field string) []format {
	var all []format
	for _, o := range own {
		d := &ownDecoder{Format: o, field: field}
		all = append(all, format{o.name, []string{o.magic}, func(*Files) decoder { return d }})
	}
	return all
}

// An ownDecoder decodes the files of a Format.
type ownDecoder struct {
	Format
	field  string // of the images
	data   []byte
	reader bytes.Reader
	size   image.Point
	img    image.Image // the open file's, between load and decodeSamples
}

func (d *ownDecoder) Header(data []byte) (w, h int, err error) {
	defer guarded(d.field, &err)
	d.data, d.img = data, nil
	d.reader.Reset(data)
	c, err := d.config(&d.reader)
	d.size = image.Pt(c.Width, c.Height)
	return c.Width, c.Height, err
}

func (d *ownDecoder) Decode(dst []byte, stride int, window image.Rectangle) (err error) {
	defer guarded(d.field, &err)
	img, err := d.whole()
	if err != nil {
		return err
	}
	convert(dst, stride, img, window.Add(img.Bounds().Min))
	return nil
}

// whole decodes the image.
func (d *ownDecoder) whole() (image.Image, error) {
	d.reader.Reset(d.data)
	img, err := d.decode(&d.reader)
	if err != nil {
		return nil, err
	}
	if img == nil {
		return nil, errors.New("the decoder returned no image")
	}
	if got := img.Bounds().Size(); got != d.size {
		return nil, fmt.Errorf("the decoder made %s of an image of %d×%d", figures.Pixels(got.X, got.Y), d.size.Y, d.size.X)
	}
	return img, nil
}

// Guard calls code of the user that works on images of this field. A panic is an error, with its
// stack.
func Guard(field string, call func() error) (err error) {
	defer guarded(field, &err)
	return call()
}

// guarded is deferred where code of the user may panic, and makes an error of that.
func guarded(field string, err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("field %q: %w", field, &dataset.PanicError{Value: v, Stack: debug.Stack()})
	}
}
