package bulk

import (
	"bufio"
	"io"

	"github.com/penstock-go/penstock/internal/inflate"
)

// A Gzip decompresses gzip data of one or several members. Zeros between members are skipped, as in Python. Anything
// else after a member ends the data, as in zlib's gzread.
type Gzip struct {
	src *bufio.Reader
	z   inflate.Reader
}

// NewGzip reads from src.
func NewGzip(src *bufio.Reader) (*Gzip, error) {
	g := &Gzip{src: src}
	if err := g.z.ResetGzip(src); err != nil {
		return nil, err
	}
	return g, nil
}

// Read reads from the members one after the other.
func (g *Gzip) Read(p []byte) (int, error) {
	for {
		n, err := g.z.Read(p)
		if err == io.EOF && n > 0 {
			return n, nil
		}
		if err != io.EOF {
			return n, err
		}
		if err := g.next(); err != nil {
			return 0, err
		}
	}
}

// next goes to the next member. It returns io.EOF if there is none.
func (g *Gzip) next() error {
	for {
		c, err := g.src.ReadByte()
		if err != nil {
			return err
		}
		if c != 0 {
			break
		}
	}
	if err := g.src.UnreadByte(); err != nil {
		return err
	}
	magic, err := g.src.Peek(2)
	if err != nil {
		return err
	}
	if magic[0] != 0x1f || magic[1] != 0x8b {
		return io.EOF
	}
	return g.z.ResetGzip(g.src)
}

// Finish reads r to its end, where the checksum is. All wanted bytes must have been read. If more than most bytes follow,
// it stops there, without checking the checksum.
func Finish(r io.Reader, most int64) error {
	_, err := io.CopyN(io.Discard, r, most)
	if err == io.EOF {
		return nil
	}
	return err
}

// Unzipped is how many decompressed bytes to expect from a compressed file of that size. Images hardly shrink to less
// than a sixteenth. So it is all promised bytes or, if the ratio would be greater, 0.
func Unzipped(promised, compressed int64) int64 {
	if promised/16 > compressed {
		return 0
	}
	return promised
}
