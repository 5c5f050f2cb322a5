package transform

import (
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/program"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// An Option is a keyword argument of a step, such as [Interpolation], or a setting of [Images] and [Compile], such as
// [MaxPixels]. An option that a step does not have is an error of Images and Compile that names both.
type Option struct{ c *program.Call }

func (o Option) item() {}

// String prints the option as the call that made it.
func (o Option) String() string {
	if o.c == nil {
		return "Option{}"
	}
	return o.c.String()
}

// optionOf makes an option of steps, or a setting without options.
func optionOf(k *program.Kind, args ...any) Option { return Option{program.New(k, nil, args...)} }

// setting makes a setting.
func setting(k *program.Kind, options []Option, args ...any) Option {
	return Option{program.New(k, calls(options), args...)}
}

// calls are options as data.
func calls(options []Option) []*program.Call {
	all := make([]*program.Call, len(options))
	for i, o := range options {
		all[i] = o.c
	}
	return all
}

// Interpolation is the filter with which a step resamples, torchvision's interpolation. Steps other than resizes take
// [Nearest], [Bilinear] and [Bicubic], and do not antialias.
func Interpolation(f Filter) Option { return optionOf(program.Interpolation, resize.Filter(f)) }

// MaxSize is the greatest length of the longer side, in pixels, for [Resize] with one number and [RandomShortestSize].
func MaxSize(n int) Option { return optionOf(program.MaxSize, n) }

// Scale is the range of an area or of sides, as parts of the image's, or of a factor: the step says which.
func Scale(least, greatest float64) Option { return optionOf(program.Scale, least, greatest) }

// Ratio is the range of a part's width over its height, for [RandomErasing] of height over width.
func Ratio(least, greatest float64) Option { return optionOf(program.Ratio, least, greatest) }

// Fill is the colour of what was outside of the image, from 0 to 255: one number for red, green and blue, or one for
// each. With [Depth16] it has one number for all channels or one per channel, on the scale of the stored values. For
// [Mask] and [Masks] it is the number of such pixels. The default is 0.
func Fill(values ...float64) Option { return optionOf(program.Fill, figures.Anys(values)...) }

// PaddingMode says how [Pad] and the padding of [RandomCrop] are filled. The default is [Constant].
func PaddingMode(m PadMode) Option { return optionOf(program.PaddingMode, raster.PadMode(m)) }

// Padding pads the image before [RandomCrop]. Its widths are those of [Pad].
func Padding(widths ...int) Option { return optionOf(program.Padding, figures.Anys(widths)...) }

// PadIfNeeded pads images that are smaller than a [RandomCrop]: as in torchvision, each of the two sides gets as many
// pixels as are missing in all.
func PadIfNeeded() Option { return optionOf(program.PadIfNeeded) }

// Floor rounds the corner of a [CenterCrop] down to a whole pixel, as Hugging Face's transformers does.
func Floor() Option { return optionOf(program.Floor) }

// Expand makes the result of [RandomRotation] large enough for the whole rotated image, so its size varies.
func Expand() Option { return optionOf(program.Expand) }

// Center is the point, in pixels from the upper left corner, around which [RandomRotation] and [RandomAffine] turn.
func Center(x, y float64) Option { return optionOf(program.Center, x, y) }

// Translate moves the image of [RandomAffine] by up to x of its width and y of its height, each from 0 to 1, to both
// sides. The default is 0.
func Translate(x, y float64) Option { return optionOf(program.Translate, x, y) }

// Shear is the angles in degrees by which [RandomAffine] shears: along the x axis between the first and the second,
// and along the y axis between a third and a fourth.
func Shear(degrees ...float64) Option { return optionOf(program.Shear, figures.Anys(degrees)...) }

// Sigma is the range from which [GaussianBlur] draws its standard deviation, in pixels. The default is 0.1 to 2.
func Sigma(least, greatest float64) Option { return optionOf(program.Sigma, least, greatest) }

// Value is what [RandomErasing] writes: one number per channel, or one for all.
func Value(v ...float64) Option { return optionOf(program.Value, figures.Anys(v)...) }

// Merge is the side of the squares of patches in which [Patches] go through the image. The default is 1.
func Merge(n int) Option { return optionOf(program.Merge, n) }

// Frames is how often [Patches] store every pixel. The default is 1.
func Frames(n int) Option { return optionOf(program.Frames, n) }

// MaxPatches gives the result of [Patches] n rows, of which those after the last patch are 0. An image with more is an
// error. With [Ragged] the result has no such rows.
func MaxPatches(n int) Option { return optionOf(program.MaxPatches, n) }

// RandomValue makes [RandomErasing] write random numbers from the standard normal distribution: value="random".
func RandomValue() Option { return optionOf(program.RandomValue) }

// NumMagnitudeBins is the number of magnitudes of [RandAugment] and [TrivialAugmentWide]. The default is 31.
func NumMagnitudeBins(n int) Option { return optionOf(program.NumMagnitudeBins, n) }

// Severity is the number of magnitudes, 1 to 10, from which [AugMix] draws one. The default is 3.
func Severity(n int) Option { return optionOf(program.Severity, n) }

// Alpha is the parameter of the distributions of the weights of [AugMix], Dirichlet's. The default is 1.
func Alpha(a float64) Option { return optionOf(program.Alpha, a) }

// AllOps says whether [AugMix] uses brightness, colour, contrast and sharpness. The default is true.
func AllOps(all bool) Option { return optionOf(program.AllOps, all) }

// P sets how probable each step of [RandomChoice] is compared with the others: one number per step, 0 or more.
func P(p ...float64) Option { return optionOf(program.P, figures.Anys(p)...) }

// SideRange is how many times as wide and high as the image the canvas of [RandomZoomOut] is. Both numbers are from 1
// to 1048576. The default is 1 to 4.
func SideRange(least, greatest float64) Option { return optionOf(program.SideRange, least, greatest) }

// MinSize is the least width and height of a box that [SanitizeBoundingBoxes] keeps, in pixels: 1 or more. The
// default is 1.
func MinSize(n float64) Option { return optionOf(program.MinSize, n) }

// MinArea is the least area of a box that [SanitizeBoundingBoxes] keeps, in pixels: 1 or more. The default is 1.
func MinArea(n float64) Option { return optionOf(program.MinArea, n) }

// VerticalFlip makes [TenCrop] mirror top to bottom instead of left to right.
func VerticalFlip() Option { return optionOf(program.VerticalFlip) }

// Scaled is scale=True of torchvision's ToDtype: see [ToDtype].
func Scaled() Option { return optionOf(program.Scaled) }

// As is the field of the results of [Views]. The default is the field of the images.
func As(field string) Option { return optionOf(program.As, program.Text(field)) }

// Fields are the fields of the images and of the labels for [MixUp] and [CutMix]. The default is "image" and "label".
func Fields(image, label string) Option {
	return optionOf(program.Fields, program.Text(image), program.Text(label))
}

// Probability is how likely [MixUp] and [CutMix] mix a batch. The labels of other batches become float32 rows, too.
// The default is 1.
func Probability(p float64) Option { return optionOf(program.Probability, p) }

// Dtype is that of the result of [Mask] and [Masks]: dataset.Uint8, dataset.Uint16, dataset.Int32, or dataset.Int64,
// as PyTorch's losses take class numbers.
func Dtype(dt dataset.Dtype) Option { return optionOf(program.Dtype, dt) }

// SegmentIDs says that the files of [Mask] are PNG files in colour that hold a number per pixel, red + 256·green +
// 65536·blue: the segments of COCO's panoptic annotations.
func SegmentIDs() Option { return optionOf(program.SegmentIDs) }

// With names the ragged fields that have a row per element of the field of [Boxes] or [KeyPoints]: labels, areas,
// keypoints of the same objects. What removes elements removes their rows too.
func With(fields ...string) Option { return optionOf(program.Rows, program.Texts(fields...)...) }
