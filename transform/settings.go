package transform

import (
	"github.com/penstock-go/penstock/transform/internal/program"
)

// Field sets the name of the field that holds the images. The result has the same name. The default is "image".
func Field(name string) Option { return optionOf(program.Field, program.Text(name)) }

// MaxPixels sets the greatest number of pixels, width times height, that an image may have before and between the
// steps, and between the two passes of a resize. A larger image is an error, and no memory is allocated for it. The default
// is 178,956,970, which is Pillow's limit. A pixel takes 4 bytes, and up to 12 where the file is a progressive JPEG. An image
// that is so long that the weights of its resize would take more than the largest image is an error, too.
func MaxPixels(n int) Option { return optionOf(program.MaxPixels, n) }

// MaxMemory bounds the memory that all calls of a [Compiled] take together for their images, in bytes. What an image takes
// is known from its header, before it is decoded: the part that the steps need with 4 bytes per pixel, what lies between the
// steps and between the passes of a resize, and what its decoder needs. Of all that is reserved a quarter more. A call whose
// image does not fit beside those of others waits, after those that came before it. An image that would take more than half
// of n alone is an error.
//
// Not counted are the files and results, which are the caller's, tables of up to some megabytes per core, and what
// [AugMix], [ElasticTransform], [GaussianBlur], [JPEG] and steps of your own take besides their images: the first four change
// images for training, and no configuration of a model that is served asks for them; what your own steps take, only you know.
// Memory that is given back is the garbage collector's, which debug.SetMemoryLimit holds to a limit.
func MaxMemory(n int) Option { return optionOf(program.MaxMemory, n) }

// Pillow chooses the version of Pillow whose resizing is reproduced bit for bit: 12, the default, for Pillow 12.2 and
// 12.3, or 13. They differ in which of the two passes comes first, and so in some results by 1.
func Pillow(version int) Option { return optionOf(program.Pillow, version) }

// AllowTruncated accepts JPEG files that end too early, as PIL does with ImageFile.LOAD_TRUNCATED_IMAGES. The missing
// part is grey, or blurred in progressive files.
func AllowTruncated() Option { return optionOf(program.AllowTruncated) }

// Ragged allows results whose size varies from image to image. The field becomes ragged: one row holds the
// channels·height·width values of one image, or has a row per patch ([Patches]). [Images] also needs [Sizes] or
// [SizesFunc]; with [Compile], use [Compiled.Append]. For batches as one rectangle use [PadTo].
func Ragged() Option { return optionOf(program.Ragged) }

// Sizes adds a field with that name: int64 of shape (2), the height and the width of the result before [PadTo].
// [Compile] ignores it.
func Sizes(field string) Option { return optionOf(program.Sizes, program.Text(field)) }

// Depth16 keeps the values of images with more than 8 bits per sample or with other channels than red, green and blue:
// medical images, depth maps, satellite bands. All images have this number of channels, from 1 to 4,096.
//
// Files are PNG, TIFF, PGM, PPM and PFM, and those with fewer bits, as 257·x. Arrays are uint8, uint16, int16 or
// float32 of shape (h, w), (h, w, channels) or (channels, h, w). Steps change them as torchvision's tensors, with the
// random draws of images of 8 bits; [Fill] is on the scale of the stored values. docs/transforms.md says which steps
// need 1 or 3 channels.
//
// The result is uint16, or the dtype of the arrays, and float32 with [ToTensor], which divides integers by the
// greatest one of their dtype. [MaxPixels] counts each channel of a pixel.
func Depth16(channels int) Option { return optionOf(program.Depth16, channels) }

// Decompressor adds a compression to those that TIFF files may have, or takes the place of one. Code is its number in
// the field Compression of a file. Package [github.com/penstock-go/penstock/transform/zstd] makes this option for
// zstd.
//
// Decompress fills dst with the samples of a strip or tile, from its bytes, and is an error if these are too few. All
// workers call it at the same time. An error or a panic of it is the error of the sample.
func Decompressor(code int, decompress func(dst, src []byte) error) Option {
	return Option{program.New(program.Decompressor, nil, code).Having(decompress)}
}
