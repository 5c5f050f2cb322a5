package source

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"runtime/debug"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
)

// A registered decodes files of formats that the program has registered with package image.
type registered struct {
	field  string // of the images
	data   []byte
	reader bytes.Reader
	size   image.Point
	img    image.Image // the open file's, between channels and decodeSamples
}

// config reads the size and the name of the format. The error is [image.ErrFormat] if none is registered.
func (d *registered) config(data []byte) (name string, w, h int, err error) {
	defer guarded(d.field, &err)
	name = "registered format" // of a panic
	d.data, d.img = data, nil
	d.reader.Reset(data)
	c, name, err := image.DecodeConfig(&d.reader)
	d.size = image.Pt(c.Width, c.Height)
	return name, c.Width, c.Height, err
}

func (d *registered) Decode(dst []byte, stride int, window image.Rectangle) (err error) {
	defer guarded(d.field, &err)
	if err := d.load(); err != nil {
		return err
	}
	convert(dst, stride, d.img, window.Add(d.img.Bounds().Min))
	d.img = nil
	return nil
}

// load decodes the image, which Decode and decodeSamples give away.
func (d *registered) load() error {
	if d.img != nil {
		return nil
	}
	d.reader.Reset(d.data)
	img, _, err := image.Decode(&d.reader)
	if err != nil {
		return err
	}
	if img == nil {
		return errors.New("the decoder returned no image")
	}
	if got := img.Bounds().Size(); got != d.size {
		return fmt.Errorf("the decoder made %s of an image of %d×%d", figures.Pixels(got.X, got.Y), d.size.Y, d.size.X)
	}
	d.img = img
	return nil
}

// channels is the number of channels of the open file.
func (d *registered) channels() (n int, err error) {
	defer guarded(d.field, &err)
	if err := d.load(); err != nil {
		return 0, err
	}
	return channelsOf(d.img), nil
}

// decodeSamples writes a window of the image, one plane after the other.
func (d *registered) decodeSamples(dst []float32, window image.Rectangle) (err error) {
	defer guarded(d.field, &err)
	if err := d.load(); err != nil {
		return err
	}
	convertValues(dst, d.img, window.Add(d.img.Bounds().Min))
	d.img = nil
	return nil
}

// Guard calls code of the user that works on images of this field. A panic is an error, with its stack.
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
