package tiff

import (
	"fmt"
	"io"
	"math"
)

// readChunks reads how the image is divided into strips or tiles, the chunks.
func (p *storedImage) readChunks(d *directory) (err error) {
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
	if p.tiled && p.offsets.len() == 0 { // some writers use the fields of strips
		if p.offsets, err = d.uints(stripOffsets); err != nil {
			return err
		}
		counts = stripByteCounts
	}
	p.counts, err = d.uints(counts)
	return err
}

func (p *storedImage) chunkName() string {
	if p.tiled {
		return "tile"
	}
	return "strip"
}

// parts is the number of planes.
func (p *storedImage) parts() int {
	if p.planes {
		return p.bands
	}
	return 1
}

// rowSize is the length of a chunk's row in one plane.
func (p *storedImage) rowSize() int64 {
	if p.planes {
		return (int64(p.chunkW)*int64(p.bits) + 7) / 8
	}
	return (int64(p.chunkW)*int64(p.bits)*int64(p.samples) + 7) / 8
}

// rowBytes is rowSize, after check.
func (p *storedImage) rowBytes() int { return int(p.rowSize()) }

// rows is the number of rows in chunk i of a plane. The last strip may have fewer than
// the others.
func (p *storedImage) rows(i int) int {
	if p.tiled {
		return p.chunkH
	}
	return min(p.chunkH, p.h-i/p.across*p.chunkH)
}

// chunkSize is the uncompressed length of chunk i of a plane.
func (p *storedImage) chunkSize(i int) int64 {
	return int64(p.rows(i)) * p.rowSize()
}

// chunkBytes is chunkSize, after check.
func (p *storedImage) chunkBytes(i int) int { return int(p.chunkSize(i)) }

// extent is where chunk i of a plane is in the file.
func (p *storedImage) extent(data []byte, plane, i int) (from, to int, err error) {
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
		length = uint64(p.chunkSize(i % (p.across * p.down)))
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

// check checks that all chunks are in the file and can hold their pixels.
func (p *storedImage) check(data []byte, limit int) error {
	values := 1 // per pixel, of those that the limit is for
	if p.asStored {
		values = p.samples
	}
	if p.compression != none && p.chunkW > limit/values/p.chunkH {
		return fmt.Errorf("%ss of %d×%d pixels and %d samples, more than the limit of %d (see MaxPixels)", p.chunkName(), p.chunkW, p.chunkH, p.samples, limit)
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
			size := p.chunkSize(i)
			if size > room {
				return p.tooFew(to - from)
			}
			if size > math.MaxInt/int64(p.parts()) {
				return fmt.Errorf("%ss of %d bytes are more than memory can hold", p.chunkName(), size)
			}
			need += size
			most = max(most, room)
		}
	}
	// Chunks may share their bytes, but only in small images.
	if need > max(most, p.compression.most(p, len(data))) && p.w > (1<<20)/values/p.h {
		return p.tooFew(len(data))
	}
	return nil
}

func (p *storedImage) missing(n int) error {
	return fmt.Errorf("%w: %d %ss are too few for %d×%d pixels", io.ErrUnexpectedEOF, n, p.chunkName(), p.w, p.h)
}

func (p *storedImage) tooFew(n int) error {
	return fmt.Errorf("%w: %d bytes are too few for %d×%d pixels", io.ErrUnexpectedEOF, n, p.w, p.h)
}
