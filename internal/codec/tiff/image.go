package tiff

import (
	"fmt"
	"slices"
)

// A storedImage describes how the image is stored, by the file's directory.
type storedImage struct {
	w, h        int // before rotation
	orientation int
	compression compression
	photometric int
	kind        kind
	asStored    bool // samples are wanted as they are stored
	bits        int  // per sample
	samples     int  // per pixel, as stored
	bands       int  // how many of them are needed, from the first on
	alpha       bool // the fourth sample is alpha, and the others are premultiplied
	planes      bool // samples are stored in planes, one per band
	reversed    bool // the first bit of a byte is the lowest
	high        bool // the first byte of a number is the highest
	invert      bool // grey, and 0 is white
	predictor   int

	codecs []Codec
	codec  func(dst, src []byte) error // if compression is added

	chunkW, chunkH int // of a strip or tile
	tiled          bool
	across, down   int // chunks of a plane
	offsets        values
	counts         values
	tables         []byte // the JPEG tables of all chunks

	rooms [3]few // memory for the values of three fields
}

// A kind is how samples become colours.
type kind uint8

const (
	indices kind = iota // indices into a palette, or grey levels, of 1 to 8 bits
	gray8               // may have other samples after it
	gray16
	signed16
	signed32
	float32s
	colours8
	colours16
)

// The values of the photometric field that Pillow knows.
const (
	whiteIsZero = 0
	blackIsZero = 1
	rgb         = 2
	paletted    = 3
	separated   = 5
	ycbcrPhoto  = 6
)

func (p *storedImage) read(d *directory) (err error) {
	must := func(t tag, byDefault int) (v int) {
		if err == nil {
			v, err = d.uint(t, byDefault)
		}
		return v
	}
	p.w = must(imageWidth, -1)
	p.h = must(imageLength, -1)
	p.compression = compression(must(compressionTag, 1))
	if i := slices.IndexFunc(p.codecs, func(c Codec) bool { return c.Code == int(p.compression) }); i >= 0 {
		p.compression, p.codec = added, p.codecs[i].Decompress
	}
	p.photometric = must(photometricTag, 0)
	p.predictor = must(predictorTag, 1)
	planar := must(planarConfig, 1)
	fill := must(fillOrder, 1)
	if err == nil {
		err = p.compression.check()
	}
	if err != nil {
		return err
	}
	if p.w < 1 || p.h < 1 || max(p.w, p.h) > longest {
		return fmt.Errorf("%d×%d pixels", p.w, p.h)
	}
	if planar != 1 && planar != 2 {
		return fmt.Errorf("planar configuration %d", planar)
	}
	if fax := p.compression == fax3 || p.compression == fax4; fill != 1 && (fill != 2 || !fax) {
		return unsupported("fill order %d", fill)
	}
	p.reversed = fill == 2
	p.high = d.order.String() == "BigEndian"
	if p.orientation, err = readOrientation(d); err != nil {
		return err
	}
	if err := p.readSamples(d, planar == 2); err != nil {
		return err
	}
	if err := p.readChunks(d); err != nil {
		return err
	}
	return p.compression.read(p, d)
}

// longest is the limit of pixels in a row or column.
const longest = 1 << 24

// readColours sets the palette. Its colours are the upper 8 bits of the field's
// values. Without a palette in the file they are grey levels.
func (d *Decoder) readColours(dir *directory) error {
	p := &d.stored
	d.palette = [256][3]uint8{}
	if p.photometric != paletted {
		top := 1<<p.bits - 1
		for i := range top + 1 {
			v := uint8(i * 255 / top)
			if p.invert {
				v = 255 - v
			}
			d.palette[i] = [3]uint8{v, v, v}
		}
		return nil
	}
	v, err := dir.uints(colorMap)
	if err != nil {
		return err
	}
	n := v.len() / 3
	if n == 0 || n > 256 {
		return fmt.Errorf("palette of %d values", v.len())
	}
	for i := range n {
		for c := range 3 {
			d.palette[i][c] = uint8(v.uint(c*n+i) >> 8)
		}
	}
	return nil
}

// A few is memory for the first values of a field.
type few [8]int

// ints returns the first values of a field, in the given memory.
func (v values) ints(room *few) []int {
	out := room[:min(v.len(), len(room))]
	for i := range out {
		out[i] = int(min(v.uint(i), 1<<16))
	}
	return out
}

// alike reports whether all values are equal to v.
func alike(values []int, v int) bool {
	return !slices.ContainsFunc(values, func(x int) bool { return x != v })
}
