package program

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// forms are all steps and settings that JSON can hold, with torchvision's names of classes and arguments, and its defaults. What torchvision
// does not have stands under its name in package transform.
var forms = []form{
	// Resizes.
	{Kind: Resize, keys: []key{own("size", size), interpolation, option("max_size", MaxSize, whole), antialias}},
	{Kind: RandomResizedCrop, keys: []key{own("size", size), option("scale", Scale, span), option("ratio", Ratio, span), interpolation, antialias}},
	{Kind: ScaleJitter, keys: []key{own("target_size", size), option("scale_range", Scale, span), interpolation, antialias}},
	{Kind: RandomShortestSize, keys: []key{own("min_size", sizes), option("max_size", MaxSize, whole), interpolation, antialias}},
	{Kind: RandomResize, keys: []key{own("min_size", whole), own("max_size", whole), interpolation, antialias}},
	{Kind: LetterBox, keys: []key{own("size", size), interpolation, fill}},

	// Crops, pads and flips.
	{Kind: CenterCrop, keys: []key{own("size", size), fill, option("floor", Floor, flag)}},
	{Kind: Crop, keys: []key{own("top", whole), own("left", whole), own("height", whole), own("width", whole)}},
	{Kind: RandomCrop, keys: []key{own("size", size), option("padding", Padding, widths), option("pad_if_needed", PadIfNeeded, flag), fill, paddingMode}},
	{Kind: Pad, keys: []key{own("padding", frame), fill, paddingMode}},
	{Kind: PadTo, keys: []key{own("size", size)}},
	{Kind: RandomZoomOut, keys: []key{fill, option("side_range", SideRange, span), chanceOf("0.5")}},
	{Kind: FixedSizeCrop, keys: []key{own("size", size), fill}},
	{Kind: FiveCrop, keys: []key{own("size", size)}},
	{Kind: TenCrop, keys: []key{own("size", size), option("vertical_flip", VerticalFlip, flag)}},
	{Kind: RandomHorizontalFlip, keys: []key{chanceOf("0.5")}},
	{Kind: RandomVerticalFlip, keys: []key{chanceOf("0.5")}},
	{Kind: ExifTranspose},

	// Warps.
	{Kind: RandomRotation, keys: []key{own("degrees", angles), interpolation, option("expand", Expand, flag), option("center", Center, span), fill}},
	{Kind: RandomAffine, keys: []key{
		own("degrees", angles), option("translate", Translate, span), option("scale", Scale, span), option("shear", Shear, numbers), interpolation, fill,
		option("center", Center, span),
	}},
	{Kind: RandomPerspective, keys: []key{own("distortion_scale", number).or("0.5"), chanceOf("0.5"), interpolation, fill}},
	{Kind: ElasticTransform, keys: []key{own("alpha", number).or("50"), own("sigma", number).or("5"), interpolation, fill}},

	// Colours.
	{Kind: ColorJitter, keys: []key{
		own("brightness", factor).or("0"), own("contrast", factor).or("0"), own("saturation", factor).or("0"), own("hue", factor).or("0"),
	}},
	{Kind: Grayscale, keys: []key{own("num_output_channels", whole).or("1")}},
	{Kind: RandomGrayscale, keys: []key{chanceOf("0.1")}},
	{Kind: GaussianBlur, keys: []key{own("kernel_size", kernel), option("sigma", Sigma, deviations)}},
	{Kind: GaussianNoise, keys: []key{own("mean", number).or("0"), own("sigma", number).or("0.1"), only("clip", "true", truth)}},
	{Kind: RandomAdjustSharpness, keys: []key{own("sharpness_factor", number), chanceOf("0.5")}},
	{Kind: RandomPosterize, keys: []key{own("bits", whole), chanceOf("0.5")}},
	{Kind: RandomSolarize, keys: []key{own("threshold", number), chanceOf("0.5")}},
	{Kind: RandomInvert, keys: []key{chanceOf("0.5")}},
	{Kind: RandomAutocontrast, keys: []key{chanceOf("0.5")}},
	{Kind: RandomEqualize, keys: []key{chanceOf("0.5")}},
	{Kind: RandomChannelPermutation},
	{Kind: RandomPhotometricDistort, keys: []key{
		only("brightness", "[0.875, 1.125]", span), only("contrast", "[0.5, 1.5]", span), only("saturation", "[0.5, 1.5]", span), only("hue", "[-0.05, 0.05]", span), chanceOf("0.5"),
	}},
	{Kind: JPEG, keys: []key{own("quality", qualities)}},
	{Kind: RandAugment, keys: []key{own("num_ops", whole).or("2"), own("magnitude", whole).or("9"), bins, interpolation, fill}},
	{Kind: TrivialAugmentWide, keys: []key{bins, interpolation, fill}},
	{Kind: AutoAugment, keys: []key{own("policy", policies).or(`"imagenet"`), interpolation, fill}},
	{Kind: AugMix, keys: []key{
		option("severity", Severity, whole), only("mixture_width", "3", number), only("chain_depth", "-1", number), option("alpha", Alpha, number), option("all_ops", AllOps, truth),
		interpolation, fill,
	}},

	// What the result is.
	{Kind: ToTensor},
	{Kind: PILToTensor},
	{Kind: ToDtype, keys: []key{own("dtype", dtypes), option("scale", Scaled, flag)}},
	{Kind: Normalize, keys: []key{own("mean", channels), own("std", channels)}},
	{Kind: Rescale, keys: []key{own("factor", number)}},
	{Kind: BGR},
	{Kind: RandomErasing, keys: []key{
		chanceOf("0.5"), option("scale", Scale, span), option("ratio", Ratio, span), option("value", Value, numbers), option("value", RandomValue, word("random")),
	}},
	{Kind: Patches, keys: []key{
		own("side", whole), option("merge", Merge, whole), option("frames", Frames, whole), option("max_patches", MaxPatches, whole), option("layout", Layout, axes),
	}},
	{Kind: UniformTemporalSubsample, keys: []key{own("num_samples", whole)}},

	// Boxes and keypoints.
	{Kind: ConvertBoundingBoxFormat, keys: []key{own("format", formats)}},
	{Kind: ClampBoundingBoxes},
	{Kind: SanitizeBoundingBoxes, keys: []key{option("min_size", MinSize, number), option("min_area", MinArea, number)}},
	{Kind: ClampKeyPoints},
	{Kind: SanitizeKeyPoints},
	{Kind: RandomIoUCrop, keys: []key{
		option("min_scale", Scale, number).or("0.3"), option("max_scale", Scale, number).or("1"),
		option("min_aspect_ratio", Ratio, number).or("0.5"), option("max_aspect_ratio", Ratio, number).or("2"),
		only("sampler_options", "[0, 0.1, 0.3, 0.5, 0.7, 0.9, 1]", numbers), only("trials", "40", number),
	}},

	// Steps that have others.
	{Kind: Compose, nests: true},
	{Kind: Preset, nests: true, keys: []key{option("name", titles, text)}},
	{Kind: RandomApply, nests: true, keys: []key{chanceOf("0.5")}},
	{Kind: RandomChoice, nests: true, keys: []key{option("p", P, numbers)}},
	{Kind: RandomOrder, nests: true},
	{Kind: Views, nests: true, keys: []key{own("n", whole), option("as", As, text)}},

	// Settings.
	{Kind: Field, setting: true, keys: []key{own("name", text)}},
	{Kind: MaxPixels, setting: true, keys: []key{own("n", whole)}},
	{Kind: MaxMemory, setting: true, keys: []key{own("n", whole)}},
	{Kind: Pillow, setting: true, keys: []key{own("version", whole)}},
	{Kind: AllowTruncated, setting: true},
	{Kind: Layout, setting: true, keys: []key{own("axes", axes)}},
	{Kind: Ragged, setting: true},
	{Kind: Sizes, setting: true, keys: []key{own("field", text)}},
	{Kind: Depth16, setting: true, keys: []key{own("channels", whole)}},
	{Kind: Boxes, setting: true, keys: []key{own("field", text), own("format", formats), option("with", Rows, texts)}},
	{Kind: KeyPoints, setting: true, keys: []key{own("field", text), option("with", Rows, texts)}},
	{Kind: Mask, setting: true, keys: []key{own("field", text), fill, option("dtype", Dtype, dtypes), option("segment_ids", SegmentIDs, flag)}},
	{Kind: Masks, setting: true, keys: []key{own("field", text), fill, option("dtype", Dtype, dtypes)}},
}

// functions are the steps and settings that JSON cannot hold.
var functions = []string{"Apply", "ResizeFunc", "TileFunc", "Tiles", "SizesFunc", "Decompressor"}

// titles stands for the text of a Preset among the options.
var titles = &Kind{}

// Keys that several steps have.
var (
	interpolation = option("interpolation", Interpolation, named((resize.Filter).String,
		resize.Bilinear, resize.Nearest, resize.Box, resize.Bicubic, resize.Lanczos, resize.Hamming, resize.OpenCVLinear, resize.OpenCVArea, resize.TensorFlowBilinear,
		resize.TorchBilinear, resize.TorchBicubic, resize.TorchLanczos))
	antialias   = only("antialias", "true", truth)
	fill        = option("fill", Fill, numbers)
	paddingMode = option("padding_mode", PaddingMode, named((raster.PadMode).String, raster.Constant, raster.Edge, raster.Reflect, raster.Symmetric))
	bins        = option("num_magnitude_bins", NumMagnitudeBins, whole)
)

// own is an argument of the step itself.
func own(name string, as codec) key { return key{name: name, codec: as} }

// option is an argument that is an option in package transform.
func option(name string, of *Kind, as codec) key { return key{name: name, of: of, codec: as} }

// chanceOf is the probability of a step.
func chanceOf(usual string) key { return own("p", number).or(usual) }

// only is an argument of torchvision's that has one value here.
func only(name, value string, as codec) key {
	v, _ := parse([]byte(value))
	want, _ := as.read(v)
	return own(name, codec{want: value + ", which is all that there is", read: func(v any) ([]any, bool) {
		args, ok := as.read(v)
		return nil, ok && reflect.DeepEqual(args, want)
	}}).or(value)
}

// or is the key with what is meant without it.
func (k key) or(usual string) key {
	k.usual = usual
	return k
}

// Kinds of values.
var (
	whole  = single("a whole number", wholeOf)
	number = single("a number", numberOf)
	truth  = single("true or false", is[bool])
	text   = single("a text", func(v any) (Text, bool) { s, ok := v.(string); return Text(s), ok })
	texts  = codec{"a list of texts", 0, func(v any) ([]any, bool) { all, ok := listOf(v, is[string]); return Texts(all...), ok }, all}
	// flag is an option without arguments.
	flag = codec{"true or false", 0, func(v any) ([]any, bool) {
		if v == true {
			return []any{}, true
		}
		return nil, v == false
	}, func([]any) any { return true }}

	numbers  = codec{"a number or a list of numbers", 0, several(numberOf), oneOrAll}
	channels = single("a number or a list of numbers", func(v any) ([]float32, bool) { return oneOrMore(v, singleOf) })
	span     = pair("two numbers", numberOf, func(float64) ([]any, bool) { return nil, false })
	angles   = pair("a number of 0 or more, or two numbers", numberOf, func(x float64) ([]any, bool) { return []any{-x, x}, x >= 0 })
	factor   = single("a number, or the least and the greatest factor", func(v any) (any, bool) {
		if both, ok := listOf(v, numberOf); ok && len(both) == 2 {
			return [2]float64(both), true
		}
		return numberOf(v)
	})
	deviations = pair("a number or two numbers", numberOf, func(x float64) ([]any, bool) { return []any{x, x}, true })
	qualities  = pair("a whole number or two of them", wholeOf, func(x int) ([]any, bool) { return []any{x, x}, true })

	size   = single("a whole number, or height and width", sizeOf)
	kernel = codec{"a whole number, or width and height", 1, func(v any) ([]any, bool) { s, ok := sizeOf(v); return []any{turned(s)}, ok },
		func(args []any) any { return turned(args[0]) }}
	sizes  = single("a whole number or a list of them", func(v any) ([]int, bool) { return oneOrMore(v, wholeOf) })
	widths = codec{"a whole number, or 2 or 4 of them", 0, several(wholeOf), oneOrAll}
	frame  = single("a whole number, or 2 or 4 of them", func(v any) (any, bool) {
		all, ok := oneOrMore(v, wholeOf)
		switch len(all) {
		case 1:
			return all[0], ok
		case 2:
			return [2]int(all), ok
		case 4:
			return [4]int(all), ok
		}
		return nil, false
	})

	dtypes  = named((dataset.Dtype).String, dataset.Uint8, dataset.Uint16, dataset.Int32, dataset.Int64, dataset.Float16, dataset.BFloat16, dataset.Float32)
	axes    = named((engine.Axes).String, engine.CHW, engine.HWC)
	formats = named(func(k dataset.Kind) string { return strings.ToUpper(strings.TrimPrefix(k.String(), "boxes ")) },
		dataset.BoxesXYXY, dataset.BoxesXYWH, dataset.BoxesCXCYWH)
	policies = named(func(p raster.Policy) string { return strings.ToLower(strings.TrimSuffix(p.String(), "Policy")) }, 0, 1, 2)
)

// word is an option without arguments that a text stands for.
func word(s string) codec {
	return codec{`"` + s + `"`, 0, func(v any) ([]any, bool) { return []any{}, v == s }, func([]any) any { return s }}
}

// named are values with names.
func named[T comparable](name func(T) string, values ...T) codec {
	var names []string
	for _, x := range values {
		names = append(names, name(x))
	}
	return codec{`"` + strings.Join(names, `", "`) + `"`, 1, func(v any) ([]any, bool) {
		s, _ := v.(string)
		i := slices.Index(names, s)
		return []any{values[max(i, 0)]}, i >= 0
	}, func(args []any) any {
		if !slices.Contains(values, args[0].(T)) {
			return nil
		}
		return name(args[0].(T))
	}}
}

// single is one argument.
func single[T any](want string, of func(v any) (T, bool)) codec {
	return codec{want, 1, func(v any) ([]any, bool) { x, ok := of(v); return []any{x}, ok }, func(args []any) any { return args[0] }}
}

// pair is two arguments. Alone are those that a single number stands for.
func pair[T any](want string, of func(v any) (T, bool), alone func(x T) ([]any, bool)) codec {
	return codec{want, 2, func(v any) ([]any, bool) {
		if x, ok := of(v); ok {
			return alone(x)
		}
		both, ok := listOf(v, of)
		return figures.Anys(both), ok && len(both) == 2
	}, all}
}

// several reads any number of arguments.
func several[T any](of func(v any) (T, bool)) func(v any) ([]any, bool) {
	return func(v any) ([]any, bool) { list, ok := oneOrMore(v, of); return figures.Anys(list), ok }
}

func all(args []any) any { return args }

func oneOrAll(args []any) any {
	if len(args) == 1 {
		return args[0]
	}
	return args
}

func is[T any](v any) (T, bool) { x, ok := v.(T); return x, ok }

func wholeOf(v any) (int, bool) {
	n, ok := v.(json.Number)
	x, err := strconv.Atoi(string(n))
	return x, ok && err == nil
}

func numberOf(v any) (float64, bool) {
	n, ok := v.(json.Number)
	x, err := n.Float64()
	return x, ok && err == nil
}

// singleOf is a number rounded once to float32, as a constant in Go is.
func singleOf(v any) (float32, bool) {
	n, ok := v.(json.Number)
	x, err := strconv.ParseFloat(string(n), 32)
	return float32(x), ok && err == nil
}

// sizeOf is an int, or a [2]int.
func sizeOf(v any) (any, bool) {
	if both, ok := listOf(v, wholeOf); ok && len(both) == 2 {
		return [2]int(both), true
	}
	return wholeOf(v)
}

// turned is a size with the other side first.
func turned(size any) any {
	if both, ok := size.([2]int); ok {
		return [2]int{both[1], both[0]}
	}
	return size
}

func listOf[T any](v any, of func(v any) (T, bool)) ([]T, bool) {
	list, ok := v.([]any)
	values := make([]T, len(list))
	for i := range list {
		x, is := of(list[i])
		values[i], ok = x, ok && is
	}
	return values, ok
}

func oneOrMore[T any](v any, of func(v any) (T, bool)) ([]T, bool) {
	if x, ok := of(v); ok {
		return []T{x}, true
	}
	return listOf(v, of)
}
