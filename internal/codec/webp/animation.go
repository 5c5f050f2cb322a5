package webp

import (
	"errors"
	"fmt"
	"image"
	"io"

	"golang.org/x/image/vp8l"
)

// An Animation composes the frames of a file to the pixels of Pillow's seek(k) and convert("RGB"), which are those of libwebp's WebPAnimDecoder.
// The zero value is ready for use by one goroutine at a time.
//
// A frame is blended with what the one before it has left, or replaces it, also where it is transparent. The colour that a file says for the
// background is not used: the canvas is transparent black before the first frame, and where a frame is disposed of.
type Animation struct {
	// Limit is how many pixels all frames of a file may have together; 0 is none.
	Limit int64
	// Stop, if set, is called before each frame. Its error ends decoding.
	Stop func() error

	Decoder
	wanted   int
	composed int    // the frame that the canvas shows; -1 is none
	canvas   []byte // with alpha, by which colours are not multiplied
	row      []byte // of a frame
	alpha    []byte // of a lossy frame
	stream   []byte // of alpha, with a header
}

// Header reads the size of the canvas in data, a whole file, and finds all frames. The Animation keeps data until the next call.
func (a *Animation) Header(data []byte) (w, h int, err error) {
	a.composed, a.wanted = -1, 0
	if w, h, err = a.Decoder.Header(data); err != nil {
		return 0, 0, err
	}
	whole := image.Rect(0, 0, w, h)
	all := int64(0)
	for k := range a.file.frames {
		f := &a.file.frames[k]
		if err = f.dense(); err != nil {
			err = fmt.Errorf("frame %d: %w", k, err)
		}
		if all += int64(f.at.Dx()) * int64(f.at.Dy()); err == nil && a.Limit > 0 && all > a.Limit {
			err = fmt.Errorf("the frames up to number %d have %d pixels, more than the limit of %d", k, all, a.Limit)
		}
		if err != nil {
			a.file.forget()
			return 0, 0, fmt.Errorf("webp: header: %w", err)
		}
		f.key = k == 0 || f.at == whole && (f.replaces || !f.transparent)
		if !f.key {
			before := &a.file.frames[k-1]
			f.key = before.disposed && (before.key || before.at == whole)
		}
	}
	return w, h, nil
}

// Len is the number of frames.
func (a *Animation) Len() int { return len(a.file.frames) }

// Seek says that Decode is to write frame k.
func (a *Animation) Seek(k int) { a.wanted = k }

// Memory is how many bytes decoding a window takes, beside the window.
func (a *Animation) Memory(image.Rectangle) int64 {
	most := int64(0)
	for k := range a.file.frames {
		f := &a.file.frames[k]
		n := f.memory()
		if f.alpha != nil { // which is decoded while there are the samples of the frame
			w, h := int64(f.at.Dx()), int64(f.at.Dy())
			n += lossless(w, h, int64(len(f.alpha))) + w*h + int64(len(f.alpha))
		}
		most = max(most, n)
	}
	return most + 4*int64(a.file.w)*(int64(a.file.h)+1)
}

// Decode writes a window of the frame to dst, 4 bytes per pixel and stride bytes per row. What was composed before stays, if it comes before
// the frame.
func (a *Animation) Decode(dst []byte, stride int, window image.Rectangle) error {
	if err := a.fits(dst, stride, window); err != nil || window.Empty() {
		return err
	}
	if a.wanted < a.composed {
		a.composed = -1
	}
	from := a.wanted
	for from > a.composed+1 && !a.file.frames[from].key {
		from--
	}
	for k := max(from, a.composed+1); k <= a.wanted; k++ {
		if err := a.compose(k); err != nil {
			a.composed = -1
			return fmt.Errorf("webp: decode: frame %d: %w", k, err)
		}
	}
	for y := range window.Dy() {
		row := dst[y*stride:][:4*window.Dx()]
		copy(row, a.pixels(window.Min.X, window.Min.Y+y))
		for x := 3; x < len(row); x += 4 {
			row[x] = 255
		}
	}
	return nil
}

// pixels are those of row y of the canvas from column x on.
func (a *Animation) pixels(x, y int) []byte { return a.canvas[4*(y*a.file.w+x) : 4*(y+1)*a.file.w] }

// compose draws frame k, which follows the one that the canvas shows or needs none.
func (a *Animation) compose(k int) (err error) {
	defer damaged(&err)
	if a.Stop != nil {
		if err := a.Stop(); err != nil {
			return err
		}
	}
	f := &a.file.frames[k]
	row, err := a.decode(f)
	if err != nil {
		return err
	}
	w := f.at.Dx()
	alpha := []byte(nil)
	if f.alpha != nil && len(a.file.frames) > 1 { // nothing is blended with a still image
		if alpha, err = a.transparency(f); err != nil {
			return fmt.Errorf("alpha: %w", err)
		}
	}
	empty := image.Rectangle{} // what the frame before has left empty
	switch n := 4 * a.file.w * a.file.h; {
	case f.key:
		a.canvas = grown(a.canvas, n)
		clear(a.canvas)
	case a.file.frames[k-1].disposed:
		empty = a.file.frames[k-1].at
		for y := empty.Min.Y; y < empty.Max.Y; y++ {
			clear(a.pixels(empty.Min.X, y)[:4*empty.Dx()])
		}
	}
	a.row = grown(a.row, 4*w)
	for y := range f.at.Dy() {
		row(a.row, 0, y)
		if alpha != nil {
			for x, v := range alpha[y*w:][:w] {
				a.row[4*x+3] = v
			}
		}
		to := a.pixels(f.at.Min.X, f.at.Min.Y+y)[:4*w]
		if f.key || f.replaces {
			copy(to, a.row)
			continue
		}
		from, until := 0, 0 // the columns that are empty, where pixels stay as they are
		if hole := empty.Intersect(f.at).Sub(f.at.Min); y >= hole.Min.Y && y < hole.Max.Y {
			from, until = 4*hole.Min.X, 4*hole.Max.X
		}
		blend(to[:from], a.row[:from])
		copy(to[from:until], a.row[from:until])
		blend(to[until:], a.row[until:])
	}
	a.composed = k
	return nil
}

// blend draws pixels over those below them, with libwebp's rounding: the alpha of both is that of the upper one and what it lets through, and a
// colour is divided by it with 24 bits of fraction.
func blend(below, pixels []byte) {
	for ; len(pixels) > 0; below, pixels = below[4:], pixels[4:] {
		switch own := uint32(pixels[3]); own {
		case 0:
		case 255:
			copy(below, pixels[:4])
		default:
			through := uint32(below[3]) * (256 - own) >> 8
			scale := 1 << 24 / (own + through)
			for c := range 3 {
				below[c] = uint8((uint32(pixels[c])*own + uint32(below[c])*through) * scale >> 24)
			}
			below[3] = uint8(own + through)
		}
	}
}

// transparency decodes the alpha of a lossy frame, a byte per pixel: stored, or as the green of a lossless image without its header. Source: RFC 9649,
// section 2.7.1.2.
func (a *Animation) transparency(f *frame) ([]byte, error) {
	if len(f.alpha) < 2 {
		return nil, io.ErrUnexpectedEOF
	}
	w, h := f.at.Dx(), f.at.Dy()
	how, coded := f.alpha[0], f.alpha[1:]
	if how>>4&3 > 1 || how>>6 > 1 {
		return nil, fmt.Errorf("invalid header %#x", how)
	}
	a.alpha = grown(a.alpha, w*h)
	switch how & 3 {
	case 0:
		if len(coded) < w*h {
			return nil, io.ErrUnexpectedEOF
		}
		copy(a.alpha, coded)
	case 1:
		size := uint32(w-1) | uint32(h-1)<<14
		a.stream = append(append(a.stream[:0], 0x2f, byte(size), byte(size>>8), byte(size>>16), byte(size>>24)), coded...)
		a.reader.Reset(a.stream)
		m, err := vp8l.Decode(&a.reader)
		if err != nil {
			return nil, err
		}
		pixels := m.(*image.NRGBA)
		for i := range a.alpha {
			a.alpha[i] = pixels.Pix[4*i+1]
		}
	default:
		return nil, errors.New("an unknown compression")
	}
	unfilter(a.alpha, w, how>>2&3)
	return a.alpha, nil
}

// unfilter adds to each value what was predicted for it: nothing (0), its left neighbour (1), its upper one (2), or left + upper - upper left,
// clamped (3). In the first row that is the left one, and in the first column the upper one.
func unfilter(values []byte, w int, filter byte) {
	if filter == 0 {
		return
	}
	for x := 1; x < w; x++ {
		values[x] += values[x-1]
	}
	for i := w; i < len(values); i++ {
		left, up := values[i-1], values[i-w]
		switch {
		case filter == 2 || i%w == 0:
			values[i] += up
		case filter == 1:
			values[i] += left
		default:
			values[i] += uint8(min(max(int(left)+int(up)-int(values[i-w-1]), 0), 255))
		}
	}
}

// grown is b with n bytes, or new memory if it has not as many.
func grown(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}
