package tiff

import (
	"fmt"
	"io"
	"slices"
)

// A picture is what a directory says of one.
type picture struct {
	w, h        int // as stored
	orientation int
	compression compression
	photometric int
	kind        kind
	bits        int  // per sample
	samples     int  // per pixel, as stored
	bands       int  // of them that are needed, the first
	alpha       bool // the fourth sample, by which the others were multiplied
	unnamed     bool // the fourth sample may be anything
	planes      bool // samples of a kind lie together
	reversed    bool // bits begin with the lowest
	high        bool // bytes begin with the highest
	invert      bool // gray, 0 is white
	predictor   int
	fax         faxMode

	chunkW, chunkH int // of a strip or tile
	tiled          bool
	across, down   int // chunks of a plane
	offsets        values
	counts         values
	tables         []byte // JPEG's
	subH, subV     int    // pixels that share their chroma

	rooms [4]few
}

// A kind is how samples become colours.
type kind uint8

const (
	indices kind = iota // into the palette, of 1 to 8 bits; gray levels too
	gray8               // alone or with others after it
	gray12
	gray16
	signed16
	signed32
	float32s
	colours8
	colours16
	inks8
	inks16
	lumaChroma
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

func (p *picture) read(d *directory) (err error) {
	if v, err := d.field(windowsMedia); err != nil || v.len() > 0 {
		return unsupported("Windows Media Photo")
	}
	must := func(t tag, byDefault int) (v int) {
		if err == nil {
			v, err = d.uint(t, byDefault)
		}
		return v
	}
	p.w = must(imageWidth, -1)
	p.h = must(imageLength, -1)
	p.compression = compression(must(compressionTag, 1))
	p.photometric = must(photometricTag, 0)
	p.predictor = must(predictorTag, 1)
	planar := must(planarConfig, 1)
	fill := must(fillOrder, 1)
	if err != nil {
		return err
	}
	if p.w < 1 || p.h < 1 || max(p.w, p.h) > longest {
		return fmt.Errorf("%d×%d pixels", p.w, p.h)
	}
	if planar != 1 && planar != 2 {
		return fmt.Errorf("planar configuration %d", planar)
	}
	if fill != 1 && fill != 2 {
		return fmt.Errorf("fill order %d", fill)
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
	if err := p.checkMisread(planar == 2); err != nil {
		return err
	}
	return p.compression.read(p, d)
}

// longest is the most pixels of a row or column.
const longest = 1 << 24

// readChunks reads how the picture is divided.
func (p *picture) readChunks(d *directory) (err error) {
	width, err := d.uint(tileWidth, 0)
	if err != nil {
		return err
	}
	offsets, counts := stripOffsets, stripByteCounts
	p.tiled = width > 0
	if p.tiled {
		offsets, counts = tileOffsets, tileByteCounts
		p.chunkW = width
		if p.chunkH, err = d.uint(tileLength, -1); err != nil {
			return err
		}
	} else {
		p.chunkW = p.w
		if p.chunkH, err = d.uint(rowsPerStrip, p.h); err != nil {
			return err
		}
		p.chunkH = min(p.chunkH, p.h)
	}
	if p.chunkW < 1 || p.chunkH < 1 || max(p.chunkW, p.chunkH) > longest {
		return fmt.Errorf("%ss of %d×%d pixels", p.chunkName(), p.chunkW, p.chunkH)
	}
	p.across = (p.w + p.chunkW - 1) / p.chunkW
	p.down = (p.h + p.chunkH - 1) / p.chunkH
	if p.offsets, err = d.uints(offsets); err != nil {
		return err
	}
	if p.tiled && p.offsets.len() == 0 { // some writers mix the names up
		if p.offsets, err = d.uints(stripOffsets); err != nil {
			return err
		}
		counts = stripByteCounts
	}
	p.counts, err = d.uints(counts)
	return err
}

func (p *picture) chunkName() string {
	if p.tiled {
		return "tile"
	}
	return "strip"
}

// parts is the number of planes.
func (p *picture) parts() int {
	if p.planes {
		return p.bands
	}
	return 1
}

// rowBytes is the length of a chunk's row, in one plane. Of YCbCr with shared
// chroma it is that of a row of blocks.
func (p *picture) rowBytes() int {
	switch {
	case p.kind == lumaChroma:
		return (p.chunkW + p.subH - 1) / p.subH * (p.subH*p.subV + 2)
	case p.planes:
		return (p.chunkW*p.bits + 7) / 8
	}
	return (p.chunkW*p.bits*p.samples + 7) / 8
}

// rows is the number of rows that chunk i of a plane holds; in the last strip
// there may be fewer than in others.
func (p *picture) rows(i int) int {
	if p.tiled {
		return p.chunkH
	}
	return min(p.chunkH, p.h-i/p.across*p.chunkH)
}

// chunkBytes is the length of chunk i of a plane without compression.
func (p *picture) chunkBytes(i int) int {
	n := p.rows(i)
	if p.kind == lumaChroma {
		n = (n + p.subV - 1) / p.subV
	}
	return n * p.rowBytes()
}

// extent is where chunk i of a plane lies in the file.
func (p *picture) extent(data []byte, plane, i int) (from, to int, err error) {
	i += plane * p.across * p.down
	switch {
	case p.offsets.len() < (plane+1)*p.across*p.down:
		return 0, 0, p.missing(p.offsets.len())
	case p.compression == none && p.across*p.down == 1 && !p.planes:
		i = p.offsets.len() - 1 // as in Pillow
	}
	offset := p.offsets.uint(i)
	room := uint64(len(data)) - min(offset, uint64(len(data)))
	length := room
	switch {
	case p.compression == none:
		length = uint64(p.chunkBytes(i % (p.across * p.down)))
	case i < p.counts.len() && (p.counts.uint(i) > 0 || p.offsets.len() > 1):
		length = p.counts.uint(i)
	case p.offsets.len() > 1:
		return 0, 0, p.missing(p.counts.len())
	}
	if length > room || offset == 0 || offset > uint64(len(data)) {
		return 0, 0, fmt.Errorf("%s %d: %d bytes at byte %d of %d: %w", p.chunkName(), i, length, offset, len(data), io.ErrUnexpectedEOF)
	}
	return int(offset), int(offset + length), nil
}

// check sees to it that all chunks lie in the file and can hold their pixels.
func (p *picture) check(data []byte, limit int) error {
	if p.compression != none && p.chunkW > limit/p.chunkH {
		return fmt.Errorf("%ss of %d×%d pixels, more than the limit of %d (see MaxPixels)", p.chunkName(), p.chunkW, p.chunkH, limit)
	}
	if p.across > len(data)/p.down {
		return p.tooFew(len(data))
	}
	var need, most int64
	for plane := range p.parts() {
		for i := range p.across * p.down {
			from, to, err := p.extent(data, plane, i)
			if err != nil {
				return err
			}
			room := p.compression.most(p, to-from)
			if int64(p.chunkBytes(i)) > room {
				return p.tooFew(to - from)
			}
			need += int64(p.chunkBytes(i))
			most = max(most, room)
		}
	}
	// Chunks may share their bytes, but not without end.
	if need > max(most, p.compression.most(p, len(data))) && p.w > (1<<20)/p.h {
		return p.tooFew(len(data))
	}
	return nil
}

func (p *picture) missing(n int) error {
	return fmt.Errorf("%w: %d %ss are too few for %d×%d pixels", io.ErrUnexpectedEOF, n, p.chunkName(), p.w, p.h)
}

func (p *picture) tooFew(n int) error {
	return fmt.Errorf("%w: %d bytes are too few for %d×%d pixels", io.ErrUnexpectedEOF, n, p.w, p.h)
}

// readPalette sets the colours of indices.
func (d *Decoder) readPalette(dir *directory) error {
	if err := d.readColours(dir); err != nil {
		return err
	}
	if d.picture.bits == 1 {
		for v := range d.bits {
			for i := range 8 {
				put(d.bits[v][4*i:], d.palette[v>>(7-i)&1])
			}
		}
	}
	return nil
}

// readColours reads those of the field, of which the upper 8 bits count, or makes
// them gray.
func (d *Decoder) readColours(dir *directory) error {
	p := &d.picture
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

// A few is room for the values of a field that has not many.
type few [8]int

// ints returns the first values of a field, in the room given.
func (v values) ints(room *few) []int {
	out := room[:min(v.len(), len(room))]
	for i := range out {
		out[i] = int(min(v.uint(i), 1<<16))
	}
	return out
}

// alike tells whether all values are v.
func alike(values []int, v int) bool {
	return !slices.ContainsFunc(values, func(x int) bool { return x != v })
}
