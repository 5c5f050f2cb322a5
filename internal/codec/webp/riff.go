package webp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
)

// A file is the frames of a WebP file and its metadata.
type file struct {
	w, h   int // size of the canvas
	frames []frame
	exif   []byte
	xmp    []byte
}

// A frame is an image on the canvas, or a part of it. A still image is one frame.
type frame struct {
	at          image.Rectangle // where it is on the canvas
	lossy       bool
	transparent bool   // it has alpha, or says that it has
	stream      []byte // its bitstream: VP8 or VP8L
	alpha       []byte // of a lossy frame; nil is none

	replaces bool // what was there before, also where it is transparent
	disposed bool // its place is empty before the next frame
	key      bool // nothing is left of the frames before it; Animation.Header sets it
}

var (
	errFrames = errors.New("frame outside of an animation, or a second one")
	errNone   = errors.New("no frame")
)

// The flags of an extended file: RFC 9649, section 2.7.
const (
	flagAnimation = 1 << 1
	flagXMP       = 1 << 2
	flagExif      = 1 << 3
	flagsKnown    = 0x3e
)

// forget drops the file, but for the memory of the list of its frames.
func (f *file) forget() {
	clear(f.frames)
	*f = file{frames: f.frames[:0]}
}

// parse reads the chunks of a file, as strictly as libwebp's demuxer does. Source:
// RFC 9649, section 2.
func (f *file) parse(data []byte) error {
	if len(data) < 20 {
		return io.ErrUnexpectedEOF
	}
	if string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" {
		return errors.New("not a WebP file")
	}
	size := int64(binary.LittleEndian.Uint32(data[4:])) + 8
	if size > int64(len(data)) {
		return io.ErrUnexpectedEOF
	}
	if size < 20 {
		return fmt.Errorf("file of %d bytes", size)
	}
	rest := data[12:size]
	if string(rest[:4]) != "VP8X" {
		var only frame
		rest, err := only.image(rest)
		if err != nil {
			return err
		}
		if only.stream == nil {
			return errNone
		}
		f.w, f.h, f.frames = only.at.Dx(), only.at.Dy(), append(f.frames, only)
		return ended(rest)
	}
	if err := f.extended(rest); err != nil {
		return err
	}
	for i := range f.frames {
		if at := f.frames[i].at; !at.In(image.Rect(0, 0, f.w, f.h)) {
			return fmt.Errorf("frame %d: %v outside of %d×%d pixels", i, at, f.w, f.h)
		}
	}
	return nil
}

// ended checks that the data after a frame are empty or long enough for a chunk.
func ended(rest []byte) error {
	if len(rest) > 0 && len(rest) < 8 {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// A chunk has a name of four letters.
type chunk struct {
	name string
	body []byte
}

// next is the chunk at the beginning of data.
func next(data []byte) (c chunk, rest []byte, err error) {
	if len(data) < 8 {
		return chunk{}, nil, io.ErrUnexpectedEOF
	}
	n := int64(binary.LittleEndian.Uint32(data[4:]))
	c = chunk{name: string(data[:4])}
	data = data[8:]
	if n+n&1 > int64(len(data)) {
		return chunk{}, nil, fmt.Errorf("chunk %q: %w", c.name, io.ErrUnexpectedEOF)
	}
	c.body = data[:n:n]
	return c, data[n+n&1:], nil
}

// image reads a frame: a chunk of alpha, if there is one, and the image's chunk. It
// returns the data after them.
func (f *frame) image(data []byte) (rest []byte, err error) {
	for len(data) > 0 {
		c, after, err := next(data)
		if err != nil {
			return nil, err
		}
		switch {
		case c.name == "ALPH" && f.stream == nil && f.alpha == nil:
			f.alpha, f.transparent = c.body, true
		case (c.name == "VP8 " || c.name == "VP8L") && f.stream == nil:
			if c.name == "VP8L" && f.alpha != nil {
				return nil, errors.New("lossless frame with a chunk of alpha")
			}
			if err := f.bitstream(c); err != nil {
				return nil, err
			}
		case c.name == "ALPH" && f.stream != nil:
			return nil, errors.New("alpha after its frame")
		default:
			return data, nil
		}
		data = after
	}
	return nil, nil
}

// bitstream reads the size of a frame from its bitstream. Source: RFC 6386, section
// 9.1, and RFC 9649, section 3.4.
func (f *frame) bitstream(c chunk) error {
	var w, h int
	switch b := c.body; {
	case c.name == "VP8L":
		if len(b) < 5 {
			return io.ErrUnexpectedEOF
		}
		v := binary.LittleEndian.Uint32(b[1:])
		if b[0] != 0x2f || v>>29 != 0 {
			return errors.New("invalid header of a lossless frame")
		}
		w, h = int(v&0x3fff)+1, int(v>>14&0x3fff)+1
		f.transparent = v>>28&1 != 0
	default:
		if len(b) < 10 {
			return io.ErrUnexpectedEOF
		}
		head := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
		w, h = int(binary.LittleEndian.Uint16(b[6:]))&0x3fff, int(binary.LittleEndian.Uint16(b[8:]))&0x3fff
		if head&1 != 0 || head>>1&7 > 3 || head>>4&1 == 0 || string(b[3:6]) != "\x9d\x01\x2a" || w == 0 || h == 0 {
			return errors.New("invalid header of a lossy frame")
		}
		if int(head>>5) >= len(b) {
			return io.ErrUnexpectedEOF
		}
		f.lossy = true
	}
	f.stream, f.at = c.body, image.Rect(0, 0, w, h).Add(f.at.Min)
	return nil
}

// extended reads a file with a canvas. It may have metadata and several frames.
func (f *file) extended(data []byte) error {
	head, data, err := next(data)
	if err != nil {
		return err
	}
	b := head.body
	if len(b) < 10 {
		return io.ErrUnexpectedEOF
	}
	flags := b[0]
	f.w, f.h = int24(b[4:])+1, int24(b[7:])+1
	if int64(f.w)*int64(f.h) >= 1<<32 || flags&^flagsKnown != 0 {
		return fmt.Errorf("canvas of %d×%d pixels, flags %#x", f.w, f.h, flags)
	}
	animated := false
	for len(data) > 0 {
		c, rest, err := next(data)
		if err != nil {
			return err
		}
		switch c.name {
		case "VP8X":
			return errors.New("second VP8X chunk")
		case "ALPH", "VP8 ", "VP8L":
			if animated || flags&flagAnimation != 0 || len(f.frames) > 0 {
				return errFrames
			}
			var only frame
			if rest, err = only.image(data); err != nil {
				return err
			}
			if only.stream == nil {
				return errNone
			}
			f.frames = append(f.frames, only)
		case "ANIM":
			if len(c.body) < 6 {
				return io.ErrUnexpectedEOF
			}
			animated = true
		case "ANMF":
			if !animated {
				return errFrames
			}
			if flags&flagAnimation != 0 {
				if err := f.next(c.body); err != nil {
					return fmt.Errorf("frame %d: %w", len(f.frames), err)
				}
			}
		case "EXIF":
			if flags&flagExif != 0 && f.exif == nil {
				f.exif = c.body
			}
		case "XMP ":
			if flags&flagXMP != 0 && f.xmp == nil {
				f.xmp = c.body
			}
		}
		data = rest
	}
	if len(f.frames) == 0 {
		return errNone
	}
	if flags&flagAnimation == 0 && f.frames[0].at != image.Rect(0, 0, f.w, f.h) {
		return fmt.Errorf("no frame of the canvas's %d×%d pixels", f.w, f.h)
	}
	return nil
}

// next reads a frame of an animation. One that has no image is left out.
func (f *file) next(body []byte) error {
	if len(body) < 16 {
		return io.ErrUnexpectedEOF
	}
	x, y, flags := 2*int24(body), 2*int24(body[3:]), body[15]
	one := frame{at: image.Rectangle{Min: image.Pt(x, y)}, replaces: flags&2 != 0, disposed: flags&1 != 0}
	if _, err := one.image(body[16:]); err != nil {
		return err
	}
	switch {
	case one.stream != nil:
		f.frames = append(f.frames, one)
	case one.alpha != nil:
		return errNone
	}
	return nil
}

func int24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
