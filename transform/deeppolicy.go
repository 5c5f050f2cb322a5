package transform

import "math/rand/v2"

// applyDeep is apply for the image of Depth16 that e has rendered.
func (a augmentation) applyDeep(e *engine, magnitude float64, p painter) error {
	m := &e.deep.img
	d := depthOf(m.Dtype)
	switch a {
	case shearX, shearY, translateX, translateY, rotation:
		shown := a.mapping(magnitude, m.Width, m.Height)
		return e.deep.warp(e, &shown, m.Width, m.Height, p.filter)
	case brightness, contrast, colour:
		deepAdjusters[[...]int{brightness: 0, contrast: 1, colour: 2}[a]](d, m, 1+magnitude)
	case sharpness:
		e.deep.sharpen(e, 1+magnitude)
	case posterization:
		posterizeDeep(m, d, int(magnitude))
	case solarization:
		solarizeDeep(m, d, float32(float64(d.most)*magnitude))
	case autoContrast:
		autocontrastDeep(m, d)
	case equalization:
		equalizeDeep(m, d)
	case inversion:
		invertDeep(m, d)
	}
	return nil
}

func (s RandAugmenting) editDeep(e *engine, m *Planes, r *rand.Rand) error {
	for range s.n {
		a, magnitude := s.draw(m.Width, m.Height, r)
		if err := a.applyDeep(e, magnitude, s.painter); err != nil {
			return err
		}
	}
	return nil
}

func (s TrivialAugmenting) editDeep(e *engine, m *Planes, r *rand.Rand) error {
	a, magnitude := s.draw(m.Width, m.Height, r)
	return a.applyDeep(e, magnitude, s.painter)
}

func (s AutoAugmenting) editDeep(e *engine, m *Planes, r *rand.Rand) error {
	space := usualScheme(10)
	for _, o := range s.draw(r) {
		if r.Float64() >= o.p {
			continue
		}
		if err := o.a.applyDeep(e, space.draw(o.a, o.bin, m.Width, m.Height, r), s.painter); err != nil {
			return err
		}
	}
	return nil
}

// editDeep mixes chains of augmentations of the image with it. Integers lose their fraction.
func (s AugMixing) editDeep(e *engine, m *Planes, r *rand.Rand) error {
	d, mem := e.deep, &e.mixture
	mem.weights = s.draw(mem.weights, r)
	d.before = growFloats(d.before, len(m.Pix))
	copy(d.before, m.Pix)
	mem.sum = growFloats(mem.sum, len(m.Pix))
	for i, v := range d.before {
		mem.sum[i] = mem.weights[0] * v
	}
	for _, weight := range mem.weights[1:] {
		copy(m.Pix, d.before)
		depth := s.depth
		if depth == 0 {
			depth = 1 + r.IntN(3)
		}
		for range depth {
			a, magnitude := s.augmentation(m.Width, m.Height, r)
			if err := a.applyDeep(e, magnitude, s.painter); err != nil {
				return err
			}
		}
		for i, v := range m.Pix {
			mem.sum[i] += float32(weight * v)
		}
	}
	copy(m.Pix, mem.sum)
	if kind := depthOf(m.Dtype); kind.whole {
		for i, v := range m.Pix {
			m.Pix[i] = kind.trunc(v)
		}
	}
	return nil
}
