package transform

import (
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/raster"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// Depth16 keeps the values of images with more than 8 bits per sample or with other
// channels than red, green and blue: medical images, depth maps, satellite bands. Without
// it every image becomes RGB of 8 bits. All images have this number of channels, from 1 to
// 4,096; an image with another number is an error.
//
// Files are PNG of 16 bits (1 to 4 channels; grey with alpha has 2), TIFF of 16 bits,
// signed or not, or of float32 with any number of samples per pixel, PGM, PPM and PFM, and
// those of [Decoder]. Samples with fewer bits are scaled to 16 bits, as 257·x for 8 bits,
// and files of other formats have 3 such channels. Alpha is a channel like any other. If
// the field holds arrays, they are uint8, uint16, int16 or float32 of shape (h, w), (h, w,
// channels) or (channels, h, w), and their values stay as they are.
//
// Steps that only crop, flip and pad keep all values bit for bit. A resize has the filters
// of torchvision's tensors, with antialias; Nearest is its NEAREST_EXACT. Values of
// integers are rounded after it. Warps ([RandomRotation], [RandomAffine],
// [RandomPerspective], [ElasticTransform]), changes of colours and the policies
// ([RandAugment], [TrivialAugmentWide], [AutoAugment], [AugMix]) are those of torchvision's
// tensors too. The random draws are those of images of 8 bits. Integers lose their fraction
// after changes of colours.
//
// [Grayscale], [RandomGrayscale], [RandomPhotometricDistort], the policies, and saturation and
// hue of [ColorJitter] need 1 or 3 channels. [JPEG], and the filter Bicubic of the
// policies and of warps other than [ElasticTransform] are errors; torchvision has no JPEG and no such
// filter for these tensors either. For your own steps use [Apply].
//
// The result is uint16, or the dtype of the arrays, of shape (h, w, channels), or
// (channels, h, w) with [PILToTensor]. [ToDtype] makes it int32 or float32 without changing
// values. [ToTensor] makes float32 values from 0 to 1: integers are divided by the greatest
// one of their dtype, such as 65535, and floats stay as they are. [Normalize] takes a mean
// and a standard deviation per channel. A file of signed or floating-point samples is an
// error if the result is uint16. [MaxPixels] counts each channel of a pixel.
//
// [Fill] sets what is outside the image after crops, pads and warps: one value per channel, or one for all,
// on the scale of the stored values. The default is 0. An image whose dtype does not have them is an error, such
// as one of uint16 if a value is below 0. The Fill of single steps, a colour of 8 bits, is an error.
func Depth16(channels int, options ...Option) Option {
	d := deepSetting{calling("Depth16", keyLevel, arguments{}, options, channels), channels}
	return setting(d.call, d.add)
}

type deepSetting struct {
	*call
	channels int
}

func (s deepSetting) add(p *program) error {
	if s.channels < 1 || s.channels > raster.MaxChannels {
		return fmt.Errorf("want 1 to %d channels", raster.MaxChannels)
	}
	if n := len(s.fill); n > 1 && n != s.channels {
		return errors.New("want a Fill per channel, or one for all")
	}
	p.Deep = &engine.DeepPlan{Channels: s.channels, Text: s.String()}
	for _, v := range s.fill {
		p.Deep.Fill = append(p.Deep.Fill, float32(v))
	}
	return nil
}

var (
	errColours = errors.New("not with Depth16: it works with colours of 8 bits")
	errFill    = errors.New("want the Fill of Depth16 instead, with a value per channel")
)

// filled are steps with a colour of 8 bits.
type filled interface{ filling() [3]uint8 }

func (s centerCropping) filling() [3]uint8 { return s.colour }

func (s padding) filling() [3]uint8 { return s.colour }

func (s zoomingOut) filling() [3]uint8 { return s.colour }

func (s fixedCropping) filling() [3]uint8 { return s.colour }

// takes is the error of a geometry that does not work with Depth16.
func (p *program) takes(g geometry) error {
	if f, ok := g.(filled); p.Deep != nil && ok && f.filling() != [3]uint8{} {
		return errFill
	}
	return nil
}

// castDeep is ToDtype for images of Depth16.
func castDeep(o *engine.Output, dt dataset.Dtype) error {
	switch {
	case o.Cast && o.Dtype != dt:
		return fmt.Errorf("the result is %s already", o.Dtype)
	case dt == dataset.Float16, dt == dataset.BFloat16:
		if !o.Float {
			return errors.New("want ToTensor before it")
		}
	case dt == dataset.Float32 && o.Float:
	case dt == dataset.Float32:
		o.Float = true // the values as they are
		o.Calls = append(o.Calls, "values")
	case dt != dataset.Uint16 && dt != dataset.Int32:
		return errors.New("want dataset.Uint16, dataset.Int32, dataset.Float32, dataset.Float16 or dataset.BFloat16")
	case o.Float:
		return errors.New("want it without ToTensor")
	}
	o.Dtype, o.Cast = dt, true
	return nil
}

// deepRaw sets up images that the dataset gives as arrays.
func (p *program) deepRaw(f dataset.Field) (source.Raw, error) {
	r, err := source.ArraysOf(f, p.Deep.Channels)
	if err != nil {
		return r, err
	}
	outputs := []*engine.Output{&p.Output}
	for _, v := range p.groups {
		outputs = append(outputs, &v.program.Output)
	}
	for _, o := range outputs {
		if !o.Float && !o.Cast {
			o.Dtype = f.Dtype
		}
		if o.Holds(f.Dtype) != nil {
			return r, fmt.Errorf("%s does not hold its values: want ToTensor or another ToDtype", o.Dtype)
		}
	}
	return r, nil
}

// greyOrRGB is the error of steps with colours if the image has none.
func (p *program) greyOrRGB() error {
	if n := p.Output.Channels; p.Deep != nil && n != 1 && n != 3 {
		return fmt.Errorf("want 1 or 3 channels, not %d: the others are no colours", n)
	}
	return nil
}

// regroups is the error of a change of the number of channels.
func (p *program) regroups(channels int) error {
	if d := p.Deep; d != nil && d.Channels != channels && len(d.Fill) > 1 {
		return errors.New("want a Fill of Depth16 for all channels")
	}
	return nil
}

// painted are steps that say how a warp fills its result.
type painted interface{ paints() painter }

// warps is the error of a warp that does not work with Depth16.
func (p *program) warps(s any) error {
	paints, ok := s.(painted)
	_, bends := s.(elastic)
	switch {
	case p.Deep == nil:
	case !ok:
		return errColours
	case paints.paints().fill != [3]uint8{}:
		return errFill
	case paints.paints().filter == Bicubic && !bends:
		return errors.New("want the Interpolation Nearest or Bilinear with Depth16, as torchvision's tensors have")
	}
	return nil
}
