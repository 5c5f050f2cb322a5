package png

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/penstock-go/penstock/internal/inflate"
)

// A pass is one of the images of which an interlaced image consists: the pixels from (x, y) on,
// dx and dy apart.
type pass struct{ x, y, dx, dy int }

var (
	straight = []pass{{0, 0, 1, 1}}
	adam7    = []pass{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}
)

// passes are those of the image.
func (d *Decoder) passes() []pass {
	if d.laced {
		return adam7
	}
	return straight
}

// decode calls show for the rows of all passes that lie above row last: row holds the pixels of
// row y from column p.x on, p.dx apart.
func (d *Decoder) decode(last int, show func(row []byte, y int, p pass)) error {
	if err := d.begin(); err != nil {
		return decodeError(err)
	}
	return d.goOn(0, last, show)
}

// goOn is decode from row first on, if the image is not interlaced.
func (d *Decoder) goOn(first, last int, show func(row []byte, y int, p pass)) error {
	passes := d.passes()
	for i, p := range passes {
		w := (d.w - p.x + p.dx - 1) / p.dx
		if w == 0 {
			continue
		}
		end := d.h
		if i == len(passes)-1 {
			end = last
		}
		n := d.rowBytes(w)
		if first == 0 {
			clear(d.rows[0][:n])
		}
		for y := first + p.y; y < end; y += p.dy {
			row := d.rows[1][:n]
			if _, err := io.ReadFull(d.zlib, row); err != nil {
				return decodeError(err)
			}
			if err := unfilter(row[0], row[1:], d.rows[0][1:n], (d.bits()+7)/8); err != nil {
				return decodeError(err)
			}
			show(row[1:], y, p)
			d.rows[0], d.rows[1] = d.rows[1], d.rows[0]
		}
	}
	if last == d.h {
		return d.end()
	}
	return nil
}

// end checks that the stream ends with the last row, and its checksum.
func (d *Decoder) end() error {
	switch n, err := io.ReadFull(d.zlib, d.rows[1][:1]); {
	case n > 0:
		return errors.New("png: decode: there is more image data than pixels")
	case err != io.EOF:
		return decodeError(err)
	}
	return nil
}

func decodeError(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("png: decode: %w", err)
}

// begin prepares for the first row.
func (d *Decoder) begin() error {
	d.chunks = idat{rest: d.data}
	if d.buffer == nil {
		d.buffer = bufio.NewReaderSize(&d.chunks, 1<<14)
	} else {
		d.buffer.Reset(&d.chunks)
	}
	if d.zlib == nil {
		d.zlib = new(inflate.Reader)
	}
	if err := d.zlib.ResetZlib(d.buffer); err != nil {
		return err
	}
	for k := range d.rows {
		d.rows[k] = grow(d.rows[k], d.rowBytes(d.w))
	}
	return nil
}

// rowBytes are those of a row of w pixels in the stream, with the filter's. The bits of a row may be too
// many for an int of 32 bits.
func (d *Decoder) rowBytes(w int) int { return int(1 + (uint64(w)*uint64(d.bits())+7)/8) }

func grow(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n, n+n/4)
	}
	return b[:n]
}

// idat reads the bytes of a file's image data, which may be in several chunks.
type idat struct {
	rest []byte // after the chunk
	left []byte // of the chunk
}

// Read implements io.Reader.
func (d *idat) Read(b []byte) (int, error) {
	for len(d.left) == 0 {
		c, rest, err := chunkOf(d.rest)
		switch {
		case err != nil:
			return 0, err
		case string(c.name) != "IDAT":
			return 0, io.EOF
		case !c.intact():
			return 0, fmt.Errorf("%w: that of a chunk of image data", errChecksum)
		}
		d.left, d.rest = c.body, rest
	}
	n := copy(b, d.left)
	d.left = d.left[n:]
	return n, nil
}
