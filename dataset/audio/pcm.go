package audio

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/files"
)

// An encoding is how values stand in a file.
type encoding struct {
	name   string // FFmpeg's
	size   int    // of a value in bytes
	decode func(dst []float32, src []byte)
}

// encodings are all that there are. Integers of b bits are divided by 2^(b-1), as in libsndfile, and the values of
// A-law and µ-law are integers of 16 bits (ITU-T G.711).
var encodings = []encoding{
	{"u8", 1, func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = float32(int(src[i])-128) * (1. / (1 << 7))
		}
	}},
	{"s8", 1, func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = float32(int8(src[i])) * (1. / (1 << 7))
		}
	}},
	{"s16le", 2, func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = float32(int16(binary.LittleEndian.Uint16(src[2*i:]))) * (1. / (1 << 15))
		}
	}},
	{"s16be", 2, func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = float32(int16(binary.BigEndian.Uint16(src[2*i:]))) * (1. / (1 << 15))
		}
	}},
	{"s24le", 3, func(dst []float32, src []byte) {
		for i := range dst {
			b := src[3*i : 3*i+3]
			dst[i] = float32(int32(b[0])<<8|int32(b[1])<<16|int32(b[2])<<24) * (1. / (1 << 31))
		}
	}},
	{"s24be", 3, func(dst []float32, src []byte) {
		for i := range dst {
			b := src[3*i : 3*i+3]
			dst[i] = float32(int32(b[2])<<8|int32(b[1])<<16|int32(b[0])<<24) * (1. / (1 << 31))
		}
	}},
	{"s32le", 4, func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = float32(int32(binary.LittleEndian.Uint32(src[4*i:]))) * (1. / (1 << 31))
		}
	}},
	{"s32be", 4, func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = float32(int32(binary.BigEndian.Uint32(src[4*i:]))) * (1. / (1 << 31))
		}
	}},
	{"f32le", 4, func(dst []float32, src []byte) {
		if copy(dense.Bytes(dst), src); !bulk.LittleEndian() {
			bulk.Swap(dense.Bytes(dst), 4)
		}
	}},
	{"f32be", 4, func(dst []float32, src []byte) {
		if copy(dense.Bytes(dst), src); bulk.LittleEndian() {
			bulk.Swap(dense.Bytes(dst), 4)
		}
	}},
	{"f64le", 8, func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:])))
		}
	}},
	{"f64be", 8, func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = float32(math.Float64frombits(binary.BigEndian.Uint64(src[8*i:])))
		}
	}},
	{"alaw", 1, func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = aLaw(src[i])
		}
	}},
	{"mulaw", 1, func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = muLaw(src[i])
		}
	}},
}

// aLaw is the value of a byte: a sign, a segment of three bits and a step of four, every other bit inverted.
func aLaw(b byte) float32 {
	b ^= 0x55
	segment, x := b>>4&7, int(b&15)<<4+8
	if segment > 0 {
		x = (x + 0x100) << (segment - 1)
	}
	if b&0x80 == 0 {
		x = -x
	}
	return float32(x) * (1. / (1 << 15))
}

// muLaw is the value of a byte: a sign, a segment of three bits and a step of four, all inverted.
func muLaw(b byte) float32 {
	const bias = 0x84
	b = ^b
	x := (int(b&15)<<3+bias)<<(b>>4&7) - bias
	if b&0x80 != 0 {
		x = -x
	}
	return float32(x) * (1. / (1 << 15))
}

// encodingOf is the encoding of that name, or nil.
func encodingOf(name string) *encoding {
	for i := range encodings {
		if encodings[i].name == name {
			return &encodings[i]
		}
	}
	return nil
}

func encodingNames() string {
	names := make([]string, len(encodings))
	for i, e := range encodings {
		names[i] = e.name
	}
	return strings.Join(names, ", ")
}

// raw is what [Raw] says of all files.
type raw struct {
	enc  *encoding
	info Info
}

// pcm reads values that are not compressed: raw ones, and those of WAV files.
type pcm struct {
	raw    *raw // nil in WAV files
	file   io.ReaderAt
	size   int64 // of the file in bytes
	enc    *encoding
	info   Info
	data   int64 // offset of the first frame
	blocks []byte
}

// Open of a raw file only divides.
func (p *pcm) Open(file io.ReaderAt, size int64) (Info, error) {
	p.file, p.size, p.enc, p.info, p.data = file, size, p.raw.enc, p.raw.info, 0
	frame := int64(p.enc.size * p.info.Channels)
	if size%frame != 0 {
		return Info{}, fmt.Errorf("%d bytes: want a multiple of %d, a frame of %s with %s", size, frame, channels(p.info.Channels), p.enc.name)
	}
	p.info.Frames = size / frame
	return p.info, nil
}

// blockBytes is how many bytes are read at a time.
const blockBytes = 1 << 16

// Read reads blocks, and decodes them.
func (p *pcm) Read(dst []float32, from int64) error {
	size := p.enc.size
	off := p.data + from*int64(size*p.info.Channels)
	p.blocks = slices.Grow(p.blocks[:0], min(len(dst)*size, blockBytes))
	for len(dst) > 0 {
		n := min(len(dst), blockBytes/size)
		block := p.blocks[:n*size]
		if err := files.FillWithin(p.file, p.size, block, off); err != nil {
			return err
		}
		p.enc.decode(dst[:n], block)
		dst, off = dst[n:], off+int64(n*size)
	}
	return nil
}
