package transform

import (
	"errors"
	"image"
	"io"
	"math"

	"github.com/penstock-go/penstock/internal/codec/tiff"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// Decoder adds a format to those that files may have: HEIC, AVIF, JPEG XL, or one of
// your own. Its files begin with magic, in which ? means any byte. It comes before the
// formats of this package, so it may also take the place of one of them. The functions
// are those that packages of image formats have for [image.RegisterFormat]:
//
//	transform.Decoder("AVIF", "????ftypavif", avif.Decode, avif.DecodeConfig)
//
// Config reads the size, which is checked before decode is called: see [MaxPixels].
// Decode decodes the whole image, which is converted to RGB as PIL does it. With [Depth16] it
// keeps its values, and a [*Planes] may have any number of channels. All workers
// call the functions at the same time. An error or a panic of theirs is the error of
// the sample. [Images] reads the format's files, and so does [Compile] from [File].
func Decoder(name, magic string, decode func(io.Reader) (image.Image, error), config func(io.Reader) (image.Config, error)) Option {
	o := setting(named("Decoder", quoted(name, magic)...), func(p *program) error {
		switch {
		case name == "" || magic == "":
			return errors.New("want a name and the first bytes of files")
		case decode == nil || config == nil:
			return errors.New("want two functions")
		}
		p.Formats = append(p.Formats, source.NewFormat(name, magic, func(r io.Reader) (image.Image, error) {
			img, err := decode(r)
			return internally(img), err
		}, config))
		return nil
	})
	o.several = true
	return o
}

// Decompressor adds a compression to those that TIFF files may have: LZMA, LERC, or one of your own. Package
// [github.com/penstock-go/penstock/transform/zstd] makes this option for zstd. It comes before the compressions of this package, so it may
// also take the place of one of them. Code is its number in the field Compression of a file.
//
// Decompress fills dst with the samples of a strip or tile, from its bytes, and is an error if these are too few. It
// keeps neither of both, and ignores bytes of src after them. A predictor is undone after it. A file that would have to hold
// more than 32 KiB of samples in a byte is an error before memory is allocated. All workers call the function at the same
// time. An error or a panic of it is the error of the sample. [Images] reads such files and such masks, and
// [Compile] reads such files from [File].
func Decompressor(code int, decompress func(dst, src []byte) error) Option {
	o := setting(named("Decompressor", code), func(p *program) error {
		switch {
		case code < 1 || code > math.MaxUint16:
			return errors.New("want the number of a compression")
		case decompress == nil:
			return errors.New("want a function")
		}
		p.Codecs = append(p.Codecs, tiff.Codec{Code: code, Decompress: func(dst, src []byte) error {
			return source.Guard(p.Field, func() error { return decompress(dst, src) })
		}})
		return nil
	})
	o.several = true
	return o
}
