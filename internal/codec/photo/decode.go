package photo

import (
	"fmt"
	"hash/crc32"
	"image"
	"io"

	"github.com/penstock-go/penstock/internal/codec/blockcode"
	"github.com/penstock-go/penstock/internal/codec/jpeg"
	"github.com/penstock-go/penstock/internal/files"
)

// A Decoder decodes one record after the other and keeps its memory between them. It
// belongs to one goroutine at a time.
type Decoder struct {
	// JPEG computes the pixels. It must be set, and may decode files in between. Its
	// MaxPixels is the limit of an image.
	JPEG *jpeg.Decoder

	data   []byte
	parts  io.ReaderAt // reads data, or nil if all of it is there
	head   int         // bytes of data that are there
	from   int         // and so are those from here
	to     int         // to here
	header header
	starts []int // of every row of MCUs in data, and where the last one ends
	codes  blockcode.Decoder
	row    int // the row in memory, or -1
	blocks [3][]jpeg.Block
	last   [3][]uint8
}

// Header reads the header of a record. The Decoder keeps data until the next header.
func (d *Decoder) Header(data []byte) (jpeg.Config, error) {
	return d.HeaderOf(data, len(data), nil)
}

// HeaderOf is Header for a record of which only the first bytes are in data, which has
// room for all. The Decoder fills it with the parts that it needs.
func (d *Decoder) HeaderOf(data []byte, first int, parts io.ReaderAt) (jpeg.Config, error) {
	d.data, d.row = data, -1
	d.head, d.from, d.to, d.parts = first, first, first, parts
	if err := d.read(); err != nil {
		return jpeg.Config{}, fmt.Errorf("photo: %w", err)
	}
	c, err := d.JPEG.Open(d.header.frame, (*rows)(d))
	if err != nil {
		return jpeg.Config{}, fmt.Errorf("photo: %w", err)
	}
	return c, nil
}

// read reads the header and where the rows begin.
func (d *Decoder) read() error {
	h := &d.header
	if err := d.need(0, atQuant); err != nil {
		return err
	}
	if err := h.parse(d.data); err != nil {
		return err
	}
	if err := d.need(0, h.size); err != nil {
		return err
	}
	if err := h.check(d.data); err != nil {
		return err
	}
	d.starts = append(d.starts[:0], h.size)
	at := int64(h.size)
	for row := range h.rows {
		lengths, _ := h.lengths(d.data, row)
		for i, n := range lengths[:h.count] {
			if 8*n < int64(h.blocks[i]) { // a block has at least one bit
				return fmt.Errorf("MCU row %d, component %d: %d blocks in %d bytes", row, i, h.blocks[i], n)
			}
			at += n
		}
		if at > int64(len(d.data)) {
			return fmt.Errorf("record of %d bytes ends before MCU row %d does: %w", len(d.data), row, io.ErrUnexpectedEOF)
		}
		d.starts = append(d.starts, int(at))
	}
	if at < int64(len(d.data)) {
		return fmt.Errorf("record of %d bytes, want %d", len(d.data), at)
	}
	return nil
}

// need reads bytes from up to to of the record, unless they are there.
func (d *Decoder) need(from, to int) error {
	from, to = max(from, d.head), min(to, len(d.data))
	if d.parts == nil || from >= to || from >= d.from && to <= d.to {
		return nil
	}
	if err := files.ReadFull(d.parts, d.data[from:to], int64(from)); err != nil {
		return err
	}
	if from == d.head {
		d.head = to
	}
	d.from, d.to = from, to
	return nil
}

// Decode is jpeg.Decoder.Decode for the record. It reads and checks the rows of MCUs that
// the window needs, and no others.
func (d *Decoder) Decode(dst []byte, stride int, window image.Rectangle) error {
	size := image.Rect(0, 0, d.header.frame.Width, d.header.frame.Height)
	if d.parts != nil && !window.Empty() && window.In(size) {
		from, to := d.JPEG.Rows(window)
		if err := d.need(d.starts[from], d.starts[to]); err != nil {
			return err
		}
	}
	return d.JPEG.Decode(dst, stride, window)
}

// Memory is how many bytes decoding a window of the record whose header was read takes at most, beside tables and the
// window.
func (d *Decoder) Memory(window image.Rectangle) int64 {
	n := d.JPEG.Memory(window) + 8*int64(len(d.starts))
	for _, blocks := range d.header.blocks[:d.header.count] {
		n += int64(blocks) * (3*2*64 + 1) // coefficients and the last one, and values before they are in their places
	}
	return n
}

// rows is a Decoder as the source of its coefficients.
type rows Decoder

// Row decodes row y of MCUs, unless it is in memory.
func (r *rows) Row(component, y int) ([]jpeg.Block, []uint8, error) {
	d := (*Decoder)(r)
	if y != d.row {
		d.row = -1
		if err := d.decodeRow(y); err != nil {
			return nil, nil, fmt.Errorf("photo: MCU row %d at byte %d: %w", y, d.starts[y], err)
		}
		d.row = y
	}
	return d.blocks[component], d.last[component], nil
}

// decodeRow checks and decodes a row of MCUs.
func (d *Decoder) decodeRow(y int) error {
	h := &d.header
	from, to := d.starts[y], d.starts[y+1]
	lengths, want := h.lengths(d.data, y)
	if sum := crc32.Checksum(d.data[from:to], castagnoli()); sum != want {
		return fmt.Errorf("damaged: its CRC-32C is %08x, want %08x", sum, want)
	}
	for i := range h.count {
		d.blocks[i], d.last[i] = grow(d.blocks[i], h.blocks[i]), grow(d.last[i], h.blocks[i])
		to := from + int(lengths[i])
		code := d.data[from:to:min(to+blockcode.Slack, len(d.data))]
		if err := d.codes.Decode(d.blocks[i], d.last[i], h.level, code); err != nil {
			return fmt.Errorf("component %d: %w", i, err)
		}
		from = to
	}
	return nil
}

// grow returns a slice of n elements, in the memory of s if that is large enough.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
