package bulk

import (
	"bufio"
	"io"

	"github.com/klauspost/compress/gzip"
)

// A Gzip reads what gzip has compressed, into one member or several. Zeros between members are passed over, as Python
// does it, and whatever else follows a member ends the data, as it does for zlib's gzread.
type Gzip struct {
	src *bufio.Reader
	z   *gzip.Reader
}

// NewGzip reads from src, of which the library's decompressor needs the own type to be fast.
func NewGzip(src *bufio.Reader) (*Gzip, error) {
	z, err := gzip.NewReader(src)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &Gzip{src, z}, nil
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

// next goes on to the next member; io.EOF says that there is none.
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
	if err := g.z.Reset(g.src); err != nil {
		return err
	}
	g.z.Multistream(false)
	return nil
}

// Finish reads r, of which all that was wanted has been read, to its end, where its checksum is, but no more than most
// bytes: so much may follow and be passed over.
func Finish(r io.Reader, most int64) error {
	_, err := io.CopyN(io.Discard, r, most)
	if err == io.EOF {
		return nil
	}
	return err
}

// Unzipped is how many of so many bytes that are promised the size of a compressed file makes likely: images shrink to
// no less than a sixteenth. What promises more is begun with little memory.
func Unzipped(promised, compressed int64) int64 {
	if promised/16 > compressed {
		return 0
	}
	return promised
}
