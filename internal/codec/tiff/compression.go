package tiff

import (
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// A compression is a value of the field Compression.
type compression int

const (
	none         compression = 1
	faxRows      compression = 2
	fax3         compression = 3
	fax4         compression = 4
	lzwCodes     compression = 5
	oldJPEG      compression = 6
	newJPEG      compression = 7
	deflate      compression = 8
	faxWords     compression = 32771
	packBits     compression = 32773
	pixarDeflate compression = 32946
	added        compression = -1 // that of a Codec
)

// A Codec adds a compression, or takes the place of one.
type Codec struct {
	Code int // the value of the field Compression
	// Decompress fills dst with the samples of a strip or tile, from its bytes. It ignores bytes after
	// these. It gets at most 32 KiB for every byte of src.
	Decompress func(dst, src []byte) error
}

// names are the names of compressions that are not read.
var names = map[compression]string{
	oldJPEG: "old-style JPEG",
	9:       "JBIG", 10: "JBIG",
	32766: "NeXT runs", 32809: "ThunderScan", 32895: "IT8 CT", 32896: "IT8 LW", 32897: "IT8 MP", 32898: "IT8 BL",
	32908: "Pixar film", 32909: "Pixar log", 32947: "Kodak DCS", 34661: "JBIG", 34676: "SGI log", 34677: "SGI log of 24 bits",
	34712: "JPEG 2000", 34887: "LERC", 34892: "lossy JPEG of DNG", 34925: "LZMA",
	50000: "zstd; package transform/zstd adds it", 50001: "WebP", 50002: "JPEG XL", 52546: "JPEG XL",
}

// check is the error of a compression that is not read.
func (c compression) check() error {
	switch c {
	case none, packBits, lzwCodes, deflate, pixarDeflate, faxRows, fax3, fax4, faxWords, newJPEG, added:
		return nil
	}
	name := names[c]
	if name == "" {
		name = "unknown"
	}
	return unsupported("compression %d (%s)", int(c), name)
}

// read reads the fields that belong to a compression.
func (c compression) read(p *storedImage, d *directory) error {
	switch c {
	case none, packBits:
		p.predictor = 1
	case lzwCodes, deflate, pixarDeflate, added:
		if err := p.checkPredictor(); err != nil {
			return err
		}
	case faxRows, fax3, fax4, faxWords:
		p.predictor = 1
		if p.bits != 1 || p.samples != 1 {
			return unsupported("compression %d (fax) of %d samples of %d bits", c, p.samples, p.bits)
		}
		options, err := d.uint(t4Options, 0)
		if err != nil {
			return err
		}
		p.fax = faxMode{scheme: c, twoRows: options&1 != 0}
	case newJPEG:
		p.predictor = 1
		if p.bits != 8 {
			return unsupported("JPEG of %d bits per sample", p.bits)
		}
		tables, err := d.field(jpegTables)
		if err != nil {
			return err
		}
		p.tables = tables.data
		if p.kind == lumaChroma {
			if p.planes {
				return unsupported("JPEG of YCbCr in planes")
			}
			p.kind = colours8 // the JPEG decoder converts to RGB
			p.photometric = ycbcrPhoto
		}
	}
	if p.kind != lumaChroma {
		p.subH, p.subV = 1, 1
		return nil
	}
	if p.planes {
		return unsupported("YCbCr in planes")
	}
	return p.readSubsampling(d)
}

// readSubsampling reads how many pixels share their chroma.
func (p *storedImage) readSubsampling(d *directory) error {
	v, err := d.uints(ycbcrSubsampling)
	if err != nil {
		return err
	}
	p.subH, p.subV = 2, 2
	if s := v.ints(&p.rooms[3]); len(s) > 1 {
		p.subH, p.subV = s[0], s[1]
	}
	switch [2]int{p.subH, p.subV} {
	case [2]int{1, 1}, [2]int{1, 2}, [2]int{2, 1}, [2]int{2, 2}, [2]int{4, 1}, [2]int{4, 2}, [2]int{4, 4}:
	default:
		return unsupported("chroma shared by %d×%d pixels", p.subH, p.subV)
	}
	if p.subV == 4 && p.tiled && p.w%p.chunkW != 0 {
		return unsupported("tiles that extend beyond the image and share chroma by 4×4 pixels (libtiff misreads them)")
	}
	if p.chunkH%p.subV != 0 && p.down > 1 {
		return unsupported("strips of %d rows of which %d share their chroma", p.chunkH, p.subV)
	}
	if p.predictor != 1 && p.subH*p.subV > 1 {
		return unsupported("predictor %d and shared chroma", p.predictor)
	}
	return nil
}

func (p *storedImage) checkPredictor() error {
	switch {
	case p.predictor == 1:
	case p.predictor == 2 && (p.bits == 8 || p.bits == 16 || p.bits == 32):
	case p.predictor == 3 && p.kind == float32s:
	default:
		return unsupported("predictor %d of samples of %d bits", p.predictor, p.bits)
	}
	return nil
}

// most is an upper limit of the bytes of samples in n compressed bytes. An LZW code has
// at least 9 bits and gives at most 4094 bytes. Deflate needs two bits for 258 bytes,
// and zstd, which may be added, a block of 4 bytes for 128 KiB. A row of a fax may take one bit, and so
// may a block of 64 samples in JPEG.
func (c compression) most(p *storedImage, n int) int64 {
	size := int64(n)
	switch c {
	case none:
		return size
	case faxRows, fax3, fax4, faxWords:
		return 8 * size * p.rowSize()
	case lzwCodes:
		return size*8/9*4094 + 4094
	case newJPEG:
		return 8 * size * 64 * 16
	case packBits:
		return size * 64
	case added:
		return size << 15
	}
	return size * 1032
}

var errShort = fmt.Errorf("too few bytes after decompression: %w", io.ErrUnexpectedEOF)

// decompress fills dst, a chunk of one plane.
func (d *Decoder) decompress(dst, src []byte) error {
	p := &d.stored
	if p.reversed {
		d.compressed = grow(d.compressed, len(src))
		for i, b := range src {
			d.compressed[i] = bits.Reverse8(b)
		}
		src = d.compressed
	}
	var err error
	switch p.compression {
	case packBits:
		err = unpackBits(dst, src)
	case lzwCodes:
		err = d.lzw.decode(dst, src)
	case deflate, pixarDeflate:
		err = d.inflate.decode(dst, src)
	case added:
		err = p.codec(dst, src)
	case faxRows, fax3, fax4, faxWords:
		err = d.fax.decode(dst, src, p.chunkW, p.fax)
	default:
		err = errors.ErrUnsupported
	}
	if err != nil {
		return err
	}
	d.predict(dst)
	return nil
}

// unpackBits decodes runs of bytes. Source: TIFF 6.0, section 9.
func unpackBits(dst, src []byte) error {
	for len(dst) > 0 {
		if len(src) < 2 {
			return errShort
		}
		n := int(int8(src[0]))
		src = src[1:]
		switch {
		case n == -128:
		case n < 0:
			n = min(1-n, len(dst))
			for i := range dst[:n] {
				dst[i] = src[0]
			}
			dst, src = dst[n:], src[1:]
		default:
			n = min(1+n, len(dst))
			if n > len(src) {
				return errShort
			}
			copy(dst, src[:n])
			dst, src = dst[n:], src[n:]
		}
	}
	return nil
}
