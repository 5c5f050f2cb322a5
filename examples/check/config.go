package main

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// A model is what its configuration asks for: the exact tensor of an image, and the recipe that makes it.
type model struct {
	plan   string // the compiled steps in words
	exact  []float32
	w, h   int                       // of exact, whose layout is CHW
	resize func(w, h int) (int, int) // 0, 0 if it is not known
	base   recipe
}

// modelOf applies the steps to an image and reads their plan.
func modelOf(step transform.Step, file []byte) (*model, error) {
	c, err := transform.Compile(step)
	if err != nil { // most likely the size varies
		if c, err = transform.Compile(step, transform.Ragged()); err != nil {
			return nil, err
		}
	}
	m := &model{plan: strings.TrimSpace(c.String())}
	if err := m.apply(c, file); err != nil {
		return nil, err
	}
	m.base = recipe{m.geometry(), m.values()}
	if level := m.base.values.level(); !(level > 0 && !math.IsInf(level, 0)) {
		return nil, fmt.Errorf("the configuration makes values that say nothing of the pixels: %+v", m.base.values)
	}
	return m, nil
}

// apply makes the exact tensor.
func (m *model) apply(c *transform.Compiled, file []byte) (err error) {
	switch field := c.Spec()[0]; {
	case field.Ragged:
		m.exact, m.h, m.w, err = c.Append(nil, transform.File(file))
	case len(field.Shape) == 3 && field.Dtype == dataset.Float32:
		m.exact, m.h, m.w = make([]float32, field.Elements()), field.Shape[1], field.Shape[2]
		err = c.Into(m.exact, transform.File(file))
	case len(field.Shape) == 3 && field.Dtype == dataset.Uint8:
		bytes := make([]byte, field.Elements())
		if err = c.IntoBytes(bytes, transform.File(file)); err == nil {
			m.h, m.w = field.Shape[1], field.Shape[2]
			m.exact, err = decoded("U8", bytes)
		}
	}
	if err == nil && (len(m.exact) == 0 || len(m.exact) != 3*m.h*m.w) {
		return fmt.Errorf("the configuration makes %v: only float32 or uint8 of the shape (3, height, width) can be compared", c.Spec()[0])
	}
	return err
}

// Parts of a plan: see [transform.Step].
var (
	option     = regexp.MustCompile(`, (\w+)\(([^()]*)\)`)
	normalize  = regexp.MustCompile(`Normalize\(\[([^\]]*)\], \[([^\]]*)\]\)`)
	numberText = regexp.MustCompile(`-?\d[\d.eE+-]*`)
)

// call finds a step in the plan: its argument and its options.
func (m *model) call(name string) (argument string, options map[string]string, ok bool) {
	found := regexp.MustCompile(`\b` + name + `\(((?:[^()]|\([^()]*\))*)\)`).FindStringSubmatch(m.plan)
	if found == nil {
		return "", nil, false
	}
	options = map[string]string{}
	for _, o := range option.FindAllStringSubmatch(found[1], -1) {
		options[o[1]] = o[2]
	}
	return option.ReplaceAllString(found[1], ""), options, true
}

// geometry is that of the plan. A filter of -1 says that the plan is not understood.
func (m *model) geometry() geometry {
	g := geometry{turned: strings.Contains(m.plan, "ExifTranspose()"), w: m.w, h: m.h}
	name := "bilinear"
	if _, options, ok := m.call("CenterCrop"); ok {
		g.crop, g.offset, g.fill = centred, halfEven, colour(options, "0")
		if _, floor := options["Floor"]; floor {
			g.offset = down
		}
	}
	if _, _, ok := m.call("PadTo"); ok {
		g.crop, g.zeroed = corner, true
	}
	m.resize = func(w, h int) (int, int) { return w, h }
	if argument, options, ok := m.call("Resize"); ok {
		m.resize = m.rule(argument, g)
		name = cmp.Or(options["Interpolation"], name)
	}
	if _, options, ok := m.call("LetterBox"); ok {
		g.sizing, g.sides, g.crop, g.offset, g.fill = fitted, halfEven, centred, down, colour(options, "114")
		name = cmp.Or(options["Interpolation"], transform.OpenCVLinear.String())
	}
	g.filter = slices.IndexFunc(filters, func(f filter) bool { return f.name == name })
	return g
}

// colour is that of a step's Fill.
func colour(options map[string]string, other string) (c [3]float32) {
	for k, v := range spread(numbers(cmp.Or(options["Fill"], other))) {
		c[k] = float32(v)
	}
	return c
}

// rule is the size that a resize makes, by its text in the plan. Other texts are rules of single models: for them the size
// is that of the result, if nothing crops it.
func (m *model) rule(text string, g geometry) func(w, h int) (int, int) {
	n := numbers(text)
	scaled := func(w, h int, ratio float64) (int, int) {
		return halfEven.of(float64(w) / ratio), halfEven.of(float64(h) / ratio)
	}
	switch {
	case strings.HasPrefix(text, "["):
		return func(int, int) (int, int) { return int(n[1]), int(n[0]) }
	case len(n) == 1 && strconv.Itoa(int(n[0])) == text:
		return func(w, h int) (int, int) { return shortest(int(n[0]), w, h) }
	case strings.HasPrefix(text, "to cover ") && len(n) == 2:
		return func(w, h int) (int, int) { return scaled(w, h, min(float64(h)/n[0], float64(w)/n[1])) }
	case strings.HasPrefix(text, "to fit into ") && len(n) == 2:
		return func(w, h int) (int, int) { return scaled(w, h, max(float64(h)/n[0], float64(w)/n[1])) }
	case g.crop == centred:
		return func(int, int) (int, int) { return 0, 0 }
	}
	w, h := m.w, m.h
	if g.zeroed { // as much as PadTo has left
		w, h = 0, 0
		for i, v := range m.exact {
			if v != 0 {
				w, h = max(w, i%m.w+1), max(h, i/m.w%m.h+1)
			}
		}
	}
	return func(int, int) (int, int) { return w, h }
}

// values are those of the plan.
func (m *model) values() values {
	v := values{scale: 1, std: ones, swapped: strings.Contains(m.plan, "BGR()")}
	if argument, _, ok := m.call("Rescale"); ok {
		v.scale = numbers(argument)[0]
	} else if _, _, ok := m.call("ToTensor"); ok {
		v.scale = 1.0 / 255
	}
	for _, call := range normalize.FindAllStringSubmatch(m.plan, -1) {
		v = v.normalized(spread(numbers(call[1])), spread(numbers(call[2])))
	}
	return v
}

func numbers(text string) (all []float64) {
	for _, word := range numberText.FindAllString(text, -1) {
		if v, err := strconv.ParseFloat(word, 64); err == nil {
			all = append(all, v)
		}
	}
	return append(all, make([]float64, max(0, 1-len(all)))...)
}

// spread is a number per channel, where one is for all.
func spread(n []float64) [3]float64 {
	if len(n) == 3 {
		return [3]float64(n)
	}
	return [3]float64{n[0], n[0], n[0]}
}
