package tiff

import (
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
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

// A zstdReader decodes Zstandard frames.
type zstdReader struct{ stream *zstd.Decoder }

// decode fills dst.
func (z *zstdReader) decode(dst, src []byte) (err error) {
	if z.stream == nil {
		z.stream, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.IgnoreChecksum(true), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return err
		}
	}
	out, err := z.stream.DecodeAll(src, dst[:0:len(dst)])
	switch {
	case len(out) == len(dst):
		return nil
	case err != nil:
		return err
	}
	return errShort
}
