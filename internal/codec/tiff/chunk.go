package tiff

import (
	"image"
)

// decodeChunk writes the part of chunk i that the target needs. The chunk's first
// pixel is at.
func (d *Decoder) decodeChunk(to *target, i int, at image.Point) error {
	p := &d.stored
	part := image.Rect(0, 0, p.chunkW, p.rows(i)).Add(at).Intersect(to.window)
	if p.compression == newJPEG {
		return d.decodeJPEG(to, i, at, part)
	}
	chunk, err := d.samplesOf(i)
	if err != nil {
		return err
	}
	n := p.rowBytes()
	if p.planes && p.bands > 1 {
		d.row = grow(d.row, p.chunkW*p.bands*(p.bits/8))
	}
	for y := part.Min.Y; y < part.Max.Y; y++ {
		row := chunk[(y-at.Y)*n:]
		if p.planes && p.bands > 1 {
			d.interleave(row, p.chunkBytes(i), part.Min.X-at.X, part.Max.X-at.X)
			row = d.row
		}
		pixels := d.pixels(to, part, y)
		d.convert(pixels, row, part.Min.X-at.X)
		to.turn(part.Min.X, y, pixels)
	}
	return nil
}

// pixels is where the pixels of row y of a part are to be written: in the target, or
// in memory from which turn copies them.
func (d *Decoder) pixels(to *target, part image.Rectangle, y int) []byte {
	n := 4 * part.Dx()
	if to.right == 4 {
		return to.dst[to.offset(part.Min.X, y):][:n]
	}
	d.turned = grow(d.turned, n)
	return d.turned
}

// samplesOf returns the samples of chunk i, one plane after the other.
func (d *Decoder) samplesOf(i int) ([]byte, error) {
	p := &d.stored
	size := p.chunkBytes(i)
	if p.compression == none && !p.planes {
		from, to, err := p.extent(d.data, 0, i)
		return d.data[from:to], err
	}
	d.chunk = grow(d.chunk, size*p.parts())
	for plane := range p.parts() {
		src, err := d.compressedChunk(plane, i)
		if err != nil {
			return nil, err
		}
		dst := d.chunk[plane*size:][:size]
		if p.compression == none {
			copy(dst, src)
			continue
		}
		if err := d.decompress(dst, src); err != nil {
			return nil, err
		}
	}
	return d.chunk, nil
}

// A compressed byte takes byteSteps of the budget, because the slowest bytes are those of tables.
// A pixel justifies pixelSteps.
const byteSteps, pixelSteps = 16, 8

// compressedChunk is chunk i of a plane as it is in the file. Chunks may share their bytes: the
// budget has enough for all bytes of the file four times, and more for the pixels.
func (d *Decoder) compressedChunk(plane, i int) ([]byte, error) {
	p := &d.stored
	from, to, err := p.extent(d.data, plane, i)
	if err != nil {
		return nil, err
	}
	d.budget.Grant(0, pixelSteps*int64(p.chunkW)*int64(p.rows(i)))
	if p.compression != none {
		err = d.budget.Work(byteSteps * int64(to-from+len(p.tables)))
	}
	return d.data[from:to], err
}

// interleave copies a row's samples from planes into d.row, pixel by pixel. The planes
// are size bytes apart. It copies pixels from to to-1.
func (d *Decoder) interleave(planes []byte, size, from, to int) {
	p := &d.stored
	n := p.bits / 8
	for b := range p.bands {
		src := planes[b*size:]
		for x := from; x < to; x++ {
			copy(d.row[(x*p.bands+b)*n:][:n], src[x*n:])
		}
	}
}
