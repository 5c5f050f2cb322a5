package tiff

import (
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/zlib"
)

// An inflater decodes zlib streams.
type inflater struct {
	src    bytes.Reader
	stream io.ReadCloser
}

// decode fills dst. Bytes after that are not read, the checksum included, as in
// libtiff.
func (z *inflater) decode(dst, src []byte) error {
	z.src.Reset(src)
	if z.stream == nil {
		stream, err := zlib.NewReader(&z.src)
		if err != nil {
			return err
		}
		z.stream = stream
	} else if err := z.stream.(zlib.Resetter).Reset(&z.src, nil); err != nil {
		return err
	}
	_, err := io.ReadFull(z.stream, dst)
	if errors.Is(err, io.EOF) {
		return errShort
	}
	return err
}
