package tiff

import (
	"encoding/binary"
	"fmt"
	"image"
	"math"

	"github.com/penstock-go/penstock/dataset"
)

// readSamples reads the layout of samples. What they become follows the table of
// Pillow's TiffImagePlugin.
func (p *storedImage) readSamples(d *directory, separate bool) error {
	bits, err := d.uints(bitsPerSample)
	if err != nil {
		return err
	}
	formats, err := d.uints(sampleFormat)
	if err != nil {
		return err
	}
	extra, err := d.uints(extraSamples)
	if err != nil {
		return err
	}
	if p.samples, err = d.uint(samplesPerPixel, 1); err != nil {
		return err
	}
	if p.asStored = p.asStored && p.settleStored(bits, formats); p.asStored {
		p.planes = separate && p.samples > 1
		return nil
	}
	s := sampling{
		storedImage: p,
		bits:        bits.ints(&p.rooms[0]),
		extra:       extra.ints(&p.rooms[1]),
		format:      1,
	}
	if f := formats.ints(&p.rooms[2]); len(f) > 0 {
		if s.format = f[0]; !alike(f, s.format) {
			return unsupported("sample formats %v", f)
		}
	}
	if len(s.bits) == 0 {
		s.bits = append(s.bits, 1)
	}
	p.bands = p.samples
	if separate && len(s.extra) > 0 && alike(s.extra, 0) { // planes without a meaning
		p.bands -= len(s.extra)
		s.extra = nil
	}
	if p.bands < 1 || p.samples > 6 {
		return unsupported("%d samples per pixel", p.samples)
	}
	p.planes = separate && p.samples > 1
	for len(s.bits) < p.bands && alike(s.bits, s.bits[0]) {
		s.bits = append(s.bits, s.bits[0])
	}
	s.bits = s.bits[:min(len(s.bits), p.bands)]
	p.bits = s.bits[0]
	if p.photometric == separated {
		return unsupported("colours of inks (CMYK)")
	}
	if p.photometric == ycbcrPhoto && p.compression != newJPEG {
		return unsupported("YCbCr without JPEG compression")
	}
	if !alike(s.bits, p.bits) || len(s.bits) < p.bands || !s.settle() {
		return unsupported("photometric interpretation %d, %d samples of %v bits, extra samples %v, sample format %d, byte order %v",
			p.photometric, p.samples, s.bits, s.extra, s.format, d.order)
	}
	// To libtiff, a sample that the file does not describe has no meaning. Pillow
	// takes such a sample for alpha, and the others for premultiplied, if it decompresses planes.
	p.alpha = p.alpha || p.planes && p.compression != none && p.photometric == rgb && p.bands == 4 && len(s.extra) == 0
	if p.planes && p.bands > 1 && p.bits < 8 {
		return unsupported("planes of %d bits per sample", p.bits)
	}
	return nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A sampling holds the fields that decide the image's kind.
type sampling struct {
	*storedImage
	bits, extra []int
	format      int // 1 unsigned, 2 signed, 3 floating point
}

// settle sets the kind, and reports whether Pillow reads such samples.
func (s *sampling) settle() bool {
	p := s.storedImage
	bits := p.bits
	plain := s.format == 1
	switch p.photometric {
	case whiteIsZero, blackIsZero:
		if len(s.bits) == 2 {
			p.kind = gray8
			return plain && p.photometric == blackIsZero && bits == 8 && len(s.extra) == 1 && s.extra[0] == 2
		}
		return len(s.bits) == 1 && len(s.extra) == 0 && s.settleGray(plain)
	case rgb:
		return s.settleColours()
	case paletted:
		p.kind = indices
		switch {
		case len(s.bits) == 1 && len(s.extra) == 0:
			return plain && (bits == 1 || bits == 2 || bits == 4 || bits == 8)
		case len(s.bits) == 2 && len(s.extra) == 1:
			return plain && bits == 8 && (s.extra[0] == 0 || s.extra[0] == 2)
		}
	case ycbcrPhoto:
		p.kind = colours8 // the JPEG decoder converts to RGB
		return plain && bits == 8 && len(s.extra) == 0 && len(s.bits) == 3
	}
	return false
}

// settleGray is settle for a single sample. Grey of more than 8 bits is not inverted,
// as in Pillow.
func (s *sampling) settleGray(plain bool) bool {
	p := s.storedImage
	black := p.photometric == blackIsZero
	p.invert = !black
	switch p.bits {
	case 1, 2, 4:
		p.kind = indices
		return plain
	case 8:
		p.kind = gray8
		return plain || s.format == 2 && black
	case 16:
		p.kind = gray16
		if s.format == 2 {
			p.kind = signed16
			return black
		}
		return s.format == 1 && (black || !p.high)
	case 32:
		p.kind = signed32
		switch s.format {
		case 1:
			return black && !p.high
		case 2:
			return black
		case 3:
			p.kind = float32s
			return true
		}
	}
	return false
}

// settleColours is settle for red, green and blue, which may have other samples after
// them.
func (s *sampling) settleColours() bool {
	p := s.storedImage
	more := len(s.bits) - 3
	p.kind = colours8
	if p.bits == 16 {
		p.kind = colours16
	}
	switch {
	case s.format != 1 || p.bits != 8 && p.bits != 16:
		return false
	case more == 0 && len(s.extra) == 0:
		return true
	case more < 1 || more > 1 && p.bits == 16:
		return false
	case more == 1 && len(s.extra) == 0:
		return true
	case len(s.extra) != more || !alike(s.extra[1:], 0):
		return false
	}
	p.alpha = s.extra[0] == 1
	return s.extra[0] <= 2
}

// convert writes len(dst)/4 pixels of a row of interleaved samples, from pixel x on.
// Source: Pillow's Unpack.c and Convert.c.
func (d *Decoder) convert(dst, src []byte, x int) {
	p := &d.stored
	step := p.samples
	if p.planes {
		step = p.bands
	}
	switch p.kind {
	case indices:
		d.convertIndices(dst, src, x, step)
	case gray8:
		convertGray(dst, src[x*step:], step, p.invert)
	case colours8:
		convertColours(dst, src[x*step:], step, 1, 0, p.alpha)
	case colours16:
		convertColours(dst, src[2*x*step:], 2*step, 2, btoi(!p.high), p.alpha)
	default:
		for i := 0; i < len(dst); i += 4 {
			v := p.level(src, x)
			put(dst[i:], [3]uint8{v, v, v})
			x++
		}
	}
}

// level is the x-th sample of a row with more than 8 bits per sample, limited to the
// range 0 to 255.
func (p *storedImage) level(src []byte, x int) uint8 {
	order := binary.ByteOrder(binary.LittleEndian)
	if p.high {
		order = binary.BigEndian
	}
	switch p.kind {
	case gray16:
		return cut(int32(order.Uint16(src[2*x:])))
	case signed16:
		return cut(int32(int16(order.Uint16(src[2*x:]))))
	case signed32:
		return cut(int32(order.Uint32(src[4*x:])))
	}
	switch v := math.Float32frombits(order.Uint32(src[4*x:])); {
	case v >= 255:
		return 255
	case v > 0:
		return uint8(v)
	}
	return 0 // for NaN too
}

func cut(v int32) uint8 { return uint8(min(max(v, 0), 255)) }

// convertIndices is convert for indices. Those of 8 bits are step bytes apart.
func (d *Decoder) convertIndices(dst, src []byte, x, step int) {
	b := d.stored.bits
	if b == 8 {
		src = src[x*step:]
		for i := 0; i < len(dst); i += 4 {
			put(dst[i:], d.palette[src[i/4*step]])
		}
		return
	}
	each, mask := 8/b, byte(1<<b-1)
	for len(dst) > 0 {
		put(dst, d.palette[src[x/each]>>(8-b-x%each*b)&mask])
		dst = dst[4:]
		x++
	}
}

func convertGray(dst, src []byte, step int, invert bool) {
	var flip uint8
	if invert {
		flip = 255
	}
	for i := 0; i < len(dst); i += 4 {
		v := src[i/4*step] ^ flip
		put(dst[i:], [3]uint8{v, v, v})
	}
}

// convertColours is convert for colours. Samples have size bytes, and the highest is
// byte high of each.
func convertColours(dst, src []byte, step, size, high int, alpha bool) {
	switch {
	case step == 3:
		convertThree(dst, src)
	case step == 4 && size == 1:
		convertFour(dst, src, alpha)
	case alpha:
		for i := 0; i < len(dst); i += 4 {
			at := i/4*step + high
			a := int(src[at+3*size])
			put(dst[i:], [3]uint8{divide(src[at], a), divide(src[at+size], a), divide(src[at+2*size], a)})
		}
	default:
		for i := 0; i < len(dst); i += 4 {
			at := i/4*step + high
			put(dst[i:], [3]uint8{src[at], src[at+size], src[at+2*size]})
		}
	}
}

const opaque = 255 << 24

func convertThree(dst, src []byte) {
	src = src[:len(dst)/4*3]
	for ; len(src) > 3 && len(dst) > 4; dst, src = dst[4:], src[3:] {
		binary.LittleEndian.PutUint32(dst, binary.LittleEndian.Uint32(src)|opaque)
	}
	put(dst, [3]uint8(src))
}

func convertFour(dst, src []byte, alpha bool) {
	src = src[:len(dst)]
	for i := 0; i+4 <= len(dst) && i+4 <= len(src); i += 4 {
		v := binary.LittleEndian.Uint32(src[i:])
		if a := int(v >> 24); alpha && a != 255 {
			put(dst[i:], [3]uint8{divide(uint8(v), a), divide(uint8(v>>8), a), divide(uint8(v>>16), a)})
			continue
		}
		binary.LittleEndian.PutUint32(dst[i:], v|opaque)
	}
}

// divide divides a premultiplied sample by alpha.
func divide(v uint8, alpha int) uint8 {
	if alpha == 0 {
		return 0
	}
	return uint8(min(255, int(v)*255/alpha))
}

func put(dst []byte, c [3]uint8) {
	_ = dst[3]
	dst[0], dst[1], dst[2], dst[3] = c[0], c[1], c[2], 255
}

// predict reverses the predictor in a chunk of one plane. Sources: TIFF 6.0, section
// 14, and TIFF Technical Note 3 for floating point.
func (d *Decoder) predict(chunk []byte) {
	p := &d.stored
	if p.predictor == 1 {
		return
	}
	step := p.samples
	if p.planes {
		step = 1
	}
	n := p.rowBytes()
	if p.predictor == 3 {
		d.row = grow(d.row, n)
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if p.high {
		order = binary.BigEndian
	}
	for row := chunk; len(row) >= n; row = row[n:] {
		switch {
		case p.predictor == 3:
			d.predictFloats(row[:n], step)
		case p.bits == 8:
			sumBytes(row[:n], step)
		case p.bits == 16:
			for i := 2 * step; i < n-1; i += 2 {
				order.PutUint16(row[i:], order.Uint16(row[i:])+order.Uint16(row[i-2*step:]))
			}
		default:
			for i := 4 * step; i < n-3; i += 4 {
				order.PutUint32(row[i:], order.Uint32(row[i:])+order.Uint32(row[i-4*step:]))
			}
		}
	}
}

func sumBytes(row []byte, step int) {
	for i := step; i < len(row); i++ {
		row[i] += row[i-step]
	}
}

// predictFloats is predict for a row of floats. The row has the highest bytes of all
// numbers first, then their second bytes, and so on, and each byte is a difference to
// an earlier one. The result has the file's order of bytes.
func (d *Decoder) predictFloats(row []byte, step int) {
	sumBytes(row, step)
	copy(d.row, row)
	n := len(row) / 4
	for i := range n {
		for b := range 4 {
			at := 4*i + 3 - b
			if d.stored.high {
				at = 4*i + b
			}
			row[at] = d.row[b*n+i]
		}
	}
}

// mostStored is the limit of samples per pixel.
const mostStored = 4096

// settleStored sets the layout of samples that DecodeSamples returns, and reports whether
// it does. Their meaning does not matter: grey is not inverted, and alpha is a sample like
// any other.
func (p *storedImage) settleStored(bits, formats values) bool {
	switch p.photometric {
	case whiteIsZero, blackIsZero, rgb, separated:
	default:
		return false
	}
	switch p.compression {
	case none, packBits, lzwCodes, deflate, pixarDeflate, added:
	default:
		return false
	}
	if p.samples < 1 || p.samples > mostStored || bits.len() == 0 || bits.len() > 1 && bits.len() < p.samples {
		return false
	}
	p.bits = int(min(bits.uint(0), 64))
	for i := range bits.len() {
		if bits.uint(i) != uint64(p.bits) {
			return false
		}
	}
	format := uint64(1)
	for i := range formats.len() {
		if i == 0 {
			format = formats.uint(0)
		}
		if formats.uint(i) != format {
			return false
		}
	}
	p.bands = p.samples
	const unsigned, signed, float = 1, 2, 3
	switch {
	case p.bits == 8 && format == unsigned:
		p.kind = gray8
	case p.bits == 16 && format == unsigned:
		p.kind = gray16
	case p.bits == 16 && format == signed:
		p.kind = signed16
	case p.bits == 32 && format == float:
		p.kind = float32s
	default:
		return false
	}
	return true
}

// StoredSamples is the number of samples per pixel of the file whose header was read, and
// their dtype: uint16, int16 or float32. It is for a Decoder with Stored. Ok is false if
// DecodeSamples does not read the file: palettes, YCbCr, JPEG and fax compression, and samples
// of other than 8, 16 and 32 bits. Then Decode reads it, if Pillow does.
func (d *Decoder) StoredSamples() (n int, dtype dataset.Dtype, ok bool) {
	p := &d.stored
	switch p.kind {
	case signed16:
		dtype = dataset.Int16
	case float32s:
		dtype = dataset.Float32
	default:
		dtype = dataset.Uint16
	}
	return p.samples, dtype, p.asStored
}

// DecodeSamples writes the window, which is the whole image or a part of it, one plane after
// the other without gaps. Samples of 8 bits are multiplied by 257, all others are as they
// are stored. It is for files for which StoredSamples says that it can. Otherwise it is like
// Decode.
func (d *Decoder) DecodeSamples(dst []float32, window image.Rectangle) error {
	if d.data == nil || !d.stored.asStored {
		return errNoHeader
	}
	o := orientation(d.stored.orientation)
	w, h := o.size(d.stored.w, d.stored.h)
	switch {
	case !window.In(image.Rect(0, 0, w, h)):
		return fmt.Errorf("tiff: decode: window %v exceeds the image's %d×%d", window, w, h)
	case window.Empty():
		return nil
	case len(dst) != d.stored.samples*window.Dx()*window.Dy():
		return errRoom
	}
	to := o.target(1, window.Dx(), window, w, h)
	return d.chunks(&to, dst)
}

// storedChunk is decodeChunk for samples as they are stored.
func (d *Decoder) storedChunk(dst []float32, to *target, i int, at image.Point) error {
	p := &d.stored
	part := image.Rect(0, 0, p.chunkW, p.rows(i)).Add(at).Intersect(to.window)
	chunk, err := d.samplesOf(i)
	if err != nil {
		return err
	}
	size, n := p.bits/8, p.rowBytes()
	step, next := p.samples*size, size // from a pixel to the next, and from a sample to the next
	if p.planes {
		step, next = size, p.chunkBytes(i)
	}
	area := len(dst) / p.samples
	for c := range p.samples {
		plane := dst[c*area:][:area]
		for y := part.Min.Y; y < part.Max.Y; y++ {
			src := chunk[c*next+(y-at.Y)*n+(part.Min.X-at.X)*step:]
			p.storedRow(plane, to.offset(part.Min.X, y), to.right, src, step, part.Dx())
		}
	}
	return nil
}

// storedRow writes n samples, which are step bytes apart in src, to dst[at], dst[at+right]
// and so on.
func (p *storedImage) storedRow(dst []float32, at, right int, src []byte, step, n int) {
	low, high := 0, 1
	if p.high {
		low, high = 1, 0
	}
	for range n {
		var v float32
		switch p.kind {
		case gray8:
			v = float32(257 * int(src[0]))
		case gray16:
			v = float32(uint16(src[low]) | uint16(src[high])<<8)
		case signed16:
			v = float32(int16(uint16(src[low]) | uint16(src[high])<<8))
		default:
			if p.high {
				v = math.Float32frombits(binary.BigEndian.Uint32(src))
			} else {
				v = math.Float32frombits(binary.LittleEndian.Uint32(src))
			}
		}
		dst[at] = v
		at += right
		src = src[min(step, len(src)):]
	}
}

// GreyBits is 8 or 16 if DecodeSamples reads the file whose header was read, and it has one
// unsigned sample of that many bits per pixel, in which 0 is black. Otherwise it is 0.
func (d *Decoder) GreyBits() int {
	p := &d.stored
	if !p.asStored || p.samples != 1 || p.photometric != blackIsZero || p.kind != gray8 && p.kind != gray16 {
		return 0
	}
	return p.bits
}
