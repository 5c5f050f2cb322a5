package transform

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/engine"
)

// An Option is a keyword argument of a step, such as [Interpolation], or a setting of
// [Images] and [Compile], such as [MaxPixels]. The documentation of a step lists its options
// with their defaults. An option that a step does not have, one that is given twice and one
// that is out of range are errors of Images and Compile, which name the step and the option.
type Option struct {
	*call
	key     keyword                  // of an argument
	set     func(a *arguments) error // of an argument
	use     func(p *program) error   // of a setting
	several bool                     // may be there more than once
}

// argument makes an option of steps.
func argument(key keyword, c *call, set func(a *arguments) error) Option {
	return Option{call: c, key: key, set: set}
}

// always is what sets an argument that cannot be out of range.
func always(set func(a *arguments)) func(a *arguments) error {
	return func(a *arguments) error {
		set(a)
		return nil
	}
}

// Interpolation is the filter with which a step resamples, torchvision's interpolation.
// The default is [Bilinear] for resizes, [RandomPerspective], [ElasticTransform] and
// [AugMix], and [Nearest] for [RandomRotation], [RandomAffine], [RandAugment],
// [TrivialAugmentWide] and [AutoAugment], as in torchvision. Steps other than resizes take
// Nearest, Bilinear and [Bicubic], and do not antialias.
func Interpolation(f Filter) Option {
	return argument(keyInterpolation, named("Interpolation", f), func(a *arguments) error {
		a.interpolation = f
		return checkFilter(f)
	})
}

// MaxSize is the greatest length of the longer side, in pixels, for [Resize] with one number
// and [RandomShortestSize]. By default there is none.
func MaxSize(n int) Option {
	return argument(keyMaxSize, named("MaxSize", n), func(a *arguments) error {
		a.maxSize = n
		if n < 1 || n > maxSide {
			return errors.New("want a positive MaxSize")
		}
		return nil
	})
}

// ranged makes an option that is a range of numbers above 0.
func ranged(key keyword, name string, least, greatest float64, of func(a *arguments) *engine.Span) Option {
	return argument(key, named(name, least, greatest), func(a *arguments) error {
		s := of(a)
		*s = engine.Span{Least: least, Greatest: greatest}
		return s.Check(name)
	})
}

// Scale is from which range a step draws: the area of [RandomResizedCrop] and of
// [RandomErasing], and the width and height of [RandomIoUCrop], as parts of the image's; the
// factor by which [RandomAffine] enlarges, and that of [ScaleJitter].
func Scale(least, greatest float64) Option {
	return ranged(keyScale, "Scale", least, greatest, func(a *arguments) *engine.Span { return &a.scale })
}

// Ratio is the range of a part's width over its height for [RandomResizedCrop] and
// [RandomIoUCrop], and of height over width for [RandomErasing].
func Ratio(least, greatest float64) Option {
	return ranged(keyRatio, "Ratio", least, greatest, func(a *arguments) *engine.Span { return &a.ratio })
}

// Fill is the colour of what was outside of the image, from 0 to 255: one number for red, green
// and blue, or one for each. The default is black. For [Mask] and [Masks] it is the number of such
// pixels, and for [Depth16] their value, one for all channels or one per channel, on the scale of
// the stored values.
func Fill(values ...float64) Option {
	values = slices.Clone(values)
	return argument(keyFill|keyLevel, named("Fill", figures.Anys(values)...), func(a *arguments) error {
		a.fill = values
		if len(values) == 0 {
			return errors.New("want a Fill of one number or more")
		}
		return nil
	})
}

// PaddingMode says how [Pad] and the padding of [RandomCrop] are filled. The default is
// [Constant].
func PaddingMode(m PadMode) Option {
	return argument(keyPaddingMode, named("PaddingMode", m), func(a *arguments) error {
		a.mode = m
		if m > Symmetric {
			return fmt.Errorf("want the PaddingMode Constant, Edge, Reflect or Symmetric, not number %d", m)
		}
		return nil
	})
}

// Padding pads the image before [RandomCrop]. Its widths are those of [Pad].
func Padding(widths ...int) Option {
	widths = slices.Clone(widths)
	return argument(keyPadding, named("Padding", figures.Anys(widths)...), func(a *arguments) error {
		a.padding = widths
		return checkWidths(widths)
	})
}

// PadIfNeeded pads images that are smaller than a [RandomCrop]. As in torchvision, each of the
// two sides gets as many pixels as are missing in all.
func PadIfNeeded() Option {
	return argument(keyPadIfNeeded, named("PadIfNeeded"), always(func(a *arguments) { a.needed = true }))
}

// Floor rounds the corner of a [CenterCrop] down to a whole pixel, as Hugging Face's
// transformers does. Where an odd number of pixels is missing, one more is added at the top or
// left.
func Floor() Option {
	return argument(keyFloor, named("Floor"), always(func(a *arguments) { a.floor = true }))
}

// Expand makes the result of [RandomRotation] large enough for the whole rotated image, so its
// size varies.
func Expand() Option {
	return argument(keyExpand, named("Expand"), always(func(a *arguments) { a.expand = true }))
}

// Center is the point, in pixels from the upper left corner, that stays where it is in
// [RandomRotation] and, but for Translate, in [RandomAffine]. The default is the image's centre.
func Center(x, y float64) Option {
	return argument(keyCenter, named("Center", x, y), func(a *arguments) error {
		a.center = [2]float64{x, y}
		if !(math.Abs(x) <= maxSide && math.Abs(y) <= maxSide) {
			return errors.New("want a finite Center, at most 2^20 pixels away")
		}
		return nil
	})
}

// Translate moves the image of [RandomAffine] by up to x of its width and y of its height, each
// from 0 to 1, to both sides. The default is 0.
func Translate(x, y float64) Option {
	return argument(keyTranslate, named("Translate", x, y), func(a *arguments) error {
		a.translate = [2]float64{x, y}
		if !(x >= 0 && x <= 1 && y >= 0 && y <= 1) {
			return errors.New("want a Translate from 0 to 1")
		}
		return nil
	})
}

// Shear is the angles in degrees by which [RandomAffine] shears: parallel to the x axis between
// the first and the second, and parallel to the y axis between a third and a fourth. The default
// is 0.
func Shear(degrees ...float64) Option {
	degrees = slices.Clone(degrees)
	return argument(keyShear, named("Shear", figures.Anys(degrees)...), func(a *arguments) error {
		n := len(degrees)
		if n != 2 && n != 4 {
			return errors.New("want a Shear of 2 or 4 angles")
		}
		a.shearX = engine.Span{Least: degrees[0], Greatest: degrees[1]}
		if n == 4 {
			a.shearY = engine.Span{Least: degrees[2], Greatest: degrees[3]}
		}
		return errors.Join(a.shearX.CheckAngles("angles of Shear"), a.shearY.CheckAngles("angles of Shear"))
	})
}

// Sigma is the range from which [GaussianBlur] draws its standard deviation, in pixels. The
// default is 0.1 to 2.
func Sigma(least, greatest float64) Option {
	return ranged(keySigma, "Sigma", least, greatest, func(a *arguments) *engine.Span { return &a.sigma })
}

// factor makes an option of RandomPhotometricDistort.
func factor(key keyword, at int, name string, least, greatest float64) Option {
	return argument(key, named(name, least, greatest), func(a *arguments) error {
		a.distort[at] = engine.Span{Least: least, Greatest: greatest}
		if !(least >= 0 && least <= greatest && greatest < math.MaxFloat32) {
			return fmt.Errorf("want finite factors of %s, 0 or more, with the least number first", name)
		}
		return nil
	})
}

// Brightness is the range of a factor of [RandomPhotometricDistort]. The default is 0.875 to
// 1.125.
func Brightness(least, greatest float64) Option {
	return factor(keyBrightnesses, 0, "Brightness", least, greatest)
}

// Contrast is the range of a factor of [RandomPhotometricDistort]. The default is 0.5 to 1.5.
func Contrast(least, greatest float64) Option {
	return factor(keyContrasts, 1, "Contrast", least, greatest)
}

// Saturation is the range of a factor of [RandomPhotometricDistort]. The default is 0.5 to 1.5.
func Saturation(least, greatest float64) Option {
	return factor(keySaturations, 2, "Saturation", least, greatest)
}

// Hue is the range by which [RandomPhotometricDistort] rotates hue, in parts of the colour circle,
// within -0.5 to 0.5. The default is -0.05 to 0.05.
func Hue(least, greatest float64) Option {
	return argument(keyHues, named("Hue", least, greatest), func(a *arguments) error {
		a.distort[3] = engine.Span{Least: least, Greatest: greatest}
		if !(least >= -0.5 && least <= greatest && greatest <= 0.5) {
			return errors.New("want a Hue within -0.5 to 0.5, with the least number first")
		}
		return nil
	})
}

// Value is what [RandomErasing] writes: one number per channel, or one for all. The default is
// 0. It cannot be combined with [RandomValue].
func Value(v ...float64) Option {
	return argument(keyValue, named("Value", figures.Anys(v)...), always(func(a *arguments) {
		a.value = make([]float32, len(v))
		for i, v := range v {
			a.value[i] = float32(v)
		}
	}))
}

// RandomValue makes [RandomErasing] write random numbers from the standard normal distribution,
// torchvision's value="random". It cannot be combined with [Value].
func RandomValue() Option {
	return argument(keyNoise, named("RandomValue"), always(func(a *arguments) { a.noise = true }))
}

// NumMagnitudeBins is the number of magnitudes of [RandAugment] and [TrivialAugmentWide]. The
// default is 31.
func NumMagnitudeBins(n int) Option {
	return argument(keyBins, named("NumMagnitudeBins", n), func(a *arguments) error {
		a.bins = n
		return checkBins(n)
	})
}

// Severity is the number of magnitudes, 1 to 10, from which [AugMix] draws one. The default is
// 3.
func Severity(n int) Option {
	return argument(keySeverity, named("Severity", n), func(a *arguments) error {
		a.severity = n
		if n < 1 || n > mixBins {
			return errors.New("want a Severity from 1 to 10")
		}
		return nil
	})
}

// MixtureWidth is the number of chains of [AugMix]. The default is 3.
func MixtureWidth(n int) Option {
	return argument(keyMixtureWidth, named("MixtureWidth", n), func(a *arguments) error {
		a.width = n
		if n < 1 || n > maxSide {
			return errors.New("want a MixtureWidth of 1 or more")
		}
		return nil
	})
}

// ChainDepth is the number of augmentations in a chain of [AugMix]. The default, -1, is a random
// number from 1 to 3 for each chain.
func ChainDepth(n int) Option {
	return argument(keyChainDepth, named("ChainDepth", n), func(a *arguments) error {
		a.depth = n
		if n < 1 && n != -1 {
			return errors.New("want a ChainDepth of 1 or more, or -1")
		}
		return nil
	})
}

// Alpha is the parameter of the distributions of the weights of [AugMix], Dirichlet's. The
// default is 1.
func Alpha(a float64) Option {
	return argument(keyAlpha, named("Alpha", a), func(to *arguments) error {
		to.alpha = a
		if !(a > 0 && a <= maxSide) {
			return errors.New("want a finite Alpha above 0")
		}
		return nil
	})
}

// AllOps says whether [AugMix] uses brightness, colour, contrast and sharpness. The default is
// true.
func AllOps(all bool) Option {
	return argument(keyAllOps, named("AllOps", all), always(func(a *arguments) { a.few = !all }))
}

// P sets how probable each step of [RandomChoice] is compared with the others: one number per
// step, 0 or more. They need not add up to 1. The default are equal ones.
func P(p ...float64) Option {
	p = slices.Clone(p)
	return argument(keyWeights, named("P", figures.Anys(p)...), always(func(a *arguments) { a.weights = p }))
}

// SideRange is how many times as wide and high as the image the canvas of [RandomZoomOut] is. Both
// numbers are from 1 to 1048576. The default is 1 to 4.
func SideRange(least, greatest float64) Option {
	return argument(keySideRange, named("SideRange", least, greatest), func(a *arguments) error {
		a.side = engine.Span{Least: least, Greatest: greatest}
		if !(least >= 1 && least <= greatest && greatest <= maxSide) {
			return fmt.Errorf("want a SideRange from 1 to %d, with the least number first", maxSide)
		}
		return nil
	})
}

// SamplerOptions are the least IoUs of which [RandomIoUCrop] draws one: 1 or more leaves the image
// as it is. The default is 0, 0.1, 0.3, 0.5, 0.7, 0.9, 1. Without an option of 1, an image stays as
// it is after 1000 options for which no part was found, where torchvision would go on.
func SamplerOptions(ious ...float64) Option {
	ious = slices.Clone(ious)
	return argument(keySamplerOptions, named("SamplerOptions", figures.Anys(ious)...), func(a *arguments) error {
		a.ious = ious
		if len(ious) == 0 || slices.ContainsFunc(ious, func(o float64) bool { return !(o >= 0) }) {
			return errors.New("want SamplerOptions of 0 or more")
		}
		return nil
	})
}

// Trials is how many parts [RandomIoUCrop] tries per option. The default is 40.
func Trials(n int) Option {
	return argument(keyTrials, named("Trials", n), func(a *arguments) error {
		a.trials = n
		if n < 1 {
			return errors.New("want Trials of 1 or more")
		}
		return nil
	})
}

// MinSize is the least width and height of a box that [SanitizeBoundingBoxes] keeps, in pixels: 1
// or more. The default is 1.
func MinSize(n float64) Option {
	return argument(keyMinSize, named("MinSize", n), func(a *arguments) error {
		a.minSize = n
		if !(n >= 1) {
			return errors.New("want a MinSize of 1 or more")
		}
		return nil
	})
}

// MinArea is the least area of a box that [SanitizeBoundingBoxes] keeps, in pixels: 1 or more. The
// default is 1.
func MinArea(n float64) Option {
	return argument(keyMinArea, named("MinArea", n), func(a *arguments) error {
		a.minArea = n
		if !(n >= 1) {
			return errors.New("want a MinArea of 1 or more")
		}
		return nil
	})
}

// VerticalFlip makes [TenCrop] mirror top to bottom instead of left to right.
func VerticalFlip() Option {
	return argument(keyVerticalFlip, named("VerticalFlip"), always(func(a *arguments) { a.vertical = true }))
}

// Scaled is scale=True of torchvision's ToDtype: see [ToDtype].
func Scaled() Option {
	return argument(keyScaled, named("Scaled"), always(func(a *arguments) { a.scaled = true }))
}

// As is the field of the results of [Views]. The default is the field of the images.
func As(field string) Option {
	return argument(keyAs, named("As", quoted(field)...), func(a *arguments) error {
		a.field = field
		if field == "" {
			return errors.New("want As with a name")
		}
		return nil
	})
}

// Fields are the fields of the images and of the labels for [MixUp] and [CutMix]. The default is
// "image" and "label".
func Fields(image, label string) Option {
	return argument(keyNames, named("Fields", quoted(image, label)...), always(func(a *arguments) { a.image, a.label = image, label }))
}

// Probability is how likely [MixUp] and [CutMix] mix a batch. The labels of other batches become
// float32 rows, too. The default is 1.
func Probability(p float64) Option {
	return argument(keyProbability, named("Probability", p), func(a *arguments) error {
		a.probability = p
		if !(p >= 0 && p <= 1) {
			return errors.New("want a Probability from 0 to 1")
		}
		return nil
	})
}

// Dtype is that of the result of [Mask] and [Masks]: dataset.Uint8, which is the default,
// dataset.Uint16 or dataset.Int32 for numbers above 255, or dataset.Int64, as PyTorch's losses take
// class numbers. A file with 16 bits per pixel is an error where the result is uint8.
func Dtype(dt dataset.Dtype) Option {
	return argument(keyDtype, named("Dtype", dt), always(func(a *arguments) { a.dtype = dt }))
}

// SegmentIDs says that the files of [Mask] are PNG files in colour that hold a number of 24 bits per
// pixel, red + 256·green + 65536·blue: the segments of COCO's panoptic annotations. [Dtype] must
// be dataset.Int32 or dataset.Int64.
func SegmentIDs() Option {
	return argument(keySegmentIDs, named("SegmentIDs"), always(func(a *arguments) { a.ids = true }))
}

// With names the ragged fields that have a row per element of the field of [Boxes] or [KeyPoints]:
// labels, areas, keypoints of the same objects. What removes elements removes their rows too, and a
// sample with another number of rows is an error.
func With(fields ...string) Option {
	fields = slices.Clone(fields)
	return argument(keyWith, named("With", quoted(fields...)...), always(func(a *arguments) { a.rows = fields }))
}
