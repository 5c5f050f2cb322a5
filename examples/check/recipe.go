package main

import (
	"fmt"
	"image"
	"math"
	"slices"
)

// A recipe makes a tensor of an image: pixels of a geometry, and values of these pixels. That of the configuration is
// the base; a deviation changes one thing of it.
type recipe struct {
	geometry geometry
	values   values
}

// A geometry is which pixels a tensor shows.
type geometry struct {
	golang bool // decoded by image/jpeg
	turned bool // by the Exif orientation
	place  int  // of placements
	filter int  // of filters
	round  rounding
}

// values is what becomes of pixels from 0 to 255: (pixel·scale − mean) / std for every channel.
type values struct {
	scale     float64
	mean, std [3]float64
	swapped   bool // red and blue, before mean and std
	reversed  bool // the channels, after mean and std
	layout    layout
}

// layout is the order of a tensor's values.
type layout int

const (
	chw layout = iota
	hwc
	cwh
)

// at is the place of a value.
func (l layout) at(c, y, x, w, h int) int {
	switch l {
	case hwc:
		return 3*(y*w+x) + c
	case cwh:
		return (c*w+x)*h + y
	}
	return (c*h+y)*w + x
}

// channel says that channel c of the tensor is pixel channel p times a plus b.
func (v *values) channel(c int) (p int, a, b float64) {
	if v.reversed {
		c = 2 - c
	}
	p = c
	if v.swapped {
		p = 2 - c
	}
	return p, v.scale / v.std[c], -v.mean[c] / v.std[c]
}

// normalized is v with one more Normalize after it.
func (v values) normalized(mean, std [3]float64) values {
	for c := range 3 {
		v.mean[c] += mean[c] * v.std[c]
		v.std[c] *= std[c]
	}
	return v
}

// A deviation is one thing that people do in another way than a configuration asks for.
type deviation struct {
	says   string
	axis   axis // what it changes; two deviations of one axis contradict each other
	pixels func(*geometry)
	values func(*values)
}

type axis int

const (
	decoding axis = iota
	orientation
	placing
	filtering
	rounds
	scaling
	averages
	swapping
	reversing
	ordering
)

// deviations are all that are tried from the configuration of a model, with theirs of that shape. Where several make the
// same tensor, the first one is named.
func (m *model) deviations(theirs image.Point) []deviation {
	return slices.Concat(m.valueDeviations(), m.pixelDeviations(theirs))
}

var (
	imageNetMean = [3]float64{0.485, 0.456, 0.406}
	imageNetStd  = [3]float64{0.229, 0.224, 0.225}
	clipMean     = [3]float64{0.48145466, 0.4578275, 0.40821073}
	clipStd      = [3]float64{0.26862954, 0.26130258, 0.27577711}
	halves       = [3]float64{0.5, 0.5, 0.5}
	ones         = [3]float64{1, 1, 1}
	caffeMean    = [3]float64{123.68, 116.779, 103.939}
)

func (m *model) valueDeviations() []deviation {
	value := func(a axis, says string, change func(*values)) deviation {
		return deviation{says: says, axis: a, values: change}
	}
	norm := func(says string, scale float64, mean, std [3]float64) deviation {
		return value(averages, says, func(v *values) { v.scale, v.mean, v.std = scale, mean, std })
	}
	order, other := "RGB", "BGR"
	if m.values.swapped {
		order, other = other, order
	}
	const all = 1.0 / 255
	return []deviation{
		value(ordering, "the values are in the order HWC, not CHW", func(v *values) { v.layout = hwc }),
		value(ordering, "height and width are swapped", func(v *values) { v.layout = cwh }),
		value(swapping, fmt.Sprintf("the channels are %s, not %s, before mean and std", other, order), func(v *values) { v.swapped = !v.swapped }),
		value(reversing, fmt.Sprintf("the channels are %s, not %s, with the mean and std of their colours", other, order), func(v *values) {
			v.reversed = true
		}),
		value(averages, "mean and std are in the order of the other channels: first that of blue", func(v *values) {
			v.mean[0], v.mean[2], v.std[0], v.std[2] = v.mean[2], v.mean[0], v.std[2], v.std[0]
		}),
		norm("mean and std are not applied: black is 0 and white is 1", all, [3]float64{}, ones),
		norm("the values are from 0 to 255, without mean and std", 1, [3]float64{}, ones),
		norm("the values are from -1 to 1: mean and std are 0.5", all, halves, halves),
		norm("mean and std are those of ImageNet", all, imageNetMean, imageNetStd),
		norm("mean and std are those of CLIP", all, clipMean, clipStd),
		norm("Caffe's mean is subtracted from values from 0 to 255, in the order RGB", 1, caffeMean, ones),
		value(averages, "Caffe's mean is subtracted from values from 0 to 255, in the order BGR", func(v *values) {
			*v = values{scale: 1, mean: [3]float64{caffeMean[2], caffeMean[1], caffeMean[0]}, std: ones, swapped: true, layout: v.layout}
		}),
		value(averages, "the mean is subtracted, but nothing is divided by std", func(v *values) { v.std = ones }),
		value(averages, "the values are divided by std, but no mean is subtracted", func(v *values) { v.mean = [3]float64{} }),
		value(averages, "mean and std are applied twice", func(v *values) { *v = v.normalized(v.mean, v.std) }),
		value(scaling, "the pixels are from 0 to 255 when mean and std are applied, not from 0 to 1", func(v *values) { v.scale = 1 }),
		value(scaling, "the pixels are divided by 255 twice", func(v *values) { v.scale = all / 255 }),
		value(scaling, "the pixels are divided by 256, not by 255", func(v *values) { v.scale = 1.0 / 256 }),
	}
}

func (m *model) pixelDeviations(theirs image.Point) []deviation {
	all := []deviation{
		{"the JPEG is decoded by Go's image/jpeg, whose chroma upsampling and rounding are not libjpeg's", decoding, func(g *geometry) { g.golang = true }, nil},
		{"the image is turned by its Exif orientation", orientation, func(g *geometry) { g.turned = true }, nil},
	}
	if m.turned {
		all[1] = deviation{"the image is not turned by its Exif orientation", orientation, func(g *geometry) { g.turned = false }, nil}
	}
	for k, f := range filters {
		if k != m.filter {
			says := fmt.Sprintf("the filter is %s, not %s", f.name, filters[m.filter].name)
			if f.name == filters[m.filter].name+" without antialias" {
				says = "there is no antialias: the filter is " + f.name
			}
			all = append(all, deviation{says, filtering, func(g *geometry) { g.filter = k }, nil})
		}
	}
	for _, r := range []struct {
		kind rounding
		says string
	}{
		{torchvision, "the resize is that of torchvision for tensors, which transformers' fast processors use: its weights have 16 bits"},
		{none, "the resize computes in floating point, and its result is not rounded to 8 bits"},
		{once, "the resize computes in floating point and rounds once at the end"},
		{cutOff, "the resize computes in floating point and cuts the fractions off in place of rounding"},
		{xImage, "the resize rounds as golang.org/x/image/draw does"},
	} {
		all = append(all, deviation{r.says, rounds, func(g *geometry) { g.round = r.kind }, nil})
	}
	list := m.placements(theirs)
	for k, p := range list {
		if !slices.ContainsFunc(list[:k], p.same) {
			all = append(all, deviation{p.says, placing, func(g *geometry) { g.place = k }, nil})
		}
	}
	return all
}

// A frame is which part of an image is resized to which size, and what is cut out of that.
type frame struct {
	from   image.Rectangle // of the image
	w, h   int             // after the resize
	crop   image.Rectangle // of the resized image, or beyond it
	fill   [3]float32      // pixels beyond it
	zeroed bool            // values beyond it are 0, whatever mean and std are
}

// A placement is a way to bring an image to the size of the tensor.
type placement struct {
	says string
	of   func(w, h int) frame // of an image of this size; a frame without pixels if that is impossible
}

// same reports whether p and q do the same to images of any size.
func (p placement) same(q placement) bool {
	for _, size := range []image.Point{{640, 480}, {480, 640}, {333, 251}, {1021, 997}, {997, 1021}, {3000, 401}} {
		if p.of(size.X, size.Y) != q.of(size.X, size.Y) {
			return false
		}
	}
	return true
}

// frame is the one that the configuration asks for.
func (m *model) frame(w, h int) frame {
	f := frame{from: image.Rect(0, 0, w, h), w: w, h: h, fill: m.fill}
	if m.resize != nil {
		f.w, f.h = m.resize(w, h)
	}
	f.crop = image.Rect(0, 0, f.w, f.h)
	if m.crop != (image.Point{}) {
		f = f.centred(m.crop.X, m.crop.Y, m.offset)
	}
	if m.pad != (image.Point{}) {
		f.crop.Max, f.zeroed = f.crop.Min.Add(m.pad), true
	}
	return f
}

// centred is f with the crop of w×h pixels in the middle; half rounds its offset.
func (f frame) centred(w, h int, half func(float64) float64) frame {
	at := image.Pt(int(half(float64(f.w-w)/2)), int(half(float64(f.h-h)/2)))
	f.crop = image.Rectangle{at, at.Add(image.Pt(w, h))}
	return f
}

// offset rounds the offset of the configuration's crop.
func (m *model) offset(half float64) float64 {
	if m.floor {
		return math.Floor(half)
	}
	return math.RoundToEven(half)
}

// middle is the largest part in the middle of an image that has the form of w×h pixels.
func middle(r image.Rectangle, w, h int) image.Rectangle {
	cw, ch := min(r.Dx(), r.Dy()*w/h), min(r.Dy(), r.Dx()*h/w)
	at := r.Min.Add(image.Pt((r.Dx()-cw)/2, (r.Dy()-ch)/2))
	return image.Rectangle{at, at.Add(image.Pt(cw, ch))}
}

// placements are all that are tried. The first one is the configuration's.
func (m *model) placements(theirs image.Point) []placement {
	w, h := m.w, m.h // of the tensor
	size := func(w, h int) string { return fmt.Sprintf("%d×%d", h, w) }
	squash := func(w, h int) func(int, int) frame {
		return func(iw, ih int) frame {
			return frame{image.Rect(0, 0, iw, ih), w, h, image.Rect(0, 0, w, h), m.fill, false}
		}
	}
	cover := func(short, w, h int) func(int, int) frame { // resized to a shorter side, then cropped
		return func(iw, ih int) frame {
			f := frame{from: image.Rect(0, 0, iw, ih), fill: m.fill}
			f.w, f.h = shortest(short, iw, ih)
			return f.centred(w, h, m.offset)
		}
	}
	base := func(change func(f *frame)) func(int, int) frame {
		return func(iw, ih int) frame {
			f := m.frame(iw, ih)
			if f.w > 0 && f.h > 0 {
				change(&f)
			}
			return f
		}
	}
	uncropped := func(f *frame) { f.crop = image.Rect(0, 0, f.w, f.h) }
	recentred := func(half func(float64) float64) func(int, int) frame {
		return base(func(f *frame) {
			if m.crop != (image.Point{}) {
				*f = f.centred(w, h, half)
			}
		})
	}
	ratio := fmt.Sprintf("the shorter side is resized to %d, which leaves no more than the crop", min(w, h))
	if m.crop == (image.Point{}) {
		ratio = "the image is resized with its ratio and cropped to " + size(w, h)
	}
	all := []placement{
		{"", m.frame},
		{"the image is squashed to " + size(w, h) + ", without a crop", squash(w, h)},
		{"the image is squashed, not resized with its ratio, before the crop", base(func(f *frame) {
			if s := min(f.w, f.h); m.crop != (image.Point{}) {
				f.w, f.h = s, s
				*f = f.centred(w, h, m.offset)
			}
		})},
		{"the image is cropped to its middle first, and then resized to " + size(w, h), func(iw, ih int) frame {
			f := squash(w, h)(iw, ih)
			f.from = middle(f.from, w, h)
			return f
		}},
		{"the crop is taken out of the image before the resize, where it shows the same part", base(func(f *frame) {
			cw, ch := int(math.Round(float64(w*f.from.Dx())/float64(f.w))), int(math.Round(float64(h*f.from.Dy())/float64(f.h)))
			at := image.Pt((f.from.Dx()-cw)/2, (f.from.Dy()-ch)/2)
			*f = frame{image.Rectangle{at, at.Add(image.Pt(cw, ch))}, w, h, image.Rect(0, 0, w, h), m.fill, false}
		})},
		{"the image is cropped to a square first, then resized and cropped", base(func(f *frame) {
			f.from = middle(f.from, 1, 1)
			f.w = min(f.w, f.h)
			f.h = f.w
			*f = f.centred(w, h, m.offset)
		})},
		{ratio, cover(min(w, h), w, h)},
		{"the image is cropped without a resize", func(iw, ih int) frame {
			return frame{from: image.Rect(0, 0, iw, ih), w: iw, h: ih, fill: m.fill}.centred(w, h, m.offset)
		}},
		{"there is no crop after the resize", base(uncropped)},
		{"the crop is at the top left, not in the middle", base(func(f *frame) { f.crop = image.Rect(0, 0, w, h) })},
		{"the crop's offset is rounded down", recentred(math.Floor)},
		{"the crop's offset is rounded up", recentred(math.Ceil)},
		{"the crop's offset is rounded to even, as torchvision does", recentred(math.RoundToEven)},
		{"the longer side of the resize is rounded, not cut off", m.longer(math.Round)},
		{"the longer side of the resize is rounded up", m.longer(math.Ceil)},
	}
	all = append(all, padded(w, h)...)
	if theirs != image.Pt(w, h) && theirs != image.Pt(h, w) && theirs.X > 0 && theirs.Y > 0 {
		all = append(all,
			placement{"the size is " + size(theirs.X, theirs.Y) + ", not " + size(w, h) + ": resized with its ratio and cropped", cover(min(theirs.X, theirs.Y), theirs.X, theirs.Y)},
			placement{"the size is " + size(theirs.X, theirs.Y) + ", not " + size(w, h) + ": squashed", squash(theirs.X, theirs.Y)})
	}
	return all
}

// longer is the configuration's frame with the longer side of the resize rounded in another way.
func (m *model) longer(round func(float64) float64) func(w, h int) frame {
	return func(w, h int) frame {
		f := m.frame(w, h)
		if m.crop == (image.Point{}) || f.w < 1 || f.h < 1 {
			return f
		}
		if w > h {
			f.w = int(round(float64(f.h) * float64(w) / float64(h)))
		} else {
			f.h = int(round(float64(f.w) * float64(h) / float64(w)))
		}
		return f.centred(m.w, m.h, m.offset)
	}
}

// padded are placements that show the whole image with its ratio, and something beside it.
func padded(w, h int) (all []placement) {
	for _, p := range []struct {
		says   string
		fill   float32
		zeroed bool
		corner bool
	}{
		{"with black at both sides", 0, false, false},
		{"with grey (114) at both sides", 114, false, false},
		{"with white at both sides", 255, false, false},
		{"with zeros at both sides, after mean and std", 0, true, false},
		{"with black at the right or at the bottom", 0, false, true},
		{"with zeros at the right or at the bottom, after mean and std", 0, true, true},
	} {
		all = append(all, placement{"the whole image is fitted into " + fmt.Sprintf("%d×%d", h, w) + ", " + p.says, func(iw, ih int) frame {
			scale := min(float64(w)/float64(iw), float64(h)/float64(ih))
			f := frame{from: image.Rect(0, 0, iw, ih), fill: [3]float32{p.fill, p.fill, p.fill}, zeroed: p.zeroed}
			f.w, f.h = int(math.Round(float64(iw)*scale)), int(math.Round(float64(ih)*scale))
			f.crop = image.Rect(0, 0, w, h)
			if !p.corner {
				f = f.centred(w, h, math.Floor)
			}
			return f
		}})
	}
	return all
}
