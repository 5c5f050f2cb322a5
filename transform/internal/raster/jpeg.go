package raster

import (
	"errors"
	"image"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
)

// A recoding is memory of Recode.
type recoding struct {
	lossy   jpeg.Lossy
	decoder jpeg.Decoder
}

// Recode makes the image what it is after coding it as JPEG with this quality, from 1 to 100, and decoding it. The pixels
// are those of libjpeg-turbo.
func (m *Bytes) Recode(quality int) error {
	if m.recoding == nil {
		m.recoding = new(recoding)
	}
	c := m.recoding
	w, h := m.Width, m.Height
	if w > maxCoded || h > maxCoded {
		return errors.New("transform: JPEG: want an image of at most 65535×65535 pixels")
	}
	frame := c.lossy.Prepare(m.Pix, w, h, quality)
	c.decoder.MaxPixels = w * h
	if _, err := c.decoder.Open(frame, &c.lossy); err != nil {
		return err
	}
	m.Spare.Resize(w, h)
	if err := c.decoder.Decode(m.Spare.Pix, 4*w, image.Rect(0, 0, w, h)); err != nil {
		return err
	}
	m.Swap()
	return nil
}

// maxCoded is the longest side of a JPEG image.
const maxCoded = 1<<16 - 1
