// Package nifti reads NIfTI-1 and NIfTI-2 images in both byte orders. They are single files (.nii) or pairs of header and
// image (.hdr, .img), plain or compressed by gzip (.nii.gz, .hdr.gz, .img.gz).
//
// It follows nifti1.h and nifti2.h of the NIfTI Data Format Working Group. All axes are in the file's order, the fastest
// first. The world is RAS+: x grows to the patient's right, y to the front, z to the head.
package nifti

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/files"
)

// An Image is an array with its header.
type Image struct {
	Header
	Dtype dataset.Dtype // of a value
	Sizes []int         // the shape of Data, as [Header.Shape] gives it
	Data  []byte        // stored values, without slope and intercept, in the machine's byte order, aligned to 64 bytes
}

// ReadHeader reads the header of the named file, with its extensions. The name may be that of either file of a pair.
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
	b := budget.For(src.Size())
	h, err := parse(r, &b)
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
func in(file, requested string, err error) error {
	if file == requested {
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}

// Read reads the header and the data. The name may be that of either file of a pair. Data of more than limit bytes are an
// error before memory is allocated for them. A limit of 0 means no limit. Bytes after the data are ignored.
//
// Memory grows as data are read, not by the sizes in the header alone.
//
// Complex numbers add a first axis of 2 (real, imaginary), RGB one of 3 and RGBA one of 4. Datatypes of 128-bit floats and
// of single bits are errors.
func Read(fsys fs.FS, name string, limit int64) (*Image, error) {
	h, err := ReadHeader(fsys, name)
	if err != nil {
		return nil, err
	}
	data, err := bulk.Load(h, "dim", limit, func(size int64) ([]byte, error) {
		data, err := h.load(fsys, size)
		if err != nil {
			return nil, in(h.file, name, err)
		}
		return data, nil
	})
	if err != nil {
		return nil, err
	}
	return &Image{Header: *h, Dtype: h.Dtype(), Sizes: h.Shape(), Data: data}, nil
}

// load reads all data, which have size bytes.
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
		b := budget.For(f.Size())
		if err = b.Work(h.offset / 2); err == nil { // a byte takes some nanoseconds
			_, err = io.CopyN(io.Discard, r, h.offset)
		}
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
		bulk.Swap(data, h.Dtype().Size())
	}
	return data, nil
}

// unzip decompresses src if it begins like a gzip file. No plain header does. The first voxels of a plain image may look
// like that, so an image file is decompressed only if its name ends in .gz.
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

// suffixes splits the name of a pair's file. The suffix is empty if the file is a single one.
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

// image reports whether the file is the image of a pair.
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
