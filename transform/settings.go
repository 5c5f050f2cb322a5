package transform

import (
	"image"
	"io"

	"github.com/penstock-go/penstock/transform/internal/program"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// Field sets the name of the field that holds the images. The result has the same name. The default is "image".
func Field(name string) Option { return optionOf(program.Field, program.Text(name)) }

// MaxPixels sets the greatest number of pixels, width times height, that an image may have before and between the
// steps. A larger image is an error, and no memory is allocated for it. The default is 178,956,970, which is Pillow's
// limit.
//
// A file that is too short to hold its number of pixels, even with the best compression of its format, is also an
// error before memory is allocated. But some formats, such as lossless WebP and GIF, can store a large image of one
// colour in a few bytes. Its pixels need 4 bytes or more each, and only MaxPixels limits that memory. A progressive
// JPEG takes up to 8 bytes more for each, also for a crop.
func MaxPixels(n int) Option { return optionOf(program.MaxPixels, n) }

// Pillow chooses the version of Pillow whose resizing is reproduced bit for bit: 12 or 13. They differ in whether the
// horizontal or the vertical pass comes first. Between the passes values are rounded, so some results differ by 1.
//
// The default is 12, for Pillow 12.2 and 12.3. There the horizontal pass comes first, unless the image is more than
// 100 times as high as it is wide and its height shrinks. In earlier versions, tested down to 9.4, the horizontal
// pass always comes first. In Pillow 13 the vertical pass comes first if the height shrinks by more than twice as
// many pixels as the width. That happens often in training.
func Pillow(version int) Option { return optionOf(program.Pillow, version) }

// AllowTruncated accepts JPEG files that end too early, as PIL does with ImageFile.LOAD_TRUNCATED_IMAGES. The missing
// part is grey, or blurred in progressive files. Without it such a file is an error. In other formats it is always an
// error.
//
// An invalid code in the middle of a file is still an error. PIL would return the pixels that its decoder made from
// it.
func AllowTruncated() Option { return optionOf(program.AllowTruncated) }

// Ragged allows results whose size varies from image to image, as detectors take them. The field becomes ragged: one
// row holds the channels·height·width values of one image, in the order of [Layout]. [Images] also needs [Sizes], so
// that the shape is known. With [Compile], use [Compiled.Append].
//
// The rows of a batch lie one after the other, without padding. For a batch as one rectangle use [PadTo] instead.
func Ragged() Option { return optionOf(program.Ragged) }

// Sizes adds a field with that name: int64 of shape (2), the height and the width of the result in pixels, before
// [PadTo]. It tells which part of a padded image is not padding. [Compile] ignores it.
func Sizes(field string) Option { return optionOf(program.Sizes, program.Text(field)) }

// Depth16 keeps the values of images with more than 8 bits per sample or with other channels than red, green and
// blue: medical images, depth maps, satellite bands. Without it every image becomes RGB of 8 bits. All images have
// this number of channels, from 1 to 4,096; an image with another number is an error.
//
// Files are PNG of 16 bits (1 to 4 channels; grey with alpha has 2), TIFF of 16 bits, signed or not, or of float32
// with any number of samples per pixel, PGM, PPM and PFM, and those of [Decoder]. Samples with fewer bits are scaled
// to 16 bits, as 257·x for 8 bits, and files of other formats have 3 such channels. Alpha is a channel like any
// other. If the field holds arrays, they are uint8, uint16, int16 or float32 of shape (h, w), (h, w, channels) or
// (channels, h, w), and their values stay as they are.
//
// Steps that only crop, flip and pad keep all values bit for bit. A resize has the filters of torchvision's tensors,
// with antialias; Nearest is its NEAREST_EXACT. Values of integers are rounded after it. Warps ([RandomRotation],
// [RandomAffine], [RandomPerspective], [ElasticTransform]), changes of colours and the policies ([RandAugment],
// [TrivialAugmentWide], [AutoAugment], [AugMix]) are those of torchvision's tensors too. The random draws are those
// of images of 8 bits. Integers lose their fraction after changes of colours.
//
// [Grayscale], [RandomGrayscale], [RandomPhotometricDistort], the policies, and saturation and hue of [ColorJitter]
// need 1 or 3 channels. [JPEG], and the filter Bicubic of the policies and of warps other than [ElasticTransform] are
// errors; torchvision has no JPEG and no such filter for these tensors either. For your own steps use [Apply].
//
// The result is uint16, or the dtype of the arrays, of shape (h, w, channels), or (channels, h, w) with
// [PILToTensor]. [ToDtype] makes it int32 or float32 without changing values. [ToTensor] makes float32 values from 0
// to 1: integers are divided by the greatest one of their dtype, such as 65535, and floats stay as they are.
// [Normalize] takes a mean and a standard deviation per channel. A file of signed or floating-point samples is an
// error if the result is uint16. [MaxPixels] counts each channel of a pixel.
//
// [Fill] sets what is outside the image after crops, pads and warps: one value per channel, or one for all, on the
// scale of the stored values. The default is 0. An image whose dtype does not have them is an error, such as one of
// uint16 if a value is below 0. The Fill of single steps, a colour of 8 bits, is an error.
func Depth16(channels int, options ...Option) Option {
	return setting(program.Depth16, options, channels)
}

// Decoder adds a format to those that files may have: HEIC, AVIF, JPEG XL, or one of your own. Its files begin with
// magic, in which ? means any byte. It comes before the formats of this package, so it may also take the place of one
// of them. The functions are those that packages of image formats have for [image.RegisterFormat]:
//
//	transform.Decoder("AVIF", "????ftypavif", avif.Decode, avif.DecodeConfig)
//
// Config reads the size, which is checked before decode is called: see [MaxPixels]. Decode decodes the whole image,
// which is converted to RGB as PIL does it. With [Depth16] it keeps its values, and a [*Planes] may have any number
// of channels. All workers call the functions at the same time. An error or a panic of theirs is the error of the
// sample. [Images] reads the format's files, and so does [Compile] from [File].
func Decoder(name, magic string, decode func(io.Reader) (image.Image, error), config func(io.Reader) (image.Config, error)) Option {
	c := program.New(program.Decoder, nil, program.Text(name), program.Text(magic))
	if decode != nil && config != nil {
		c.Having(source.NewFormat(name, magic, func(r io.Reader) (image.Image, error) {
			img, err := decode(r)
			return internally(img), err
		}, config))
	}
	return Option{c}
}

// Decompressor adds a compression to those that TIFF files may have: LZMA, LERC, or one of your own. Package
// [github.com/penstock-go/penstock/transform/zstd] makes this option for zstd. It comes before the compressions of
// this package, so it may also take the place of one of them. Code is its number in the field Compression of a file.
//
// Decompress fills dst with the samples of a strip or tile, from its bytes, and is an error if these are too few. It
// keeps neither of both, and ignores bytes of src after them. A predictor is undone after it. A file that would have
// to hold more than 32 KiB of samples in a byte is an error before memory is allocated. All workers call the function
// at the same time. An error or a panic of it is the error of the sample. [Images] reads such files and such masks,
// and [Compile] reads such files from [File].
func Decompressor(code int, decompress func(dst, src []byte) error) Option {
	return Option{program.New(program.Decompressor, nil, code).Having(decompress)}
}
