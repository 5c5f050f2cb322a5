package transform

import (
	"fmt"
	"math/rand/v2"
)

// A deepEditor is an editor that also works on images of Depth16.
type deepEditor interface {
	editor
	editDeep(e *engine, m *Planes, r *rand.Rand) error
}

// touchBy is touch for a step that may work on images of Depth16.
func (p *program) touchBy(ed editor, line string) {
	if _, ok := ed.(deepEditor); ok {
		p.pause(line)
	} else {
		p.touch(line)
	}
}

// deepChance is a chance whose step works on images of Depth16.
type deepChance struct {
	chance
	runDeep func(m *Planes, d depth)
}

func (c deepChance) add(p *program) error { return c.addAs(p, c) }

func (c deepChance) editDeep(_ *engine, m *Planes, _ *rand.Rand) error {
	c.runDeep(m, depthOf(m.Dtype))
	return nil
}

// inverted is the inverse of v, as in torchvision: integers have all bits inverted, except
// the sign.
func (d depth) inverted(v float32) float32 {
	if v < 0 && d.whole {
		return d.least - 1 - v
	}
	return d.most - v
}

func invertDeep(m *Planes, d depth) {
	for i, v := range m.Pix {
		m.Pix[i] = d.inverted(v)
	}
}

func solarizeDeep(m *Planes, d depth, threshold float32) {
	for i, v := range m.Pix {
		if v >= threshold {
			m.Pix[i] = d.inverted(v)
		}
	}
}

// autocontrastDeep stretches each channel, in float32 in torchvision's order.
func autocontrastDeep(m *Planes, d depth) {
	for c := range m.Channels {
		plane := m.Plane(c)
		least, most := plane[0], plane[0]
		for _, v := range plane {
			if v < least {
				least = v
			}
			if v > most {
				most = v
			}
		}
		scale := float32(most-least) * float32(1/float64(d.most))
		if !(scale > 0) {
			least, scale = 0, 1
		}
		for i, v := range plane {
			plane[i] = d.cut(float32(v-least) / scale)
		}
	}
}

// cut clamps a value to the range from black to white. Integers lose their fraction.
func (d depth) cut(v float32) float32 {
	if v < 0 {
		v = 0
	} else if v > d.most {
		v = d.most
	}
	if d.whole {
		v = float32(int32(v))
	}
	return v
}

// floor rounds the value of an integer down.
func floor(v float32) float32 {
	whole := float32(int32(v))
	if whole > v {
		whole--
	}
	return whole
}

// greyOrRGB is the error of steps with colours if the image has none.
func (p *program) greyOrRGB() error {
	if n := p.output.channels; p.deep != nil && n != 1 && n != 3 {
		return fmt.Errorf("want 1 or 3 channels, not %d: the others are no colours", n)
	}
	return nil
}

// editDeep changes the image with the draws of edit.
func (s jitter) editDeep(_ *engine, m *Planes, r *rand.Rand) error {
	order, factor := s.draw(r)
	for _, i := range order {
		if s.x[i] != 0 {
			deepAdjusters[i](depthOf(m.Dtype), m, factor[i])
		}
	}
	return nil
}

// editDeep changes the image with the draws of edit.
func (s Distortion) editDeep(e *engine, m *Planes, r *rand.Rand) error {
	factors, does, order := s.draw(r)
	for _, i := range order {
		if does[i] {
			deepAdjusters[i](depthOf(m.Dtype), m, factors[i])
		}
	}
	if r.Float64() < s.p {
		e.deep.permute(e, r)
	}
	return nil
}

// deepAdjusters are the adjusters of planes.
var deepAdjusters = [4]func(d depth, m *Planes, factor float64){
	func(d depth, m *Planes, factor float64) { d.blend(m.Pix, 0, factor) },
	func(d depth, m *Planes, factor float64) { d.blend(m.Pix, d.grey(m), factor) },
	depth.saturate,
	depth.turnHue,
}

// blend interpolates from base to the values, or extrapolates.
func (d depth) blend(pix []float32, base float32, factor float64) {
	ratio, rest := float32(factor), float32(1-factor)
	for i, v := range pix {
		pix[i] = d.cut(plusTimes(float32(v*ratio), base, rest))
	}
}

// grey is the mean of the image: for three channels the mean of torchvision's grey values,
// otherwise that of all values.
func (d depth) grey(m *Planes) float32 {
	sum, n := 0.0, m.Width*m.Height
	if m.Channels != 3 {
		for _, v := range m.Pix {
			sum += float64(v)
		}
		return float32(sum / float64(len(m.Pix)))
	}
	red, green, blue := m.Plane(0), m.Plane(1), m.Plane(2)
	for i, v := range red {
		l := deepLuma(v, green[i], blue[i])
		if d.whole {
			l = floor(l)
		}
		sum += float64(l)
	}
	return float32(sum / float64(n))
}
