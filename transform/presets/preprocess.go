package presets

import "github.com/penstock-go/penstock/transform"

// steps are all steps, which the keys must have allowed.
func (c *processor) steps(o object) []transform.Step {
	var all []transform.Step
	if c.resize {
		all = c.resizing(o)
	}
	if c.center {
		all = append(all, transform.CenterCrop([2]int{c.crop.h, c.crop.w}, transform.Floor()))
	}
	all = append(all, c.colours()...)
	if c.pad && c.padded != (area{}) {
		all = append(all, transform.PadTo([2]int{c.padded.h, c.padded.w}))
	}
	return all
}

// resizing is the resize, with the crop that belongs to it. The cases are in the
// order in which transformers looks at size.
func (c *processor) resizing(o object) []transform.Step {
	s, f := c.size, filtered(c.filter)
	if own := c.ownResizing(o); own != nil {
		return own
	}
	detects := c.kind == detr || c.kind == yolos
	switch {
	case c.kind == convNext, c.kind == dpt, c.kind == sam: // take no other form
	case s.shortest > 0 && s.longest > 0:
		return []transform.Step{withinEdges(s.shortest, s.longest).step(c.filter)}
	case s.shortest > 0 && !detects:
		return []transform.Step{transform.Resize(s.shortest, f...)}
	case s.maxHeight > 0 && s.maxWidth > 0:
		return []transform.Step{withinSides(s.maxHeight, s.maxWidth).step(c.filter)}
	case s.fixed():
		return []transform.Step{transform.Resize([2]int{s.height, s.width}, f...)}
	}
	o.fail("size", "not of a form that this image processor takes")
	return nil
}

// ownResizing is what only this kind of processor does with size. It is nil if the kind does with it
// what most do, or nothing.
func (c *processor) ownResizing(o object) []transform.Step {
	s, f := c.size, filtered(c.filter)
	part := func(n int) int { return int(float64(n) / c.part) }
	switch {
	case c.kind == convNext && s.shortest >= 384:
		return []transform.Step{transform.Resize([2]int{s.shortest, s.shortest}, f...)}
	case c.kind == convNext && s.shortest > 0:
		return []transform.Step{transform.Resize(part(s.shortest), f...), transform.CenterCrop(s.shortest, transform.Floor())}
	case c.kind == poolFormer:
		return poolFormerResizing(s, f, part)
	case c.kind == leViT && s.shortest > 0:
		return []transform.Step{transform.Resize(int(256.0/224*float64(s.shortest)), f...)}
	case c.kind == dpt && s.fixed() && c.keep:
		return []transform.Step{inMultiples(s.height, s.width, c.block).step(c.filter)}
	case c.kind == dpt && s.fixed():
		return []transform.Step{transform.Resize([2]int{c.nearest(o, s.height), c.nearest(o, s.width)}, f...)}
	case c.kind == yolos && s.shortest > 0 && s.longest > 0:
		return []transform.Step{wholeBlocks(withinEdges(s.shortest, s.longest)).step(c.filter)}
	case c.kind == sam && s.longest > 0:
		return []transform.Step{longestEdge(s.longest).step(c.filter)}
	}
	return nil
}

// poolFormerResizing resizes to what is more than the size by the part that is cropped.
func poolFormerResizing(s sides, f []transform.Option, part func(n int) int) []transform.Step {
	switch {
	case s.shortest > 0:
		return []transform.Step{transform.Resize(part(s.shortest), f...)}
	case s.fixed() && s.height == s.width:
		return []transform.Step{transform.Resize(part(s.height), f...)}
	case s.fixed():
		return []transform.Step{transform.Resize([2]int{part(s.height), part(s.width)}, f...)}
	}
	return nil
}

// fixed reports whether both sides are given.
func (s sides) fixed() bool { return s.height > 0 && s.width > 0 }

// nearest is n rounded to a multiple of ensure_multiple_of. Where two are as near,
// transformers' choice depends on the image.
func (c *processor) nearest(o object, n int) int {
	if n%c.block*2 == c.block {
		o.fail("ensure_multiple_of", "%d is halfway between two multiples of %d", n, c.block)
	}
	return (n + c.block/2) / c.block * c.block
}

// colours is how pixels become values.
func (c *processor) colours() []transform.Step {
	var all []transform.Step
	switch {
	case c.rescale && c.factor == 1.0/255:
		all = []transform.Step{transform.ToTensor()} // the same values
	case c.rescale:
		all = []transform.Step{transform.Rescale(c.factor)}
	case c.normalize || c.top:
		all = []transform.Step{transform.Rescale(1)}
	default:
		all = []transform.Step{transform.PILToTensor()}
	}
	if c.reverse {
		all = append(all, transform.BGR())
	}
	if c.rescale && c.offset {
		all = append(all, transform.Normalize([]float32{1}, []float32{1}))
	}
	if c.normalize {
		all = append(all, transform.Normalize(narrow(c.mean), narrow(c.std)))
	}
	if c.top {
		all = append(all, transform.Normalize([]float32{0}, narrow(c.std)))
	}
	return all
}
