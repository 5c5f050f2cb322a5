package nifti

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/bulk"
)

const (
	size1 = 348 // bytes of a NIfTI-1 header, the value of its first field
	size2 = 540 // bytes of a NIfTI-2 header
)

// fields reads values at offsets of a header.
type fields struct {
	b     []byte
	order binary.ByteOrder
	wide  bool // NIfTI-2: numbers that may be large have 8 bytes
}

func (f fields) short(at int) int  { return int(int16(f.order.Uint16(f.b[at:]))) }
func (f fields) int(at int) int    { return int(int32(f.order.Uint32(f.b[at:]))) }
func (f fields) long(at int) int64 { return int64(f.order.Uint64(f.b[at:])) }
func (f fields) text(at, n int) string {
	text, _, _ := bytes.Cut(f.b[at:at+n], []byte{0})
	return string(text)
}

// real is element i of an array of floats.
func (f fields) real(at, i int) float64 {
	if f.wide {
		return math.Float64frombits(f.order.Uint64(f.b[at+8*i:]))
	}
	return float64(math.Float32frombits(f.order.Uint32(f.b[at+4*i:])))
}

// dim is element i of dim.
func (f fields) dim(i int) int64 {
	if f.wide {
		return f.long(16 + 8*i)
	}
	return int64(f.short(40 + 2*i))
}

// parse reads a header and its extensions.
func parse(r io.Reader, b *budget.Budget) (*Header, error) {
	var raw [size2]byte
	if n, err := io.ReadFull(r, raw[:4]); err != nil {
		return nil, fmt.Errorf("byte %d: sizeof_hdr: %w", n, bulk.Unexpected(err))
	}
	f := fields{order: binary.LittleEndian}
	size := size1
	switch binary.LittleEndian.Uint32(raw[:]) {
	case size1:
	case size2:
		size = size2
	default:
		f.order = binary.BigEndian
		switch n := binary.BigEndian.Uint32(raw[:]); n {
		case size1:
		case size2:
			size = size2
		default:
			return nil, fmt.Errorf("byte 0: sizeof_hdr: not %d or %d in either byte order: not a NIfTI header", size1, size2)
		}
	}
	if n, err := io.ReadFull(r, raw[4:size]); err != nil {
		return nil, fmt.Errorf("byte %d: the header ends after %d of %d bytes: %w", n+4, n+4, size, bulk.Unexpected(err))
	}
	f.b, f.wide = raw[:size], size == size2
	h := &Header{Version: 1, BigEndian: f.order == binary.BigEndian}
	if f.wide {
		h.Version = 2
	}
	if err := h.magic(f); err != nil {
		return nil, err
	}
	if err := h.shape(f); err != nil {
		return nil, err
	}
	if f.wide {
		h.read2(f)
	} else {
		h.read1(f)
	}
	if _, err := h.Bytes(); err != nil {
		return nil, err
	}
	return h, h.extensions(r, int64(size), b)
}

func (h *Header) magic(f fields) error {
	if f.wide {
		switch magic := string(f.b[4:12]); magic {
		case "n+2\x00\r\n\x1a\n":
		case "ni2\x00\r\n\x1a\n":
			h.pair = true
		default:
			return fmt.Errorf("byte 4: magic: %q is not NIfTI-2's", magic)
		}
		return nil
	}
	switch magic := string(f.b[344:348]); magic {
	case "n+1\x00":
	case "ni1\x00":
		h.pair = true
	case "\x00\x00\x00\x00":
		return errors.New("byte 344: magic: an Analyze 7.5 file, not NIfTI")
	default:
		return fmt.Errorf("byte 344: magic: %q is not NIfTI-1's", magic)
	}
	return nil
}

// shape reads dim, datatype, bitpix and vox_offset, which give the size and offset of the data.
func (h *Header) shape(f fields) error {
	at, step, offset := 40, 2, f.real(108, 0)
	h.Datatype, h.Bitpix = Datatype(f.short(70)), f.short(72)
	if f.wide {
		at, step = 16, 8
		h.offset = f.long(168)
		h.Datatype, h.Bitpix = Datatype(f.short(12)), f.short(14)
	} else {
		if !(offset >= 0 && offset < 1<<53 && offset == math.Trunc(offset)) {
			return fmt.Errorf("byte 108: vox_offset: %g is not an offset in a file", offset)
		}
		h.offset = int64(offset)
	}
	n := f.dim(0)
	if n < 1 || n > 7 {
		return fmt.Errorf("byte %d: dim[0]: %d axes, want 1 to 7", at, n)
	}
	h.Dim = make([]int, n)
	for i := range h.Dim {
		v := f.dim(i + 1)
		if v < 1 || v > math.MaxInt {
			return fmt.Errorf("byte %d: dim[%d]: %d samples, want 1 to %d", at+step*(i+1), i+1, v, math.MaxInt)
		}
		h.Dim[i] = int(v)
	}
	dtype, parts, name := h.Datatype.element()
	if parts == 0 {
		return fmt.Errorf("datatype: %d (%s) is not supported", int(h.Datatype), name)
	}
	if want := 8 * parts * dtype.Size(); h.Bitpix != 0 && h.Bitpix != want {
		return fmt.Errorf("bitpix: %d, but datatype %s has %d", h.Bitpix, name, want)
	}
	least := int64(len(f.b) + 4)
	switch {
	case h.pair && h.offset < 0:
		return fmt.Errorf("vox_offset: %d is not an offset in a file", h.offset)
	case !h.pair && h.offset == 0:
		h.offset = least
	case !h.pair && h.offset < least:
		return fmt.Errorf("vox_offset: %d is in the header, want at least %d", h.offset, least)
	}
	return nil
}

func (h *Header) read1(f fields) {
	h.dimInfo(f.b[39])
	h.IntentCode, h.IntentName = f.short(68), f.text(328, 16)
	h.SliceStart, h.SliceEnd, h.SliceCode = f.short(74), f.short(120), int(f.b[122])
	h.SclSlope, h.SclInter = f.real(112, 0), f.real(116, 0)
	h.CalMax, h.CalMin = f.real(124, 0), f.real(128, 0)
	h.SliceDuration, h.Toffset = f.real(132, 0), f.real(136, 0)
	h.units(int(f.b[123]))
	h.Descrip, h.AuxFile = f.text(148, 80), f.text(228, 24)
	h.QformCode, h.SformCode = f.short(252), f.short(254)
	h.reals(f, 56, 76, 256, 268, 280)
}

func (h *Header) read2(f fields) {
	h.dimInfo(f.b[524])
	h.IntentCode, h.IntentName = f.int(504), f.text(508, 16)
	h.SliceStart, h.SliceEnd, h.SliceCode = int(f.long(224)), int(f.long(232)), f.int(496)
	h.SclSlope, h.SclInter = f.real(176, 0), f.real(184, 0)
	h.CalMax, h.CalMin = f.real(192, 0), f.real(200, 0)
	h.SliceDuration, h.Toffset = f.real(208, 0), f.real(216, 0)
	h.units(f.int(500))
	h.Descrip, h.AuxFile = f.text(240, 80), f.text(320, 24)
	h.QformCode, h.SformCode = f.int(344), f.int(348)
	h.reals(f, 80, 104, 352, 376, 400)
}

// reals reads the arrays that both versions have, at their offsets.
func (h *Header) reals(f fields, intent, pixdim, quatern, qoffset, srow int) {
	h.Qfac = 1
	if f.real(pixdim, 0) < 0 {
		h.Qfac = -1
	}
	for i := range h.Pixdim {
		h.Pixdim[i] = f.real(pixdim, i+1)
	}
	for i := range 3 {
		h.IntentP[i], h.Quatern[i], h.Qoffset[i] = f.real(intent, i), f.real(quatern, i), f.real(qoffset, i)
		for j := range 4 {
			h.Srow[i][j] = f.real(srow, 4*i+j)
		}
	}
}

func (h *Header) dimInfo(b byte) {
	h.FreqDim, h.PhaseDim, h.SliceDim = int(b&3), int(b>>2&3), int(b>>4&3)
}

func (h *Header) units(xyzt int) {
	h.Units = xyzt
	h.XYZUnit = []string{"", "m", "mm", "um", "", "", "", ""}[xyzt&7]
	h.TimeUnit = []string{"", "s", "ms", "us", "Hz", "ppm", "rad/s", ""}[xyzt>>3&7]
}

// extensions reads the bytes between a header of size bytes and the data, or the end of a pair's header file.
func (h *Header) extensions(r io.Reader, size int64, b *budget.Budget) error {
	var flag [4]byte
	if n, err := io.ReadFull(r, flag[:]); err != nil {
		if n == 0 && err == io.EOF && h.pair {
			return nil
		}
		return fmt.Errorf("byte %d: extension: %w", size+int64(n), bulk.Unexpected(err))
	}
	end := size + 4
	if flag[0] == 0 {
		return nil
	}
	all, err := h.extended(r, end, b)
	if err != nil {
		return fmt.Errorf("byte %d: extensions: %w", end+int64(len(all)), err)
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if h.BigEndian {
		order = binary.BigEndian
	}
	used := len(bytes.TrimRight(all, "\x00")) // the rest is padding
	for at := 0; at < used; {
		rest, offset := all[at:], end+int64(at)
		if len(rest) < 8 {
			return fmt.Errorf("byte %d: extension: %d bytes are too few for one", offset, len(rest))
		}
		esize := int64(int32(order.Uint32(rest)))
		if esize < 8 || esize > int64(len(rest)) {
			return fmt.Errorf("byte %d: extension: esize %d, want 8 to %d", offset, esize, len(rest))
		}
		if err := b.Memory(extensionSize); err != nil {
			return fmt.Errorf("byte %d: extension: %w", offset, err)
		}
		h.Extensions = append(h.Extensions, Extension{int(int32(order.Uint32(rest[4:]))), rest[8:esize:esize]})
		at += int(esize)
	}
	return nil
}

const extensionSize = 160 // bytes of an Extension, with the slices that were too short for it

// extended reads the bytes of all extensions. Those of a pair end with the file.
func (h *Header) extended(r io.Reader, end int64, b *budget.Budget) ([]byte, error) {
	if !h.pair {
		n := h.offset - end
		for range 2 { // the memory doubles while it is filled
			if err := b.Memory(n); err != nil {
				return nil, err
			}
		}
		all := bulk.Growing(n, 0)
		_, err := all.Fill(r, n)
		return all.Bytes(), err
	}
	var all []byte
	for {
		more := max(len(all), 512)
		if err := b.Memory(int64(more)); err != nil {
			return all, err
		}
		all = slices.Grow(all, more)
		n, err := io.ReadFull(r, all[len(all):cap(all)])
		all = all[:len(all)+n]
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
	}
}
