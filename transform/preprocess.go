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

// resizing is the resize, with the crop that belongs to it.
func (c *processor) resizing(o object) list {
	s, f := c.size, c.filter
	switch c.kind {
	case convNext:
		switch {
		case s.shortest == 0:
			o.fail("size", "want shortest_edge")
			return nil
		case s.shortest < 384:
			return list{Resize(int(float64(s.shortest) / c.part)).Filter(f), CenterCrop(s.shortest).Floor()}
		}
		return list{Resize(s.shortest, s.shortest).Filter(f)}
	case poolFormer:
		switch {
		case s.shortest > 0:
			return list{Resize(int(float64(s.shortest) / c.part)).Filter(f)}
		case s.height > 0 && s.height == s.width:
			return list{Resize(int(float64(s.height) / c.part)).Filter(f)}
		}
		s.height, s.width = int(float64(s.height)/c.part), int(float64(s.width)/c.part)
	case leViT:
		if s.shortest > 0 {
			return list{Resize(int(256.0 / 224 * float64(s.shortest))).Filter(f)}
		}
	case dpt:
		switch n := c.block; {
		case s.height == 0 || s.width == 0:
		case c.keep:
			return list{inMultiples(s.height, s.width, n, f)}
		case s.height%n*2 == n || s.width%n*2 == n:
			o.fail("ensure_multiple_of", "the size is halfway between two multiples of %d", n)
			return nil
		default:
			return list{Resize((s.height+n/2)/n*n, (s.width+n/2)/n*n).Filter(f)}
		}
	case detr, yolos:
		switch {
		case s.shortest > 0 && s.longest == 0:
			o.fail("size", "want longest_edge with shortest_edge")
			return nil
		case s.shortest > 0 && c.kind == yolos:
			return list{wholeBlocks(withinEdges(s.shortest, s.longest, f))}
		}
	case sam:
		if s.longest > 0 {
			return list{longestEdge(s.longest, f)}
		}
	}
	switch {
	case s.shortest > 0 && s.longest > 0:
		return list{withinEdges(s.shortest, s.longest, f)}
	case s.shortest > 0:
		return list{Resize(s.shortest).Filter(f)}
	case s.maxHeight > 0 && s.maxWidth > 0:
		return list{withinSides(s.maxHeight, s.maxWidth, f)}
	case s.height > 0 && s.width > 0:
		return list{Resize(s.height, s.width).Filter(f)}
	}
	o.fail("size", "want height and width, shortest_edge, or max_height and max_width")
	return nil
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
