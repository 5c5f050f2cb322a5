package transform

import (
	"errors"
	"slices"

	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/program"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// A Size is that of an image in pixels: one number, or height and width, as in torchvision.
// Where a step says nothing else, one number is for both.
type Size interface{ int | [2]int }

// A Filter is the interpolation of a resize. The results are those of Pillow's
// filter of the same name, bit for bit. All filters except Nearest antialias: when
// an image shrinks, every source pixel contributes to the result.
type Filter uint8

// The filters. The default is Bilinear everywhere.
const (
	Bilinear = Filter(resize.Bilinear) // a triangle: linear between neighbouring pixels
	Nearest  = Filter(resize.Nearest)  // the pixel at the centre
	Box      = Filter(resize.Box)      // the mean of the covered pixels
	Bicubic  = Filter(resize.Bicubic)  // Keys' cubic convolution with a = -0.5
	Lanczos  = Filter(resize.Lanczos)  // sinc with a Lanczos window of ±3 pixels
	Hamming  = Filter(resize.Hamming)  // sinc with a Hamming window of ±1 pixel: as fast as Bilinear, and sharper
)

// String is Pillow's name of the filter, in lower case.
func (f Filter) String() string { return resize.Filter(f).String() }

// Resize scales the image, as torchvision's Resize does with a PIL image. Resize(n) makes the shorter side n pixels
// long and the longer one int(n·long/short). Resize([2]int{h, w}) makes the image h×w. The height comes first, as
// everywhere in torchvision.
//
// [Interpolation] sets the filter; the default is [Bilinear]. [MaxSize] limits the longer side of Resize(n) to a
// number greater than n: if it would be longer, it becomes that, and the shorter side int(max·short/long).
func Resize[S Size](size S, options ...Option) Step { return stepOf(program.Resize, options, size) }

// RandomResizedCrop cuts out a random part of the image and resizes it to size×size pixels, or to height×width:
// torchvision's RandomResizedCrop. As there, it draws an area and an aspect ratio until the part fits into the image.
// After ten draws without success it takes the largest central part whose aspect ratio is allowed.
//
// [Scale] is the least and the greatest area, as parts of the image's; the default is 0.08 to 1. [Ratio] is that of
// width to height; the default is 3/4 to 4/3. [Interpolation] is [Bilinear] by default.
func RandomResizedCrop[S Size](size S, options ...Option) Step {
	return stepOf(program.RandomResizedCrop, options, size)
}

// ResizeFunc resizes an image of height×width pixels to the size that size returns, for rules that no other step has,
// such as sides that are multiples of a model's patches. The size must depend on nothing but the numbers, and all
// workers call it at the same time. The step prints as Resize with the rule in words. Its option is [Interpolation],
// by default [Bilinear]. A size below 1 is an error of the sample.
func ResizeFunc(rule string, size func(height, width int) (h, w int), options ...Option) Step {
	c := program.New(program.ResizeFunc, calls(options), rule).Having(size)
	if size == nil {
		c.Wrong(errors.New("the function is nil"))
	}
	return step{c}
}

// ScaleJitter resizes the image, with its aspect ratio, to a random size: the largest that fits into a target in
// pixels, times a factor. That is large scale jitter (arXiv 2012.07177) and torchvision's ScaleJitter. As there, the
// first number of a target of two is compared with the image's width, the second with its height.
//
// [Scale] is the range of the factor, torchvision's scale_range, above 0 and up to 1048576; the default is 0.1 to 2.
// [Interpolation] is [Bilinear] by default.
func ScaleJitter[S Size](target S, options ...Option) Step {
	return stepOf(program.ScaleJitter, options, target)
}

// RandomShortestSize makes the shorter side as long as one of sizes, drawn at random, as detectors are trained:
// torchvision's RandomShortestSize.
//
// [MaxSize] limits the longer side; by default there is no limit. [Interpolation] is [Bilinear] by default.
func RandomShortestSize(sizes []int, options ...Option) Step {
	return stepOf(program.RandomShortestSize, options, slices.Clone(sizes))
}

// RandomResize makes the shorter side a random number of pixels long, at least least and below below: torchvision's
// RandomResize. [Interpolation] is [Bilinear] by default.
func RandomResize(least, below int, options ...Option) Step {
	return stepOf(program.RandomResize, options, least, below)
}

// CenterCrop cuts out the middle of the image: torchvision's CenterCrop, with its rounding. As there, an image that
// is smaller is first padded: with [Fill], by default black. The option [Floor] rounds as Hugging Face's transformers
// does.
func CenterCrop[S Size](size S, options ...Option) Step {
	return stepOf(program.CenterCrop, options, size)
}

// Crop cuts out height×width pixels that begin at row top and column left, as torchvision's functional crop does.
// Pixels outside the image are black.
func Crop(top, left, height, width int) Step {
	return stepOf(program.Crop, nil, top, left, height, width)
}

// RandomCrop cuts out a random part of the image: torchvision's RandomCrop. An image that is smaller makes the sample
// an error, unless [PadIfNeeded] is there.
//
// [Padding] pads the image before, as [Pad] does, with [Fill] and [PaddingMode].
func RandomCrop[S Size](size S, options ...Option) Step {
	return stepOf(program.RandomCrop, options, size)
}

// RandomHorizontalFlip mirrors the image left to right with probability p. Torchvision's default for p is 0.5.
func RandomHorizontalFlip(p float64) Step { return stepOf(program.RandomHorizontalFlip, nil, p) }

// RandomVerticalFlip mirrors the image top to bottom with probability p. Torchvision's default for p is 0.5.
func RandomVerticalFlip(p float64) Step { return stepOf(program.RandomVerticalFlip, nil, p) }

// A PadMode says how padding is filled.
type PadMode uint8

// The modes, with torchvision's names. The comments show a row of pixels abc that
// is padded by two on each side.
const (
	Constant  = PadMode(raster.Constant)  // the fill colour: ··abc··
	Edge      = PadMode(raster.Edge)      // the pixel at the edge: aaabccc
	Reflect   = PadMode(raster.Reflect)   // mirrored without the pixel at the edge: cbabcba
	Symmetric = PadMode(raster.Symmetric) // mirrored with the pixel at the edge: baabccb
)

// String is torchvision's name of the mode.
func (m PadMode) String() string { return raster.PadMode(m).String() }

// Pad adds pixels around the image: torchvision's Pad. Pad(n) adds n on every side, Pad([2]int{x, y}) x left and
// right and y above and below, and Pad([4]int{left, top, right, bottom}) as many as it says.
//
// [Fill] sets the colour, by default black, and [PaddingMode] says how the padding is filled, by default [Constant].
func Pad[W int | [2]int | [4]int](widths W, options ...Option) Step {
	return stepOf(program.Pad, options, widths)
}

// PadTo makes images of varying sizes size×size, or height×width: what is missing at the right and at the bottom
// becomes 0 in the result. So it comes after [ToTensor], and [Normalize] does not change its zeros. An image that is
// larger is an error.
func PadTo[S Size](size S) Step { return stepOf(program.PadTo, nil, size) }

// RandomZoomOut puts the image at a random place on a larger canvas with probability p, as in SSD (arXiv 1512.02325):
// torchvision's RandomZoomOut, whose default for p is 0.5.
//
// [SideRange] is how many times as wide and high the canvas is; the default is 1 to 4. [Fill] is its colour, by
// default black; that of [Mask] is the number in masks.
func RandomZoomOut(p float64, options ...Option) Step {
	return stepOf(program.RandomZoomOut, options, p)
}

// FixedSizeCrop makes images of any size size×size, or height×width: it cuts out a random part of those that are
// larger, and pads those that are smaller at the right and at the bottom. It is the step of torchvision's detection
// references for large scale jitter, after [ScaleJitter]. If it cuts, it removes the boxes that become empty, with
// their rows and planes.
//
// [Fill] is the colour of the padding, by default black.
func FixedSizeCrop[S Size](size S, options ...Option) Step {
	return stepOf(program.FixedSizeCrop, options, size)
}

// FiveCrop crops the four corners and the centre of the image, as is usual in the evaluation of classifiers. It is
// torchvision's FiveCrop. The crops have size×size pixels, or height×width. The result has the shape (5, 3, h, w), in
// the order upper left, upper right, lower left, lower right and centre. An image that is smaller makes the sample an
// error.
//
// Only steps that say what the result is, such as [ToTensor] and [Normalize], may come after it. It cannot be combined
// with [Ragged], [Sizes], and with [Boxes], [Mask], [Masks] and [KeyPoints], which torchvision's does not crop either.
func FiveCrop[S Size](size S) Step { return stepOf(program.FiveCrop, nil, size) }

// TenCrop is torchvision's TenCrop: the crops of [FiveCrop], followed by those of the image mirrored left to right,
// or with [VerticalFlip] top to bottom. The result has the shape (10, 3, h, w).
func TenCrop[S Size](size S, options ...Option) Step { return stepOf(program.TenCrop, options, size) }

// ExifTranspose rotates or mirrors the image of a JPEG, PNG or WebP file by the orientation in its Exif data. If
// there is none, it uses the orientation in the file's XMP data. Orientations 5 to 8 exchange width and height. All
// other images stay as they are: those without an orientation, in other formats, or given as pixels.
//
// The result is that of PIL's ImageOps.exif_transpose, which torchvision's datasets do not call. It must come before
// all steps that change the image.
func ExifTranspose() Step { return stepOf(program.ExifTranspose, nil) }

// RandomRotation rotates the image counterclockwise by a random angle from least to greatest degrees: torchvision's
// RandomRotation. The result is that of PIL's Image.rotate, bit for bit. It does not antialias.
//
// [Interpolation] is [Nearest] by default, and may be [Bilinear] or [Bicubic]. [Expand] enlarges the result, [Center]
// sets the point around which the image is rotated, and [Fill] the colour of what is outside the image, by default
// black.
func RandomRotation(least, greatest float64, options ...Option) Step {
	return stepOf(program.RandomRotation, options, least, greatest)
}

// RandomAffine rotates the image clockwise by a random angle from least to greatest degrees around its centre, and
// moves, scales and shears it if options say so: torchvision's RandomAffine. The result is that of torchvision with
// PIL images, bit for bit. It does not antialias.
//
// [Translate], [Scale] and [Shear] are how far it moves, scales and shears, by default not at all. [Interpolation] is
// [Nearest] by default, and may be [Bilinear] or [Bicubic]. [Center] sets the point that stays where it is, and
// [Fill] the colour of what is outside the image, by default black.
func RandomAffine(least, greatest float64, options ...Option) Step {
	return stepOf(program.RandomAffine, options, least, greatest)
}

// RandomPerspective moves the four corners of the image inwards, each at random, with probability p: torchvision's
// RandomPerspective. Distortion, from 0 to 1, says how far a corner may move: by that part of half the width and
// height. Torchvision's defaults are RandomPerspective(0.5, 0.5). The result is that of PIL's Image.transform, bit
// for bit. Its numbers are those of torchvision, but for their rounding to float32. It does not antialias. An image
// with a side of 1 pixel stays as it is.
//
// [Interpolation] is [Bilinear] by default, and may be [Nearest] or [Bicubic]. [Fill] is the colour of what is
// outside the image, by default black.
func RandomPerspective(distortion, p float64, options ...Option) Step {
	return stepOf(program.RandomPerspective, options, distortion, p)
}

// ElasticTransform moves every pixel by a random vector that changes smoothly over the image: torchvision's
// ElasticTransform, whose defaults are ElasticTransform(50, 5). Alpha is the strength, and sigma the standard
// deviation in pixels of the Gaussian that smooths the vectors; with 0 they are not smoothed. The result is within
// one level of torchvision's for the same vectors, which is the same for PIL images and tensors.
//
// Masks take the nearest pixels. Boxes and keypoints move by the vectors of single pixels, as in torchvision. A
// keypoint takes the vector of the pixel that it is in, and loses its fraction. A box takes the vectors of its
// corners, rounded up.
//
// [Interpolation] is [Bilinear] by default, and may be [Nearest] or [Bicubic], whose values above white or below
// black become white and black; in torchvision those of integers start again at the other end. [Fill] is the colour
// of what is outside the image, by default black.
func ElasticTransform(alpha, sigma float64, options ...Option) Step {
	return stepOf(program.ElasticTransform, options, alpha, sigma)
}
