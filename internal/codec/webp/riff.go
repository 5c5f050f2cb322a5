package webp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
)

// A file is the first frame of a WebP file and its metadata.
type file struct {
	w, h   int             // size of the canvas
	frame  image.Rectangle // where the frame is on it
	lossy  bool
	stream []byte // the frame's bitstream: VP8 or VP8L
	exif   []byte
	xmp    []byte
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

// parse reads the chunks of a file, as strictly as libwebp's demuxer does. Source:
// RFC 9649, section 2.
func parse(data []byte) (f file, err error) {
	if len(data) < 20 {
		return file{}, io.ErrUnexpectedEOF
	}
	if string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" {
		return file{}, errors.New("not a WebP file")
	}
	size := int64(binary.LittleEndian.Uint32(data[4:])) + 8
	if size > int64(len(data)) {
		return file{}, io.ErrUnexpectedEOF
	}
	if size < 20 {
		return file{}, fmt.Errorf("file of %d bytes", size)
	}
	rest := data[12:size]
	if string(rest[:4]) != "VP8X" {
		if rest, err = f.image(rest); err != nil {
			return file{}, err
		}
		if f.stream == nil {
			return file{}, errNone
		}
		f.w, f.h = f.frame.Dx(), f.frame.Dy()
		return f, ended(rest)
	}
	if err := f.extended(rest); err != nil {
		return file{}, err
	}
	if !f.frame.In(image.Rect(0, 0, f.w, f.h)) {
		return file{}, fmt.Errorf("frame %v outside of %d×%d pixels", f.frame, f.w, f.h)
	}
	return f, nil
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
func (f *file) image(data []byte) (rest []byte, err error) {
	alpha := false
	for len(data) > 0 {
		c, after, err := next(data)
		if err != nil {
			return nil, err
		}
		switch {
		case c.name == "ALPH" && !alpha:
			alpha = true
		case (c.name == "VP8 " || c.name == "VP8L") && f.stream == nil:
			if c.name == "VP8L" && alpha {
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
func (f *file) bitstream(c chunk) error {
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
	f.stream, f.frame = c.body, image.Rect(0, 0, w, h).Add(f.frame.Min)
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
			if animated || flags&flagAnimation != 0 || f.stream != nil {
				return errFrames
			}
			if rest, err = f.image(data); err != nil {
				return err
			}
		case "ANIM":
			if len(c.body) < 6 {
				return io.ErrUnexpectedEOF
			}
			animated = true
		case "ANMF":
			if !animated {
				return errFrames
			}
			if flags&flagAnimation != 0 && f.stream == nil {
				if err := f.first(c.body); err != nil {
					return err
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
	if f.stream == nil {
		return errNone
	}
	if flags&flagAnimation == 0 && f.frame != image.Rect(0, 0, f.w, f.h) {
		return fmt.Errorf("no frame of the canvas's %d×%d pixels", f.w, f.h)
	}
	return nil
}

// first reads the first frame of an animation.
func (f *file) first(body []byte) error {
	if len(body) < 16 {
		return io.ErrUnexpectedEOF
	}
	x, y := 2*int24(body), 2*int24(body[3:])
	f.frame = image.Rectangle{Min: image.Pt(x, y)}
	_, err := f.image(body[16:])
	return err
}

func int24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
