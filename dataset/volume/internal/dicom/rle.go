package dicom

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/penstock-go/penstock/internal/bulk"
)

// unpack reads the fragments of one RLE frame. It has a segment of PackBits for every byte of a value, the highest byte
// first. Source: PS3.5, Annex G.
func (p *parser) unpack(dst []byte, size int) error {
	table, err := p.head()
	if err == nil && table.tag != item {
		err = fmt.Errorf("element %v, want an item", table.tag)
	}
	if err == nil && table.length == undefined {
		err = errors.New("an item of unknown length")
	}
	if err == nil {
		err = p.pass(table.length)
	}
	if err != nil {
		return fmt.Errorf("PixelData: offset table: %w", bulk.Unexpected(err))
	}
	frame, err := p.head()
	if err == nil && (frame.tag != item || frame.length == undefined) {
		err = fmt.Errorf("element %v of %d bytes, want an item", frame.tag, frame.length)
	}
	var head [64]byte
	if err == nil {
		err = p.fill(head[:])
	}
	if err != nil {
		return fmt.Errorf("PixelData: RLE: %w", bulk.Unexpected(err))
	}
	order := binary.LittleEndian
	if n := order.Uint32(head[:]); n != uint32(size) {
		return fmt.Errorf("PixelData: RLE: %d segments, want %d", n, size)
	}
	at := uint32(len(head))
	for k := range size {
		begin, end := order.Uint32(head[4+4*k:]), frame.length
		if k+1 < size {
			end = order.Uint32(head[8+4*k:])
		}
		if begin < at || end < begin || end > frame.length {
			return fmt.Errorf("PixelData: RLE: segment %d is at bytes %d to %d of %d", k, begin, end, frame.length)
		}
		if err := p.pass(begin - at); err != nil {
			return fmt.Errorf("PixelData: RLE: %w", err)
		}
		plane := size - 1 - k // in little endian
		if !bulk.LittleEndian() {
			plane = k
		}
		segment := io.LimitReader(p.r, int64(end-begin))
		if err := packBits(dst[plane:], size, segment); err != nil {
			return fmt.Errorf("PixelData: RLE: segment %d: %w", k, err)
		}
		if _, err := io.Copy(io.Discard, segment); err != nil {
			return fmt.Errorf("PixelData: RLE: segment %d: %w", k, err)
		}
		at = end
	}
	return nil
}

// packBits fills every step-th byte of dst. Further bytes of the segment are padding.
func packBits(dst []byte, step int, r io.Reader) error {
	var b [128]byte
	for at := 0; at < len(dst); {
		if _, err := io.ReadFull(r, b[:1]); err != nil {
			return bulk.Unexpected(err)
		}
		n, repeated := int(b[0])+1, false
		switch {
		case b[0] == 128:
			continue
		case b[0] > 128:
			n, repeated = 257-int(b[0]), true
		}
		run := b[:n]
		if repeated {
			run = b[:1]
		}
		if _, err := io.ReadFull(r, run); err != nil {
			return bulk.Unexpected(err)
		}
		for k := range n {
			if at >= len(dst) {
				return errors.New("a run goes beyond the values")
			}
			if repeated {
				dst[at] = b[0]
			} else {
				dst[at] = b[k]
			}
			at += step
		}
	}
	return nil
}
