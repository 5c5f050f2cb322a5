package main

import (
	"fmt"
	"image"
	"math"
	"slices"
)

// A recipe makes a tensor of an image. That of the configuration is the base; a deviation changes one thing of it.
type recipe struct {
	geometry geometry
	values   values
}

// A geometry is which pixels a tensor shows.
type geometry struct {
	golang bool // decoded by image/jpeg
	turned bool // by the Exif orientation
	middle bool // the image is cropped before the resize, to the largest part in the middle that has the tensor's ratio
	sizing sizing
	sides  rounding // of the size after the resize
	filter int      // of filters
	crop   crop
	offset rounding   // of the crop
	w, h   int        // of the tensor
	fill   [3]float32 // pixels beyond the image
	zeroed bool       // values beyond the image are 0, whatever mean and std are
}

// sizing is the size after the resize.
type sizing int

const (
	configured sizing = iota
	squashed          // that of the tensor
	even              // both sides as long as the shorter one of the configured size
	covering          // with the image's ratio, as large as the tensor at least
	fitted            // with the image's ratio, as large as the tensor at most
	unresized
)

// crop is which part of the resized image is shown.
type crop int

const (
	uncropped crop = iota
	centred
	corner // from the top left on
)

// rounding is how a size or an offset becomes whole.
type rounding int

const (
	usual rounding = iota // the configuration's
	down
	up
	halfUp
	halfEven
)

func (r rounding) of(v float64) int {
	switch r {
	case up:
		v = math.Ceil(v)
	case halfUp:
		v += 0.5
	case halfEven:
		v = math.RoundToEven(v)
	}
	return int(math.Floor(v))
}

// A frame is which part of an image is resized to which size, and what is cut out of that.
type frame struct {
	from image.Rectangle
	w, h int
	crop image.Rectangle // of the resized image, or beyond it
}

// frame is that of an image of this size.
func (m *model) frame(g geometry, size image.Point) (f frame) {
	w, h := size.X, size.Y
	if g.middle {
		w, h = min(w, max(h*g.w/g.h, 1)), min(h, max(w*g.h/g.w, 1))
	}
	f.from = image.Rect(0, 0, w, h).Add(image.Pt((size.X-w)/2, (size.Y-h)/2))
	x, y := float64(g.w)/float64(w), float64(g.h)/float64(h)
	switch f.w, f.h = m.resize(w, h); g.sizing {
	case squashed:
		f.w, f.h = g.w, g.h
	case even:
		f.w, f.h = min(f.w, f.h), min(f.w, f.h)
	case covering:
		f.w, f.h = shortest(min(g.w, g.h), w, h)
	case fitted:
		f.w, f.h = g.sides.of(float64(w)*min(x, y)), g.sides.of(float64(h)*min(x, y))
	case unresized:
		f.w, f.h = w, h
	case configured: // the longer side
		if g.sides != usual && w > h {
			f.w = g.sides.of(float64(f.h) * float64(w) / float64(h))
		} else if g.sides != usual {
			f.h = g.sides.of(float64(f.w) * float64(h) / float64(w))
		}
	}
	if f.crop = image.Rect(0, 0, g.w, g.h); g.crop == uncropped {
		f.crop = image.Rect(0, 0, f.w, f.h)
	} else if g.crop == centred && g.sizing == fitted { // the offset is that of the image in the tensor
		f.crop = f.crop.Sub(image.Pt(g.offset.of(float64(g.w-f.w)/2), g.offset.of(float64(g.h-f.h)/2)))
	} else if g.crop == centred {
		f.crop = f.crop.Add(image.Pt(g.offset.of(float64(f.w-g.w)/2), g.offset.of(float64(f.h-g.h)/2)))
	}
	return f
}

// shortest makes the shorter side n pixels long, and cuts the fraction of the longer one off, as torchvision does.
func shortest(n, w, h int) (int, int) {
	if w <= h {
		return n, n * h / w
	}
	return n * w / h, n
}

// values is what becomes of pixels from 0 to 255: (pixel·scale − mean) / std for every channel.
type values struct {
	scale     float64
	mean, std [3]float64
	swapped   bool // red and blue, before mean and std
	reversed  bool // the channels, after mean and std
	hwc       bool // their order
}

// channel says that channel c of the tensor is pixel channel p times a plus b.
func (v *values) channel(c int) (p int, a, b float64) {
	if v.reversed {
		c = 2 - c
	}
	if p = c; v.swapped {
		p = 2 - c
	}
	return p, v.scale / v.std[c], -v.mean[c] / v.std[c]
}

// level is the least that a level makes in any channel.
func (v *values) level() float64 {
	_, r, _ := v.channel(0)
	_, g, _ := v.channel(1)
	_, b, _ := v.channel(2)
	return min(math.Abs(r), math.Abs(g), math.Abs(b))
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
	axis   axis // what it changes; two deviations of one axis contradict each other
	says   string
	change func(r *recipe)
}

type axis int

const (
	decoding axis = iota
	turning
	filtering
	placing
	siding
	offsets
	scaling // this one and those after it change values alone
	averages
	swapping
	reversing
	ordering
)

// deviations are all that are tried, with theirs of that shape. Where several do the same to images of all sizes, the first one counts.
func (m *model) deviations(theirs image.Point) []deviation {
	all := slices.Concat(m.valueDeviations(), m.pixelDeviations())
	known := map[string]bool{m.looks(m.base.geometry): true}
	for _, d := range m.placements(theirs) {
		r := m.base
		d.change(&r)
		if looks := m.looks(r.geometry); !known[looks] {
			known[looks] = true
			all = append(all, d)
		}
	}
	return all
}

// looks is the same for geometries that place images in the same way.
func (m *model) looks(g geometry) (text string) {
	for _, size := range []image.Point{{640, 480}, {480, 640}, {333, 251}, {1021, 997}, {997, 1021}, {3000, 401}} {
		f := m.frame(g, size)
		if text += fmt.Sprint(f); !f.crop.In(image.Rect(0, 0, f.w, f.h)) {
			text += fmt.Sprint(g.fill, g.zeroed)
		}
	}
	return text
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
	norm := func(scale float64, mean, std [3]float64) func(r *recipe) {
		return func(r *recipe) { r.values.scale, r.values.mean, r.values.std = scale, mean, std }
	}
	order := "BGR, not RGB"
	if m.base.values.swapped {
		order = "RGB, not BGR"
	}
	const all = 1.0 / 255
	return []deviation{
		{ordering, "the values are in the order HWC, not CHW", func(r *recipe) { r.values.hwc = true }},
		{swapping, "the channels are " + order + ", before mean and std", func(r *recipe) { r.values.swapped = !r.values.swapped }},
		{reversing, "the channels are " + order + ", with the mean and std of their colours", func(r *recipe) { r.values.reversed = true }},
		{averages, "mean and std are in the order of the other channels: first that of blue", func(r *recipe) {
			slices.Reverse(r.values.mean[:])
			slices.Reverse(r.values.std[:])
		}},
		{averages, "mean and std are not applied: black is 0 and white is 1", norm(all, [3]float64{}, ones)},
		{averages, "the values are from 0 to 255, without mean and std", norm(1, [3]float64{}, ones)},
		{averages, "the values are from -1 to 1: mean and std are 0.5", norm(all, halves, halves)},
		{averages, "mean and std are those of ImageNet", norm(all, imageNetMean, imageNetStd)},
		{averages, "mean and std are those of CLIP", norm(all, clipMean, clipStd)},
		{averages, "Caffe's mean is subtracted from values from 0 to 255, in the order RGB", norm(1, caffeMean, ones)},
		{averages, "Caffe's mean is subtracted from values from 0 to 255, in the order BGR", func(r *recipe) {
			norm(1, caffeMean, ones)(r)
			slices.Reverse(r.values.mean[:])
			r.values.swapped = true
		}},
		{averages, "the mean is subtracted, but nothing is divided by std", func(r *recipe) { r.values.std = ones }},
		{averages, "the values are divided by std, but no mean is subtracted", func(r *recipe) { r.values.mean = [3]float64{} }},
		{averages, "mean and std are applied twice", func(r *recipe) { r.values = r.values.normalized(r.values.mean, r.values.std) }},
		{scaling, "the pixels are from 0 to 255 when mean and std are applied, not from 0 to 1", func(r *recipe) { r.values.scale = 1 }},
		{scaling, "the pixels are divided by 255 twice", func(r *recipe) { r.values.scale = all / 255 }},
		{scaling, "the pixels are divided by 256, not by 255", func(r *recipe) { r.values.scale = 1.0 / 256 }},
	}
}

// pixelDeviations are those of the decoder and the filter.
func (m *model) pixelDeviations() []deviation {
	not := "not "
	if !m.base.geometry.turned {
		not = ""
	}
	all := []deviation{
		{decoding, "the JPEG is decoded by Go's image/jpeg, whose chroma upsampling and rounding are not libjpeg's", func(r *recipe) { r.geometry.golang = true }},
		{turning, "the image is " + not + "turned by its Exif orientation", func(r *recipe) { r.geometry.turned = !r.geometry.turned }},
	}
	for k, f := range filters {
		if k != m.base.geometry.filter {
			says := fmt.Sprintf("the filter is %s, not %s", f.says, filters[m.base.geometry.filter].says)
			all = append(all, deviation{filtering, says, func(r *recipe) { r.geometry.filter = k }})
		}
	}
	return all
}

// placements are ways to bring an image to the size of a tensor.
func (m *model) placements(theirs image.Point) []deviation {
	base, w, h := m.base.geometry, m.w, m.h
	size := fmt.Sprintf("%d×%d", h, w)
	place := func(s sizing, c crop, middle bool) func(r *recipe) {
		return func(r *recipe) { r.geometry.sizing, r.geometry.crop, r.geometry.middle = s, c, middle }
	}
	all := []deviation{
		{placing, "the image is squashed to " + size + ", without a crop", place(squashed, uncropped, false)},
		{placing, "the image is squashed, not resized with its ratio, before the crop", place(even, base.crop, false)},
		{placing, "the image is cropped to its middle first, and then resized to " + size, place(squashed, uncropped, true)},
		{placing, "the image is cropped to its middle first, then resized and cropped", place(base.sizing, centred, true)},
		{placing, "the image is resized with its ratio until it covers " + size + ", and then cropped", place(covering, centred, false)},
		{placing, "the image is cropped without a resize", place(unresized, centred, false)},
		{placing, "there is no crop after the resize", place(base.sizing, uncropped, false)},
	}
	for _, fill := range []struct {
		says   string
		value  float32
		zeroed bool
	}{{"black", 0, false}, {"grey (114)", 114, false}, {"grey (128)", 128, false}, {"white", 255, false}, {"zeros after mean and std", 0, true}} {
		if fill.zeroed && m.base.values.mean == [3]float64{} {
			continue // black is the same
		}
		for _, c := range []crop{centred, corner} {
			side := map[crop]string{centred: " at both sides", corner: " at the right or at the bottom"}[c]
			all = append(all, deviation{placing, "the whole image is fitted into " + size + ", with " + fill.says + side, func(r *recipe) {
				g := &r.geometry
				if g.sizing != fitted {
					g.sizing, g.sides, g.offset = fitted, halfUp, down
				}
				g.crop, g.fill, g.zeroed = c, [3]float32{fill.value, fill.value, fill.value}, fill.zeroed
			}})
		}
	}
	if theirs != image.Pt(w, h) && theirs != image.Pt(h, w) && theirs.X > 0 && theirs.Y > 0 {
		text := fmt.Sprintf("the size is %d×%d, not %s", theirs.Y, theirs.X, size)
		sized := func(s sizing, c crop) func(r *recipe) {
			return func(r *recipe) {
				r.geometry.sizing, r.geometry.crop, r.geometry.w, r.geometry.h = s, c, theirs.X, theirs.Y
			}
		}
		all = append(all, deviation{placing, text, sized(base.sizing, base.crop)}, deviation{placing, text + ": squashed", sized(squashed, uncropped)},
			deviation{placing, text + ": resized with its ratio and cropped", sized(covering, centred)})
	}
	if base.crop != centred {
		return all
	}
	return append(all,
		deviation{placing, "the image is at the top left, not in the middle", func(r *recipe) { r.geometry.crop = corner }},
		deviation{offsets, "the offset of the middle is rounded down", func(r *recipe) { r.geometry.offset = down }},
		deviation{offsets, "the offset of the middle is rounded up", func(r *recipe) { r.geometry.offset = up }},
		deviation{offsets, "the offset of the middle is rounded to even, as torchvision does", func(r *recipe) { r.geometry.offset = halfEven }},
		deviation{siding, "the sides after the resize are rounded down", func(r *recipe) { r.geometry.sides = down }},
		deviation{siding, "the sides after the resize are rounded, halves up", func(r *recipe) { r.geometry.sides = halfUp }})
}
