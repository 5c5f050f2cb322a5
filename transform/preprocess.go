package transform

// steps are all steps, which the keys must have allowed.
func (c *processor) steps(o object) list {
	var all list
	if c.resize {
		all = c.resizing(o)
	}
	if c.center {
		all = append(all, CenterCrop(c.crop.h, c.crop.w).Floor())
	}
	all = append(all, c.colours()...)
	if c.pad && c.padded != (area{}) {
		all = append(all, PadTo(c.padded.h, c.padded.w))
	}
	return all
}

// resizing is the resize, with the crop that belongs to it. The cases are in the
// order in which transformers looks at size.
func (c *processor) resizing(o object) list {
	s, f := c.size, c.filter
	fixed, between := s.height > 0 && s.width > 0, s.shortest > 0 && s.longest > 0
	part := func(n int) int { return int(float64(n) / c.part) }
	switch {
	case c.kind == convNext && s.shortest >= 384:
		return list{Resize(s.shortest, s.shortest).Filter(f)}
	case c.kind == convNext && s.shortest > 0:
		return list{Resize(part(s.shortest)).Filter(f), CenterCrop(s.shortest).Floor()}
	case c.kind == poolFormer && s.shortest > 0:
		return list{Resize(part(s.shortest)).Filter(f)}
	case c.kind == poolFormer && fixed && s.height == s.width:
		return list{Resize(part(s.height)).Filter(f)}
	case c.kind == poolFormer && fixed:
		return list{Resize(part(s.height), part(s.width)).Filter(f)}
	case c.kind == leViT && s.shortest > 0:
		return list{Resize(int(256.0 / 224 * float64(s.shortest))).Filter(f)}
	case c.kind == dpt && fixed && c.keep:
		return list{inMultiples(s.height, s.width, c.block, f)}
	case c.kind == dpt && fixed:
		return list{Resize(c.nearest(o, s.height), c.nearest(o, s.width)).Filter(f)}
	case c.kind == yolos && between:
		return list{wholeBlocks(withinEdges(s.shortest, s.longest, f))}
	case c.kind == sam && s.longest > 0:
		return list{longestEdge(s.longest, f)}
	case c.kind == convNext, c.kind == dpt, c.kind == sam:
	case between:
		return list{withinEdges(s.shortest, s.longest, f)}
	case s.shortest > 0 && c.kind != detr && c.kind != yolos:
		return list{Resize(s.shortest).Filter(f)}
	case s.maxHeight > 0 && s.maxWidth > 0:
		return list{withinSides(s.maxHeight, s.maxWidth, f)}
	case fixed:
		return list{Resize(s.height, s.width).Filter(f)}
	}
	o.fail("size", "not of a form that this image processor takes")
	return nil
}

// nearest is n rounded to a multiple of ensure_multiple_of. Where two are as near,
// transformers' choice depends on the image.
func (c *processor) nearest(o object, n int) int {
	if n%c.block*2 == c.block {
		o.fail("ensure_multiple_of", "%d is halfway between two multiples of %d", n, c.block)
	}
	return (n + c.block/2) / c.block * c.block
}

// colours is how pixels become values.
func (c *processor) colours() list {
	var all list
	switch {
	case c.rescale && c.factor == 1.0/255:
		all = list{ToTensor()} // the same values
	case c.rescale:
		all = list{Rescale(c.factor)}
	case c.normalize || c.top:
		all = list{Rescale(1)}
	default:
		all = list{PILToTensor()}
	}
	if c.reverse {
		all = append(all, BGR())
	}
	if c.rescale && c.offset {
		all = append(all, Normalize([]float32{1}, []float32{1}))
	}
	if c.normalize {
		all = append(all, Normalize(narrow(c.mean), narrow(c.std)))
	}
	if c.top {
		all = append(all, Normalize([]float32{0}, narrow(c.std)))
	}
	return all
}
