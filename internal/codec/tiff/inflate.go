package tiff

import "github.com/penstock-go/penstock/internal/inflate"

// An inflater decodes zlib streams.
type inflater struct{ stream *inflate.Filler }

// decode fills dst. Bytes after that are not read, the checksum included, as in
// libtiff.
func (z *inflater) decode(dst, src []byte) error {
	if z.stream == nil {
		z.stream = new(inflate.Filler)
	}
	n, err := z.stream.Zlib(dst, src)
	if err == nil && n < len(dst) {
		err = errShort
	}
	return err
}
