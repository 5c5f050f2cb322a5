// Package nifti reads NIfTI-1 and NIfTI-2 images: single files (.nii), pairs of header and image (.hdr, .img), plain
// or compressed by gzip (.nii.gz, .hdr.gz, .img.gz), in either byte order.
//
// It follows nifti1.h and nifti2.h of the NIfTI Data Format Working Group. All axes are given as in the file, the
// fastest first; the world is RAS+: x grows to the patient's right, y to the front, z to the head.
package nifti

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/files"
)

// An Image is an array with its header.
type Image struct {
	Header
	Dtype tensor.Dtype // of an element
	Sizes []int        // the fastest axis first; before those of the header, the parts of a complex number or a color
	Data  []byte       // as stored, without slope and intercept; in the machine's byte order, aligned to 64 bytes
}

// ReadHeader reads the header of the named file, with its extensions. Either file of a pair may be named.
//
// Errors name the other file of a pair, but not the named file: the caller adds its name.
func ReadHeader(fsys fs.FS, name string) (*Header, error) {
	header := headerOf(fsys, name)
	h, err := readHeader(fsys, header)
	if err != nil {
		return nil, in(header, name, err)
	}
	return h, nil
}

func readHeader(fsys fs.FS, name string) (*Header, error) {
	src, err := bulk.Open(fsys, name, 4<<10)
	if err != nil {
		return nil, files.Cause(err)
	}
	defer src.Close()
	r, zipped, err := unzip(src, name)
	if err != nil {
		return nil, err
	}
	h, err := parse(r)
	if err != nil {
		if zipped {
			err = fmt.Errorf("unzipped: %w", err)
		}
		return nil, err
	}
	if h.file = name; !h.pair {
		return h, nil
	}
	h.file, err = imageOf(fsys, name)
	return h, err
}

// in adds the name of the file to an error, unless it is the requested file.
func in(file, asked string, err error) error {
	if file == asked {
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}

// Read reads the named file: its header and the data, which are in the other file of a pair. Data of more than limit
// bytes are an error, before anything is allocated for them; a limit of 0 is none. What follows the data is passed
// over.
//
// Memory grows as data are read: what a header promises is not allocated beforehand.
//
// Complex numbers have an axis of 2 (real, imaginary) before the header's, RGB 3, RGBA 4. The types of 128-bit floats
// and of single bits are refused.
func Read(fsys fs.FS, name string, limit int64) (*Image, error) {
	h, err := ReadHeader(fsys, name)
	if err != nil {
		return nil, err
	}
	n, err := h.Bytes()
	if err != nil {
		return nil, err
	}
	if limit > 0 && n > limit {
		return nil, fmt.Errorf("dim: %d bytes of data, the limit is %d", n, limit)
	}
	data, err := h.load(fsys, n)
	if err != nil {
		return nil, in(h.file, name, err)
	}
	return &Image{Header: *h, Dtype: h.Dtype(), Sizes: h.Shape(), Data: data}, nil
}

// load reads all size bytes of data.
func (h *Header) load(fsys fs.FS, size int64) ([]byte, error) {
	var f bulk.Filler
	if err := f.Open(fsys, h.file); err != nil {
		return nil, files.Cause(err)
	}
	defer f.Close()
	r, zipped, err := unzip(f.Source, h.file)
	if err != nil {
		return nil, err
	}
	likely := f.Size()
	if zipped {
		likely = bulk.Unzipped(size, likely)
		_, err = io.CopyN(io.Discard, r, h.offset)
	} else {
		err = f.Skip(h.offset)
	}
	if err != nil {
		return nil, fmt.Errorf("byte %d: vox_offset %d: %w", f.Offset(), h.offset, bulk.Unexpected(err))
	}
	f.Want(size, likely, f.Size())
	if zipped {
		err = f.TakeUnzipped(r, size)
	} else {
		err = f.Take(r, size)
	}
	if err != nil {
		return nil, err
	}
	data := f.Bytes()
	if h.swapped() {
		bulk.Swap(data, int(h.Dtype().Size()))
	}
	return data, nil
}

// unzip decompresses src if it begins as gzip files do. No plain header begins so. A plain image may, by its first
// voxels, so an image is decompressed only if it is named .gz.
func unzip(src *bulk.Source, name string) (r io.Reader, zipped bool, err error) {
	magic, _ := src.Peek(2)
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) || image(name) && !strings.HasSuffix(strings.ToLower(name), ".gz") {
		return src, false, nil
	}
	z, err := bulk.NewGzip(src.Reader)
	if err != nil {
		return nil, false, fmt.Errorf("byte %d: gzip: %w", src.Offset(), bulk.Unexpected(err))
	}
	return z, true, nil
}

// suffixes of a pair's files; a file that has neither is a single one.
func suffixes(name string) (base, suffix, zip string) {
	base = name
	if n := len(base) - len(".gz"); n > 0 && strings.EqualFold(base[n:], ".gz") {
		base, zip = base[:n], base[n:]
	}
	if n := len(base) - len(".img"); n > 0 && (strings.EqualFold(base[n:], ".img") || strings.EqualFold(base[n:], ".hdr")) {
		return base[:n], base[n:], zip
	}
	return name, "", ""
}

func image(name string) bool {
	_, suffix, _ := suffixes(name)
	return strings.EqualFold(suffix, ".img")
}

// headerOf is the file with the header of the named file.
func headerOf(fsys fs.FS, name string) string {
	if !image(name) {
		return name
	}
	if other, err := partner(fsys, name, ".hdr"); err == nil {
		return other
	}
	return name
}

// imageOf is the file with the data of a pair's header.
func imageOf(fsys fs.FS, header string) (string, error) {
	return partner(fsys, header, ".img")
}

// partner is the other file of a pair, compressed or not.
func partner(fsys fs.FS, name, suffix string) (string, error) {
	base, old, zip := suffixes(name)
	if old == "" {
		return "", errors.New("magic: the header of a pair, but the file is not named .hdr")
	}
	if old == strings.ToUpper(old) {
		suffix = strings.ToUpper(suffix)
	}
	other := ".gz"
	if zip != "" {
		other = ""
	}
	for _, candidate := range []string{base + suffix + zip, base + suffix + other} {
		if _, err := fs.Stat(fsys, candidate); err == nil {
			return candidate, nil
		}
	}
	return "", fmt.Errorf("%s: %w", base+suffix+zip, fs.ErrNotExist)
}
