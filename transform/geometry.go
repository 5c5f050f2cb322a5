package transform

import (
	"errors"
	"slices"

	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/program"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// A Size is that of an image in pixels: one number for both sides, or height and width, as in torchvision.
type Size interface{ int | [2]int }

// A Filter is the interpolation of a resize, with the results of Pillow's filter of the same name, of that of OpenCV's
// cv2.resize, or of tf.image.resize, bit for bit. All but Nearest, OpenCVLinear and TensorFlowBilinear antialias.
type Filter uint8

// The filters. The default is Bilinear everywhere but in [LetterBox]. Those of OpenCV and TensorFlow are for images of 8 bits:
// with [Depth16] they are errors. TensorFlowBilinear makes numbers that are not whole, so [ToTensor], [Rescale] or [ToDtype] has to
// follow, with nothing but crops, flips and padding of one colour between them.
const (
	Bilinear = Filter(resize.Bilinear) // a triangle: linear between neighbouring pixels
	Nearest  = Filter(resize.Nearest)  // the pixel at the centre
	Box      = Filter(resize.Box)      // the mean of the covered pixels
	Bicubic  = Filter(resize.Bicubic)  // Keys' cubic convolution with a = -0.5
	Lanczos  = Filter(resize.Lanczos)  // sinc with a Lanczos window of ±3 pixels
	Hamming  = Filter(resize.Hamming)  // sinc with a Hamming window of ±1 pixel: as fast as Bilinear, and sharper

	OpenCVLinear = Filter(resize.OpenCVLinear) // cv2.INTER_LINEAR: the two nearest pixels per axis, also where an image shrinks
	OpenCVArea   = Filter(resize.OpenCVArea)   // cv2.INTER_AREA: the mean of the covered pixels

	// tf.image.resize and Keras' Resizing, which are bilinear by default: the two nearest pixels per axis, also where an image
	// shrinks. The result has fractions of levels.
	TensorFlowBilinear = Filter(resize.TensorFlowBilinear)
)

// String is Pillow's name of the filter, in lower case, or that of OpenCV or TensorFlow.
func (f Filter) String() string { return resize.Filter(f).String() }

// Resize scales the image: torchvision's Resize. Resize(n) makes the shorter side n pixels long and keeps the ratio;
// Resize([2]int{h, w}) makes the image h×w.
//
// [Interpolation] is [Bilinear] by default. [MaxSize] limits the longer side of Resize(n).
func Resize[S Size](size S, options ...Option) Step { return stepOf(program.Resize, options, size) }

// LetterBox makes the image as large as fits into size×size, or height×width, with its ratio, and fills what is left around
// it: the step before the models of the YOLO family, which torchvision does not have. Boxes, keypoints and masks move with
// the image; [FromLetterBox] moves a model's results back.
//
// The image gets the scale r, the lesser of the ratios of the heights and of the widths: its sides become h·r and w·r,
// rounded, halves to even. It is in the middle; where an odd number of pixels is left, there is one more at the right or at
// the bottom. [Fill] is 114, and [Interpolation] [OpenCVLinear]. An image that would lose a whole side is an error.
func LetterBox[S Size](size S, options ...Option) Step {
	return stepOf(program.LetterBox, options, size)
}

// FromLetterBox moves coordinates from the result of [LetterBox] of this size back to the image, which has height×width
// pixels. They are pairs of x and y in pixels: corners of boxes, or keypoints. Those that are outside of the image are moved
// to its edge.
func FromLetterBox[S Size](size S, height, width int, xy []float32) {
	h, w := sides(size)
	r := program.Letter(width, height, w, h)
	x, y := float64(width)/float64(max(r.Dx(), 1)), float64(height)/float64(max(r.Dy(), 1))
	for ; len(xy) >= 2; xy = xy[2:] {
		xy[0] = float32(min(max((float64(xy[0])-float64(r.Min.X))*x, 0), float64(width)))
		xy[1] = float32(min(max((float64(xy[1])-float64(r.Min.Y))*y, 0), float64(height)))
	}
}

// sides are height and width.
func sides[S Size](size S) (h, w int) {
	switch s := any(size).(type) {
	case [2]int:
		return s[0], s[1]
	case int:
		return s, s
	}
	return 0, 0
}

// RandomResizedCrop cuts out a random part of the image and resizes it: torchvision's RandomResizedCrop.
//
// [Scale], of the area as a part of the image's, is 0.08 to 1 by default, [Ratio], of width to height, 3/4 to 4/3, and
// [Interpolation] [Bilinear].
func RandomResizedCrop[S Size](size S, options ...Option) Step {
	return stepOf(program.RandomResizedCrop, options, size)
}

// ResizeFunc resizes an image of height×width pixels to the size that size returns, for rules that no other step has.
// The size must depend on nothing but the numbers, and all workers call it at the same time. The step prints as Resize
// with the rule in words.
//
// [Interpolation] is [Bilinear] by default.
func ResizeFunc(rule string, size func(height, width int) (h, w int), options ...Option) Step {
	c := program.New(program.ResizeFunc, calls(options), rule).Having(size)
	if size == nil {
		c.Wrong(errors.New("the function is nil"))
	}
	return step{c}
}

// ScaleJitter resizes the image, with its ratio, to the largest size that fits into a target, times a random factor:
// torchvision's ScaleJitter. As there, the first number of a target is compared with the width, the second with the
// height.
//
// [Scale], of the factor, is 0.1 to 2 by default, at most 1048576, and [Interpolation] [Bilinear].
func ScaleJitter[S Size](target S, options ...Option) Step {
	return stepOf(program.ScaleJitter, options, target)
}

// RandomShortestSize makes the shorter side as long as one of sizes, drawn at random: torchvision's
// RandomShortestSize.
//
// [MaxSize] limits the longer side; by default there is no limit. [Interpolation] is [Bilinear] by default.
func RandomShortestSize(sizes []int, options ...Option) Step {
	return stepOf(program.RandomShortestSize, options, slices.Clone(sizes))
}

// RandomResize makes the shorter side a random number of pixels long, from least to below-1: torchvision's
// RandomResize. [Interpolation] is [Bilinear] by default.
func RandomResize(least, below int, options ...Option) Step {
	return stepOf(program.RandomResize, options, least, below)
}

// CenterCrop cuts out the middle of the image: torchvision's CenterCrop. An image that is smaller is padded with
// [Fill], by default black. [Floor] rounds as Hugging Face's transformers does.
func CenterCrop[S Size](size S, options ...Option) Step {
	return stepOf(program.CenterCrop, options, size)
}

// Crop cuts out height×width pixels from row top and column left on: torchvision's functional crop. What is outside
// the image is black.
func Crop(top, left, height, width int) Step {
	return stepOf(program.Crop, nil, top, left, height, width)
}

// RandomCrop cuts out a random part of the image: torchvision's RandomCrop. An image that is smaller is an error
// without [PadIfNeeded]. [Padding] pads the image before, as [Pad] does, with [Fill] and [PaddingMode].
func RandomCrop[S Size](size S, options ...Option) Step {
	return stepOf(program.RandomCrop, options, size)
}

// RandomHorizontalFlip mirrors the image left to right with probability p. Torchvision's default for p is 0.5.
func RandomHorizontalFlip(p float64) Step { return stepOf(program.RandomHorizontalFlip, nil, p) }

// RandomVerticalFlip mirrors the image top to bottom with probability p. Torchvision's default for p is 0.5.
func RandomVerticalFlip(p float64) Step { return stepOf(program.RandomVerticalFlip, nil, p) }

// A PadMode says how padding is filled.
type PadMode uint8

// The modes, with torchvision's names. The comments show a row of pixels abc that is padded by two on each side.
const (
	Constant  = PadMode(raster.Constant)  // the fill colour: ··abc··
	Edge      = PadMode(raster.Edge)      // the pixel at the edge: aaabccc
	Reflect   = PadMode(raster.Reflect)   // mirrored without the pixel at the edge: cbabcba
	Symmetric = PadMode(raster.Symmetric) // mirrored with the pixel at the edge: baabccb
)

// String is torchvision's name of the mode.
func (m PadMode) String() string { return raster.PadMode(m).String() }

// Pad adds pixels around the image: torchvision's Pad. Pad(n) adds n on every side, Pad([2]int{x, y}) x left and right
// and y above and below, and Pad([4]int{left, top, right, bottom}) as many as it says.
//
// [Fill] is black by default, and [PaddingMode] [Constant].
func Pad[W int | [2]int | [4]int](widths W, options ...Option) Step {
	return stepOf(program.Pad, options, widths)
}

// PadTo makes images of varying sizes size×size, or height×width, after [ToTensor]: what is missing at the right and
// at the bottom is 0 in the result, also after [Normalize]. An image that is larger is an error.
func PadTo[S Size](size S) Step { return stepOf(program.PadTo, nil, size) }

// RandomZoomOut puts the image at a random place on a larger canvas with probability p: torchvision's RandomZoomOut,
// whose default for p is 0.5.
//
// [SideRange], how many times as wide and high the canvas is, is 1 to 4 by default, and [Fill] black.
func RandomZoomOut(p float64, options ...Option) Step {
	return stepOf(program.RandomZoomOut, options, p)
}

// FixedSizeCrop cuts a random part out of images that are larger than size×size, or height×width, and pads smaller
// ones at the right and at the bottom. It is the step of torchvision's detection references after [ScaleJitter]. If it
// cuts, boxes that become empty are removed. [Fill] is black by default.
func FixedSizeCrop[S Size](size S, options ...Option) Step {
	return stepOf(program.FixedSizeCrop, options, size)
}

// FiveCrop crops the four corners and the centre of the image: torchvision's FiveCrop. The result has the shape (5, 3,
// h, w), in the order upper left, upper right, lower left, lower right and centre.
//
// Only steps that say what the result is, such as [ToTensor] and [Normalize], may come after it. It cannot be combined
// with [Ragged], [Sizes] and annotations, which torchvision's does not crop either.
func FiveCrop[S Size](size S) Step { return stepOf(program.FiveCrop, nil, size) }

// Tiles makes several images of one, all of the same size, as vision-language models take large images: tiles says which, for
// an image of height×width pixels. Rule is what it does in words. Tiles must depend on nothing but the numbers, and all workers
// call it at the same time; nil is an error of the image. Their number varies, so the step needs [Ragged]: the field has the shape
// (n, 3, h, w). If [Patches] follows, its rows are those of all tiles, which may have sizes of their own.
//
// Only steps that say what the result is, such as [ToTensor] and [Normalize], may come after it. [Interpolation] is [Bilinear]
// by default.
func Tiles[S Size](size S, rule string, tiles func(height, width int) []Tile, options ...Option) Step {
	c := program.New(program.Tiles, calls(options), size, rule).Having(func(h, w int) (all []engine.Tile) {
		several := tiles(h, w)
		if several == nil {
			return nil
		}
		all = make([]engine.Tile, len(several))
		for k, t := range several {
			all[k] = engine.Tile(t)
		}
		return all
	})
	if tiles == nil {
		c.Wrong(errors.New("the function is nil"))
	}
	return step{c}
}

// TileFunc makes one tile of an image, for rules that no other step has: a crop, a resize and a crop or padding to a size. Tile
// says which, for an image of height×width pixels, and rule is what it does in words. Tile must depend on nothing but the
// numbers, and all workers call it at the same time.
//
// [Interpolation] is [Bilinear] by default, [Fill] black, and [PaddingMode] [Constant]. After [ToTensor] it can only pad, without
// options, and what it adds is 0 in the result, as that of [PadTo].
func TileFunc(rule string, tile func(height, width int) Tile, options ...Option) Step {
	c := program.New(program.TileFunc, calls(options), rule).Having(func(h, w int) engine.Tile { return engine.Tile(tile(h, w)) })
	if tile == nil {
		c.Wrong(errors.New("the function is nil"))
	}
	return step{c}
}

// A Tile is what is left of an image after a crop, a resize, and a crop to the size of the tile.
type Tile struct {
	Crop      [4]int // top, left, height and width, within the image; zeros: the whole image
	Resize    [2]int // height and width; zeros: as it is
	Top, Left int    // where the tile begins in the resized image; what is beyond it is black, or filled
	Size      [2]int // height and width; zeros: the size of all Tiles, or in TileFunc that of the resized image
}

// TenCrop is torchvision's TenCrop: the crops of [FiveCrop], and those of the image mirrored left to right, or with
// [VerticalFlip] top to bottom. The result has the shape (10, 3, h, w).
func TenCrop[S Size](size S, options ...Option) Step { return stepOf(program.TenCrop, options, size) }

// ExifTranspose rotates or mirrors the image of a JPEG, PNG or WebP file by the orientation in its Exif or XMP data:
// PIL's ImageOps.exif_transpose, which torchvision's datasets do not call. It must come before all steps that change
// the image.
func ExifTranspose() Step { return stepOf(program.ExifTranspose, nil) }

// RandomRotation rotates the image counterclockwise by a random angle from least to greatest degrees: torchvision's
// RandomRotation, with the bits of PIL's Image.rotate.
//
// [Interpolation] is [Nearest] by default, or [Bilinear] or [Bicubic]. [Expand] enlarges the result, [Center] is the
// image's by default, and [Fill] black.
func RandomRotation(least, greatest float64, options ...Option) Step {
	return stepOf(program.RandomRotation, options, least, greatest)
}

// RandomAffine rotates the image clockwise by a random angle from least to greatest degrees, and moves, scales and
// shears it: torchvision's RandomAffine with PIL images, bit for bit.
//
// [Translate], [Scale] and [Shear] do nothing by default. [Interpolation] is [Nearest] by default, or [Bilinear] or
// [Bicubic], [Center] the image's, and [Fill] black.
func RandomAffine(least, greatest float64, options ...Option) Step {
	return stepOf(program.RandomAffine, options, least, greatest)
}

// RandomPerspective moves the four corners of the image inwards with probability p, each by up to distortion, from 0
// to 1, of half the sides: torchvision's RandomPerspective, whose defaults are RandomPerspective(0.5, 0.5). The pixels
// are those of PIL's Image.transform.
//
// [Interpolation] is [Bilinear] by default, or [Nearest] or [Bicubic], and [Fill] black.
func RandomPerspective(distortion, p float64, options ...Option) Step {
	return stepOf(program.RandomPerspective, options, distortion, p)
}

// ElasticTransform moves every pixel by a random vector: torchvision's ElasticTransform, whose defaults are
// ElasticTransform(50, 5). Alpha is the strength, and sigma the standard deviation in pixels of the Gaussian that
// smooths the vectors. The result is within one level of torchvision's for the same vectors, but stays in range with
// Bicubic.
//
// [Interpolation] is [Bilinear] by default, or [Nearest] or [Bicubic], and [Fill] black.
func ElasticTransform(alpha, sigma float64, options ...Option) Step {
	return stepOf(program.ElasticTransform, options, alpha, sigma)
}
