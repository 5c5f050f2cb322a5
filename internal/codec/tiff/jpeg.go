package tiff

import (
	"fmt"
	"image"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
)

// decodeJPEG is decodeChunk for chunks that are JPEG files. Their tables may be in the
// directory.
func (d *Decoder) decodeJPEG(to *target, i int, at image.Point, part image.Rectangle) error {
	p := &d.stored
	window := part.Sub(at)
	n := 4 * part.Dx()
	size := n * part.Dy()
	d.chunk = grow(d.chunk, size*p.parts())
	for plane := range p.parts() {
		file, err := d.compressedChunk(plane, i)
		if err != nil {
			return err
		}
		if err := d.jpegHeader(file, i); err != nil {
			return err
		}
		if err := d.jpeg.Decode(d.chunk[plane*size:], n, window); err != nil {
			return err
		}
	}
	for y := part.Min.Y; y < part.Max.Y; y++ {
		row := d.chunk[(y-part.Min.Y)*n:]
		pixels := d.pixels(to, part, y)
		d.convertJPEG(pixels, row, size)
		to.turn(part.Min.X, y, pixels)
	}
	return nil
}

// jpegHeader reads and checks the header of the JPEG file in chunk i of a plane.
func (d *Decoder) jpegHeader(file []byte, i int) error {
	p := &d.stored
	d.jpeg.MaxPixels, d.jpeg.Budget = d.MaxPixels, &d.budget
	d.jpeg.Tables = p.tables
	d.jpeg.Colours = jpeg.AsStored
	if p.photometric == ycbcrPhoto {
		d.jpeg.Colours = jpeg.AsYCbCr
	}
	c, err := d.jpeg.Header(file)
	if err != nil {
		return err
	}
	if c.Width != p.chunkW || c.Height != p.rows(i) && (p.tiled || c.Height < p.rows(i) || i < p.down-1) {
		return fmt.Errorf("JPEG of %d×%d pixels in a %s of %d×%d", c.Width, c.Height, p.chunkName(), p.chunkW, p.rows(i))
	}
	want := p.samples
	if p.planes {
		want = 1
	}
	if c.Components != want {
		return fmt.Errorf("JPEG of %d components for %d samples", c.Components, want)
	}
	return nil
}

// convertJPEG makes pixels from the JPEG decoder's output, which has 4 bytes per pixel.
// For planes it is one output of size bytes per plane, with the sample in the first of
// the 4 bytes.
func (d *Decoder) convertJPEG(dst, src []byte, size int) {
	p := &d.stored
	if p.planes {
		for i := 0; i < len(dst); i += 4 {
			for b := range min(4, p.bands) {
				dst[i+b] = src[b*size+i]
			}
		}
		src = dst
	}
	switch p.kind {
	case indices:
		for i := 0; i < len(dst); i += 4 {
			put(dst[i:], d.palette[src[i]])
		}
	case gray8:
		convertGray(dst, src, 4, p.invert)
	case inks8:
		convertInks(dst, src, 4, 1, 0)
	default:
		convertColours(dst, src, 4, 1, 0, p.alpha)
	}
}
