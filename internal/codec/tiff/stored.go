package tiff

import (
	"encoding/binary"
	"fmt"
	"image"
	"math"

	"github.com/penstock-go/penstock/dataset"
)

// mostStored is the limit of samples per pixel.
const mostStored = 4096

// settleStored sets the layout of samples that DecodeSamples returns, and reports whether
// it does. Their meaning does not matter: grey is not inverted, and alpha is a sample like
// any other.
func (p *storedImage) settleStored(bits, formats values) bool {
	switch p.photometric {
	case whiteIsZero, blackIsZero, rgb, separated:
	default:
		return false
	}
	switch p.compression {
	case none, packBits, lzwCodes, deflate, pixarDeflate, added:
	default:
		return false
	}
	if p.samples < 1 || p.samples > mostStored || bits.len() == 0 || bits.len() > 1 && bits.len() < p.samples {
		return false
	}
	p.bits = int(min(bits.uint(0), 64))
	for i := range bits.len() {
		if bits.uint(i) != uint64(p.bits) {
			return false
		}
	}
	format := uint64(1)
	for i := range formats.len() {
		if i == 0 {
			format = formats.uint(0)
		}
		if formats.uint(i) != format {
			return false
		}
	}
	p.bands = p.samples
	const unsigned, signed, float = 1, 2, 3
	switch {
	case p.bits == 8 && format == unsigned:
		p.kind = gray8
	case p.bits == 16 && format == unsigned:
		p.kind = gray16
	case p.bits == 16 && format == signed:
		p.kind = signed16
	case p.bits == 32 && format == float:
		p.kind = float32s
	default:
		return false
	}
	return true
}

// StoredSamples is the number of samples per pixel of the file whose header was read, and
// their dtype: uint16, int16 or float32. It is for a Decoder with Stored. Ok is false if
// DecodeSamples does not read the file: palettes, YCbCr, JPEG and fax compression, and samples
// of other than 8, 16 and 32 bits. Then Decode reads it, if Pillow does.
func (d *Decoder) StoredSamples() (n int, dtype dataset.Dtype, ok bool) {
	p := &d.stored
	switch p.kind {
	case signed16:
		dtype = dataset.Int16
	case float32s:
		dtype = dataset.Float32
	default:
		dtype = dataset.Uint16
	}
	return p.samples, dtype, p.asStored
}

// DecodeSamples writes the window, which is the whole image or a part of it, one plane after
// the other without gaps. Samples of 8 bits are multiplied by 257, all others are as they
// are stored. It is for files for which StoredSamples says that it can. Otherwise it is like
// Decode.
func (d *Decoder) DecodeSamples(dst []float32, window image.Rectangle) error {
	if d.data == nil || !d.stored.asStored {
		return errNoHeader
	}
	o := orientation(d.stored.orientation)
	w, h := o.size(d.stored.w, d.stored.h)
	switch {
	case !window.In(image.Rect(0, 0, w, h)):
		return fmt.Errorf("tiff: decode: window %v exceeds the image's %d×%d", window, w, h)
	case window.Empty():
		return nil
	case len(dst) != d.stored.samples*window.Dx()*window.Dy():
		return errRoom
	}
	to := o.target(1, window.Dx(), window, w, h)
	return d.chunks(&to, dst)
}

// storedChunk is decodeChunk for samples as they are stored.
func (d *Decoder) storedChunk(dst []float32, to *target, i int, at image.Point) error {
	p := &d.stored
	part := image.Rect(0, 0, p.chunkW, p.rows(i)).Add(at).Intersect(to.window)
	chunk, err := d.samplesOf(i)
	if err != nil {
		return err
	}
	size, n := p.bits/8, p.rowBytes()
	step, next := p.samples*size, size // from a pixel to the next, and from a sample to the next
	if p.planes {
		step, next = size, p.chunkBytes(i)
	}
	area := len(dst) / p.samples
	for c := range p.samples {
		plane := dst[c*area:][:area]
		for y := part.Min.Y; y < part.Max.Y; y++ {
			src := chunk[c*next+(y-at.Y)*n+(part.Min.X-at.X)*step:]
			p.storedRow(plane, to.offset(part.Min.X, y), to.right, src, step, part.Dx())
		}
	}
	return nil
}

// storedRow writes n samples, which are step bytes apart in src, to dst[at], dst[at+right]
// and so on.
func (p *storedImage) storedRow(dst []float32, at, right int, src []byte, step, n int) {
	low, high := 0, 1
	if p.high {
		low, high = 1, 0
	}
	for range n {
		var v float32
		switch p.kind {
		case gray8:
			v = float32(257 * int(src[0]))
		case gray16:
			v = float32(uint16(src[low]) | uint16(src[high])<<8)
		case signed16:
			v = float32(int16(uint16(src[low]) | uint16(src[high])<<8))
		default:
			if p.high {
				v = math.Float32frombits(binary.BigEndian.Uint32(src))
			} else {
				v = math.Float32frombits(binary.LittleEndian.Uint32(src))
			}
		}
		dst[at] = v
		at += right
		src = src[min(step, len(src)):]
	}
}

// GreyBits is 8 or 16 if DecodeSamples reads the file whose header was read, and it has one
// unsigned sample of that many bits per pixel, in which 0 is black. Otherwise it is 0.
func (d *Decoder) GreyBits() int {
	p := &d.stored
	if !p.asStored || p.samples != 1 || p.photometric != blackIsZero || p.kind != gray8 && p.kind != gray16 {
		return 0
	}
	return p.bits
}
