package parquet

import (
	"encoding/binary"
	"errors"
	"io"
)

var errRuns = errors.New("the runs of levels or indices are damaged")

// hybrid reads numbers of up to 32 bits, in runs: of one number, or of packed ones. These
// are levels, indices of dictionaries and bools.
//
// Source: https://parquet.apache.org/docs/file-format/data-pages/encodings/#RLE.
type hybrid struct {
	data  []byte
	width int // bits

	same   uint64 // numbers left of a run of value
	value  uint32
	packed []byte // the run that is read, if it is packed
	bit    int    // of packed
	count  uint64 // numbers left of it
}

func (h *hybrid) next() (uint32, error) {
	for h.same == 0 && h.count == 0 {
		if err := h.run(); err != nil {
			return 0, err
		}
	}
	if h.same > 0 {
		h.same--
		return h.value, nil
	}
	h.count--
	v, ok := unpack(h.packed, h.bit, h.width)
	if !ok {
		return 0, errRuns
	}
	h.bit += h.width
	return uint32(v), nil
}

// run begins the next run.
func (h *hybrid) run() error {
	if len(h.data) == 0 {
		return io.ErrUnexpectedEOF
	}
	head, n := binary.Uvarint(h.data)
	if n <= 0 {
		return errRuns
	}
	h.data = h.data[n:]
	if head&1 == 0 {
		size := (h.width + 7) / 8
		if len(h.data) < size {
			return io.ErrUnexpectedEOF
		}
		h.value = 0
		for k := range size {
			h.value |= uint32(h.data[k]) << (8 * k)
		}
		h.same, h.data = head>>1, h.data[size:]
		return nil
	}
	// The last run may be cut short: it has groups of eight numbers, but may need fewer.
	h.count, h.bit = head>>1*8, 0
	if head>>1 > 1<<40 {
		return errRuns
	}
	size := min(head>>1*uint64(h.width), uint64(len(h.data)))
	h.packed, h.data = h.data[:size], h.data[size:]
	return nil
}

// unpack reads width bits, at most 64, from a bit of data on, the lowest bit first.
func unpack(data []byte, bit, width int) (uint64, bool) {
	if width > len(data)*8-bit {
		return 0, false
	}
	at, shift := bit/8, bit%8
	if len(data)-at >= 8 && shift+width <= 64 {
		return binary.LittleEndian.Uint64(data[at:]) >> shift & (1<<width - 1), true
	}
	var v uint64
	for k := 0; k < width; {
		n := min(8-shift, width-k)
		v |= uint64(data[at]>>shift&(1<<n-1)) << k
		at, shift, k = at+1, 0, k+n
	}
	return v, true
}
