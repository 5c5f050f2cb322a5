package transform

import (
	"errors"
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
	"github.com/penstock-go/penstock/internal/steps"
)

// JPEG makes the image what it is after coding it as JPEG and decoding it, with a random quality
// from least to greatest, each 1 to 100: torchvision's JPEG. The pixels are those of libjpeg-turbo with
// PIL images and with tensors, bit for bit.
func JPEG(least, greatest int) Step { return quality{least, greatest} }

type quality struct{ least, greatest int }

func (s quality) String() string { return steps.Call("JPEG", s.least, s.greatest) }

func (s quality) add(p *program) error {
	if s.least < 1 || s.least > s.greatest || s.greatest > 100 {
		return errors.New("want qualities from 1 to 100, with the least first")
	}
	return p.edit(s)
}

func (s quality) edit(img *Image, r *rand.Rand, mem *scratch) error {
	return recode(img, s.least+r.IntN(s.greatest-s.least+1), mem)
}

// A recoding is memory of JPEG.
type recoding struct {
	lossy   jpeg.Lossy
	decoder jpeg.Decoder
}

func recode(img *Image, quality int, mem *scratch) error {
	if mem.recoding == nil {
		mem.recoding = new(recoding)
	}
	c := mem.recoding
	w, h := img.Width, img.Height
	if w > maxCoded || h > maxCoded {
		return errors.New("transform: JPEG: want an image of at most 65535×65535 pixels")
	}
	frame := c.lossy.Prepare(img.Pix, w, h, quality)
	c.decoder.MaxPixels = w * h
	if _, err := c.decoder.Open(frame, &c.lossy); err != nil {
		return err
	}
	mem.spare.resize(w, h)
	if err := c.decoder.Decode(mem.spare.Pix, 4*w, image.Rect(0, 0, w, h)); err != nil {
		return err
	}
	*img, mem.spare = mem.spare, *img
	return nil
}

// maxCoded is the longest side of a JPEG image.
const maxCoded = 1<<16 - 1
