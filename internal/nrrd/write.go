package nrrd

import "io"

// Write writes an image with an attached header: h, whose Sizes and Type tell the data's shape, and the data in the
// machine's byte order. The encoding is raw or gzip, by h.Encoding; "" is raw. Version, Number, Endian, DataFiles and
// both skips are not taken from h but follow from what is written.
func Write(w io.Writer, h *Header, data []byte) error {
	panic("nrrd: not there yet")
}
