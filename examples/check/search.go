package main

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"runtime"
	"slices"
	"sync"
)

// A picture is what a geometry shows: planes of red, green and blue from 0 to 255. Pixels whose values are 0 in every tensor are NaN.
type picture struct {
	w, h   int
	planes [3][]float32
}

// planesOf parts the values of a tensor.
func planesOf(all []float32, hwc bool) (planes [3][]float32) {
	n := len(all) / 3
	for c := range planes {
		if planes[c] = all[c*n:][:n]; hwc {
			planes[c] = make([]float32, n)
			for i := range n {
				planes[c][i] = all[3*i+c]
			}
		}
	}
	return planes
}

// pictureOf is what a tensor of w×h pixels shows, if its values are v.
func pictureOf(all []float32, w, h int, v values) picture {
	p := picture{w: w, h: h}
	for c, plane := range planesOf(all, v.hwc) {
		from, a, b := v.channel(c)
		for _, u := range plane {
			p.planes[from] = append(p.planes[from], float32((float64(u)-b)/a))
		}
	}
	return p
}

// A comparison is between a tensor and the exact one.
type comparison struct {
	*model
	photos     [2][2]*view
	theirs     tensor
	planes     [2][3][]float32 // of theirs, in CHW and HWC order
	deviations []deviation
	limited    bool // the configuration's geometry is not understood: only deviations of values are tried
}

func newComparison(m *model, file []byte, theirs tensor) (c *comparison, err error) {
	c = &comparison{model: m, theirs: theirs}
	c.planes = [2][3][]float32{planesOf(theirs.values, false), planesOf(theirs.values, true)}
	if c.photos, err = decodeAll(file); err != nil {
		return nil, err
	}
	// The recipe without a deviation must make the exact tensor.
	self := &comparison{model: m, theirs: tensor{values: m.exact, bits: 23}, planes: [2][3][]float32{planesOf(m.exact, false)}, photos: c.photos}
	p, ok := self.build(m.base.geometry)
	if c.limited = !ok || p.w != m.w || p.h != m.h || !self.compare(p, &m.base.values).exact; c.limited {
		c.deviations = m.valueDeviations()
	} else {
		c.deviations = m.deviations(theirs.size())
	}
	return c, nil
}

// build makes the picture of a geometry. It is not there if the geometry makes no sense for this image.
func (c *comparison) build(g geometry) (p picture, ok bool) {
	const most = 1 << 26 // values of one pass of a resize
	if c.limited {
		return pictureOf(c.exact, c.w, c.h, c.base.values), true
	}
	photo := c.photos[number(g.golang)][number(g.turned)]
	if photo == nil || g.filter < 0 {
		return p, false
	}
	size := photo.rgba.Rect.Size()
	f := c.frame(g, size)
	if rows := max(f.from.Dy(), f.h); f.from.Empty() || f.crop.Empty() || f.w < 1 || f.h < 1 || f.w > most/rows || f.crop.Dx() > most/f.crop.Dy() {
		return p, false
	}
	pix := filters[g.filter].resize(photo, f.from, f.w, f.h)
	p.w, p.h = f.crop.Dx(), f.crop.Dy()
	for y := f.crop.Min.Y; y < f.crop.Max.Y; y++ {
		for x := f.crop.Min.X; x < f.crop.Max.X; x++ {
			for k := range p.planes {
				v := g.fill[k]
				if image.Pt(x, y).In(image.Rect(0, 0, f.w, f.h)) {
					v = pix[3*(y*f.w+x)+k]
				} else if g.zeroed {
					v = float32(math.NaN())
				}
				p.planes[k] = append(p.planes[k], v)
			}
		}
	}
	return p, true
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A leftover is the difference between a recipe's tensor and theirs, in levels: 1/255 of the way from black to white.
type leftover struct {
	mean, most float64
	share      float64 // of the values that differ by more than rounding
	exact      bool    // no value does
}

func (c *comparison) compare(p picture, v *values) (l leftover) {
	n := float64(3 * p.w * p.h)
	for ch, plane := range c.planes[number(v.hwc)] {
		from, a, b := v.channel(ch)
		least := v.level()
		for i, x := range p.planes[from] {
			want, u := a*float64(x)+b, float64(plane[i])
			if math.IsNaN(float64(x)) {
				want = 0
			}
			d := math.Abs((u - want) / a)
			if l.mean, l.most = l.mean+d/n, max(l.most, d); !(d <= c.theirs.tolerance(u, least)) {
				l.share += 1 / n
			}
		}
	}
	l.exact = l.share == 0
	return l
}

// moments are what the least squares of any values need of a plane of a picture and one of a tensor. They make it cheap to try
// every scale, mean, std and order of channels.
type moments struct{ n, x, xx, u, uu, xu float64 }

// layouts are the moments for CHW and HWC, by channel of the tensor and of the picture.
type layouts [2][3][3]moments

func momentsOf(picture, theirs []float32) (m moments) {
	for i, p := range picture {
		x, u := float64(p), float64(theirs[i])
		if m.uu += u * u; !math.IsNaN(x) {
			m.n, m.x, m.xx, m.u, m.xu = m.n+1, m.x+x, m.xx+x*x, m.u+u, m.xu+x*u
		}
	}
	return m
}

// rms is the root of the mean square of what values leave, in levels.
func rms(all *[3][3]moments, v *values, n int) float64 {
	sum := 0.0
	for c := range 3 {
		p, a, b := v.channel(c)
		m := &all[c][p]
		sum += max(0, m.uu+a*a*m.xx+2*a*b*m.x+b*b*m.n-2*a*m.xu-2*b*m.u) / (a * a)
	}
	return math.Sqrt(sum / float64(n))
}

// fit is the scale and the mean per channel that come nearest, as mean and std after v's scale. It is not there if a channel shows nothing.
func fit(all *[3][3]moments, v values) (values, bool) {
	for c := range 3 {
		p, _, _ := v.channel(c)
		m := &all[c][p]
		variance := m.xx - m.x*m.x/m.n
		a := (m.xu - m.x*m.u/m.n) / variance
		if !(variance > m.n && a > 0) || math.IsInf(a, 0) {
			return v, false
		}
		if v.reversed {
			c = 2 - c
		}
		v.std[c] = v.scale / a
		v.mean[c] = (a*m.x - m.u) / m.n * v.std[c]
	}
	return v, true
}

// A candidate is a recipe with the deviations that lead to it.
type candidate struct {
	recipe     recipe
	deviations []deviation
	fitted     bool    // it has a scale, mean and std of its own
	rms        float64 // of what it leaves
	leftover   leftover
	w, h       int // of its tensor
}

// score is less for better candidates: a deviation more must halve what is left, and a scale and mean of its own leave a quarter.
func (t *candidate) score() float64 { return math.Ldexp(t.rms, len(t.deviations)+number(t.fitted)) }

// A trial is what was found with the picture of one geometry.
type trial struct {
	moments layouts // the same for equal pictures
	best    candidate
	exact   []candidate
}

// try brings a geometry's picture as near to theirs as values can. There is nothing if the numbers of values differ.
func (c *comparison) try(t candidate, variants []candidate) (found trial, ok bool) {
	p, ok := c.build(t.recipe.geometry)
	if t.w, t.h = p.w, p.h; !ok || 3*p.w*p.h != len(c.theirs.values) {
		return found, false
	}
	var all layouts
	for k, plane := range p.planes {
		for ch := range 3 {
			all[0][ch][k], all[1][ch][k] = momentsOf(plane, c.planes[0][ch]), momentsOf(plane, c.planes[1][ch])
		}
	}
	found = trial{moments: all, best: candidate{rms: math.Inf(1)}}
	consider := func(v values, fitted bool, by ...deviation) {
		next := t
		next.recipe.values, next.fitted, next.deviations = v, fitted, slices.Concat(t.deviations, by)
		next.rms = rms(&all[number(v.hwc)], &v, len(c.theirs.values))
		if !fitted && next.rms < c.theirs.tolerance(c.theirs.most, v.level()) && c.compare(p, &v).exact {
			found.exact = append(found.exact, next)
		}
		if next.score() < found.best.score() {
			found.best = next
		}
	}
	for _, v := range variants {
		consider(v.recipe.values, false, v.deviations...)
		if slices.ContainsFunc(v.deviations, func(d deviation) bool { return d.axis < swapping }) {
			continue
		}
		if f, ok := fit(&all[number(v.recipe.values.hwc)], v.recipe.values); ok {
			says := fmt.Sprintf("scale, mean and std are others: (pixel × %.6g − %.4g) / %.4g", f.scale, f.mean, f.std)
			consider(f, true, append(slices.Clone(v.deviations), deviation{averages, says, nil})...)
		}
	}
	found.best.leftover = c.compare(p, &found.best.recipe.values)
	return found, true
}

// variants are values with up to two deviations, without those that make the same tensors as earlier ones.
func (c *comparison) variants() (all []candidate) {
	known := map[string]bool{}
	add := func(list ...deviation) {
		next := candidate{recipe: c.base, deviations: list}
		for _, d := range list {
			d.change(&next.recipe)
		}
		v := &next.recipe.values
		key := fmt.Sprint(v.hwc)
		for ch := range 3 {
			p, a, b := v.channel(ch)
			key += fmt.Sprintf(" %d %.9g %.9g", p, a, b+1)
		}
		if !known[key] {
			known[key] = true
			all = append(all, next)
		}
	}
	add()
	list := slices.DeleteFunc(slices.Clone(c.deviations), func(d deviation) bool { return d.axis < scaling })
	for _, d := range list {
		add(d)
	}
	for k, one := range list {
		for _, two := range list[k+1:] {
			if one.axis != two.axis {
				add(one, two)
			}
		}
	}
	return all
}

// explain searches for the deviations that lead to theirs: all single ones of the pixels, then pairs and three of those that come
// nearest, each with up to two of the values. others are as exact as best with as many: this image cannot tell them apart. It
// finds nothing if no deviation makes as many values as theirs has.
func (c *comparison) explain() (best candidate, others []candidate, ok bool) {
	const depth, beam = 3, 10
	best.rms = math.Inf(1)
	variants, level, least := c.variants(), []candidate{{recipe: c.base}}, math.Inf(1)
	tried, shown := map[geometry]bool{c.base.geometry: true}, map[layouts]int{} // how many deviations make a picture
	var exact []candidate
	for d := 0; d <= depth && len(level) > 0 && len(exact) == 0; d++ {
		trials, good := make([]trial, len(level)), make([]bool, len(level))
		var group sync.WaitGroup
		for first := range runtime.GOMAXPROCS(0) {
			group.Go(func() {
				for k := first; k < len(level); k += runtime.GOMAXPROCS(0) {
					trials[k], good[k] = c.try(level[k], variants)
				}
			})
		}
		group.Wait()
		before := level
		level = nil
		nearest := math.Inf(1)
		for k, t := range trials {
			if fewer, ok := shown[t.moments]; good[k] && ok && fewer < d {
				continue // fewer deviations make the same picture
			} else if !good[k] {
				before[k].rms = math.Inf(1)
				level = append(level, before[k])
				continue
			}
			shown[t.moments] = d
			exact = append(exact, t.exact...)
			level = append(level, t.best)
			if nearest = min(nearest, t.best.rms); t.best.score() < best.score() {
				best, ok = t.best, true
			}
		}
		if d >= 2 && nearest > 0.9*least {
			break // pairs are no better than single ones: three at once would take long and find nothing
		}
		least = min(least, nearest)
		slices.SortStableFunc(level, func(a, b candidate) int { return cmp.Compare(a.score(), b.score()) })
		level = c.deeper(level[:min(len(level), beam)], tried)
	}
	slices.SortStableFunc(exact, func(a, b candidate) int { return cmp.Compare(len(a.deviations), len(b.deviations)) })
	for k, e := range exact {
		switch e.leftover.exact = true; {
		case k == 0:
			best, ok = e, true
		case len(e.deviations) == len(best.deviations):
			others = append(others, e)
		}
	}
	return best, others, ok
}

// deeper adds one deviation of the pixels more to every candidate.
func (c *comparison) deeper(level []candidate, tried map[geometry]bool) (next []candidate) {
	for _, t := range level {
		of := slices.DeleteFunc(slices.Clone(t.deviations), func(d deviation) bool { return d.axis >= scaling })
		for _, d := range c.deviations {
			if d.axis >= scaling || slices.ContainsFunc(of, func(e deviation) bool { return e.axis == d.axis }) {
				continue
			}
			r := recipe{t.recipe.geometry, c.base.values}
			if d.change(&r); !tried[r.geometry] {
				tried[r.geometry] = true
				next = append(next, candidate{recipe: r, deviations: append(slices.Clone(of), d)})
			}
		}
	}
	return next
}
