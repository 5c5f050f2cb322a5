package inflate

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/adler32"
	"hash/crc32"
	"io"
)

// ErrChecksum is the error of data whose checksum is another one.
var ErrChecksum = errors.New("invalid checksum")

// ErrGzip is the error of data that are no gzip.
var ErrGzip = errors.New("gzip: invalid header")

var (
	errZlib = errors.New("zlib: invalid header")

	errZlibSum = fmt.Errorf("zlib: %w", ErrChecksum)
	errGzipSum = fmt.Errorf("gzip: %w", ErrChecksum)
)

// A frame is what stands around a stream of DEFLATE.
type frame uint8

const (
	raw frame = iota // nothing
	zlib
	gzip
)

// A Reader decompresses one stream after the other. A method that begins with Reset begins one, and its error is that of
// Read, too. When Read has returned io.EOF, src is behind the stream and its checksum, unless it is a raw one.
type Reader struct {
	decoder
	src    *bufio.Reader
	window []byte
	read   int // of window
	filled int
	frame  frame
	sum    hash.Hash32 // nil for raw streams
	size   uint32      // bytes so far
	err    error
	head   [10]byte
}

// windowSize is that of a Reader's window: matches reach half of it at least, and half is decoded at a time.
const windowSize = 2*farthest + room

// room is for a match and slack.
const room = longest + slack + 2

// ResetRaw begins a stream without a header and a checksum. It may read more of src than the stream.
func (r *Reader) ResetRaw(src *bufio.Reader) { r.reset(src, raw) }

// ResetZlib reads the header of a zlib stream from src.
func (r *Reader) ResetZlib(src *bufio.Reader) error {
	r.reset(src, zlib)
	if _, r.err = io.ReadFull(src, r.head[:2]); r.err == nil {
		r.err = checkZlib(r.head[0], r.head[1])
	}
	return r.err
}

// ResetGzip reads the header of a member of gzip from src. It returns io.EOF if src has ended.
func (r *Reader) ResetGzip(src *bufio.Reader) error {
	r.reset(src, gzip)
	r.err = r.readGzip()
	return r.err
}

func (r *Reader) reset(src *bufio.Reader, f frame) {
	if r.window == nil {
		r.window = make([]byte, windowSize)
		r.more = r.piece
	}
	r.begin(nil, r.more)
	switch {
	case f == raw:
		r.sum = nil
	case f == r.frame && r.sum != nil:
		r.sum.Reset()
	case f == zlib:
		r.sum = adler32.New()
	default:
		r.sum = crc32.NewIEEE()
	}
	r.src, r.frame, r.err = src, f, nil
	r.read, r.filled, r.size = 0, 0, 0
}

// piece is what src has in its buffer.
func (r *Reader) piece() ([]byte, error) {
	if _, err := r.src.Discard(len(r.in)); err != nil {
		return nil, err
	}
	r.in, r.pos = nil, 0
	if _, err := r.src.Peek(1); err != nil {
		return nil, err
	}
	return r.src.Peek(r.src.Buffered())
}

// Read returns io.EOF after the checksum, which is right then.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for r.read == r.filled {
		if r.err != nil {
			return 0, r.err
		}
		r.fill()
	}
	n := copy(p, r.window[r.read:r.filled])
	r.read += n
	return n, nil
}

// fill decodes further bytes. All before them have been read.
func (r *Reader) fill() {
	if len(r.window)-r.filled < room {
		copy(r.window, r.window[r.filled-farthest:r.filled])
		r.filled = farthest
	}
	from := r.filled
	r.filled, r.err = r.decode(r.window, from, room)
	r.read = from
	fresh := r.window[from:r.filled]
	r.size += uint32(len(fresh))
	if r.sum != nil {
		_, _ = r.sum.Write(fresh)
	}
	if r.err == nil && r.state == ended {
		r.err = r.end()
	}
}

// end reads what follows the data, and leaves src behind it. It is io.EOF if the checksum is right.
func (r *Reader) end() error {
	if r.frame == raw {
		return io.EOF
	}
	var tail [8]byte
	n := 4
	if r.frame == gzip {
		n = 8
	}
	for i := range tail[:n] {
		var err error
		if tail[i], err = r.byte(); err != nil {
			return err
		}
	}
	if _, err := r.src.Discard(r.pos - int(r.n/8)); err != nil { // bits has no bytes of earlier pieces any more
		return err
	}
	r.in, r.pos, r.n = nil, 0, 0
	switch sum := r.sum.Sum32(); {
	case r.frame == zlib && binary.BigEndian.Uint32(tail[:]) != sum:
		return errZlibSum
	case r.frame == gzip && (binary.LittleEndian.Uint32(tail[:]) != sum || binary.LittleEndian.Uint32(tail[4:]) != r.size):
		return errGzipSum
	}
	return io.EOF
}

// A Gzip decompresses all members of a gzip file. Anything else after a member is an error.
type Gzip struct{ member Reader }

// NewGzip reads the first header.
func NewGzip(src *bufio.Reader) (*Gzip, error) {
	g := new(Gzip)
	return g, g.member.ResetGzip(src)
}

// Read implements io.Reader.
func (g *Gzip) Read(p []byte) (int, error) {
	for {
		n, err := g.member.Read(p)
		if err == io.EOF {
			err = g.member.ResetGzip(g.member.src) // io.EOF if there are no more
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// A Filler decompresses zlib streams that are in memory.
type Filler struct{ decoder }

// Zlib fills dst, and does not look at what follows, nor at the checksum. It returns how many bytes there were.
func (f *Filler) Zlib(dst, src []byte) (int, error) {
	if len(src) < 2 {
		return 0, io.ErrUnexpectedEOF
	}
	if err := checkZlib(src[0], src[1]); err != nil {
		return 0, err
	}
	f.begin(src[2:], nil)
	return f.decode(dst, 0, 1)
}

// checkZlib checks the header of a zlib stream.
func checkZlib(method, flags byte) error {
	const deflate, most, dictionary = 8, 7, 1 << 5
	if method&15 != deflate || method>>4 > most || (uint(method)<<8|uint(flags))%31 != 0 || flags&dictionary != 0 {
		return errZlib
	}
	return nil
}

// readGzip reads the header of a member.
func (r *Reader) readGzip() error {
	const sum, extra, name, comment = 2, 4, 8, 16
	head := &r.head
	if n, err := io.ReadFull(r.src, head[:]); err != nil {
		if n > 0 {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	flags := head[3]
	if head[0] != 0x1f || head[1] != 0x8b || head[2] != 8 {
		return ErrGzip
	}
	crc := crc32.ChecksumIEEE(head[:])
	next := func() (byte, error) {
		b, err := r.src.ReadByte()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		head[0] = b
		crc = crc32.Update(crc, crc32.IEEETable, head[:1])
		return b, err
	}
	if flags&extra != 0 {
		low, err := next()
		if err != nil {
			return err
		}
		high, err := next()
		if err != nil {
			return err
		}
		for range int(low) | int(high)<<8 {
			if _, err := next(); err != nil {
				return err
			}
		}
	}
	for _, flag := range []byte{name, comment} {
		for there := flags&flag != 0; there; {
			b, err := next()
			if err != nil {
				return err
			}
			there = b != 0
		}
	}
	if flags&sum != 0 {
		want := uint16(crc)
		low, err := next()
		if err != nil {
			return err
		}
		high, err := next()
		if err != nil {
			return err
		}
		if uint16(low)|uint16(high)<<8 != want {
			return ErrGzip
		}
	}
	return nil
}
