package tiff

import (
	"fmt"
	"image"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
)

// decodeJPEG is decodeChunk for chunks that are JPEG files. Their tables may be in the
// directory.
func (d *Decoder) decodeJPEG(to *target, i int, at image.Point, part image.Rectangle) error {
	window := part.Sub(at)
	n := 4 * part.Dx()
	d.chunk = grow(d.chunk, n*part.Dy())
	file, err := d.compressedChunk(0, i)
	if err != nil {
		return err
	}
	if err := d.jpegHeader(file, i); err != nil {
		return err
	}
	if err := d.jpeg.Decode(d.chunk, n, window); err != nil {
		return err
	}
	for y := part.Min.Y; y < part.Max.Y; y++ {
		row := d.chunk[(y-part.Min.Y)*n:]
		pixels := d.pixels(to, part, y)
		d.convertJPEG(pixels, row)
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
	if c.Components != p.samples {
		return fmt.Errorf("JPEG of %d components for %d samples", c.Components, p.samples)
	}
	return nil
}

// convertJPEG makes pixels from the JPEG decoder's output, which has 4 bytes per pixel.
func (d *Decoder) convertJPEG(dst, src []byte) {
	p := &d.stored
	switch p.kind {
	case indices:
		for i := 0; i < len(dst); i += 4 {
			put(dst[i:], d.palette[src[i]])
		}
	case gray8:
		convertGray(dst, src, 4, p.invert)
	default:
		convertColours(dst, src, 4, 1, 0, p.alpha)
	}
}
