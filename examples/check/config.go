package main

import (
	"fmt"
	"image"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// A model is what its configuration asks for: the exact tensor of an image, and the parts from which recipes are made.
type model struct {
	plan   string // the compiled steps in words
	exact  []float32
	w, h   int // of exact, whose layout is CHW
	turned bool
	resize func(w, h int) (int, int) // nil without a resize; 0, 0 if it is not known
	filter int                       // of filters
	crop   image.Point               // 0, 0 without a crop
	floor  bool                      // the crop's offset is rounded down, as transformers does
	fill   [3]float32                // what a crop shows outside the image
	pad    image.Point               // PadTo
	values values
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
	return m, m.read()
}

// apply makes the exact tensor.
func (m *model) apply(c *transform.Compiled, file []byte) (err error) {
	field := c.Spec()[0]
	switch {
	case field.Ragged:
		m.exact, m.h, m.w, err = c.Append(nil, transform.File(file))
	case len(field.Shape) != 3 || field.Shape[0] != 3:
		return fmt.Errorf("the configuration makes %v: only images of the shape (3, height, width) can be compared", field)
	case field.Dtype == dataset.Float32:
		m.h, m.w = field.Shape[1], field.Shape[2]
		m.exact = make([]float32, field.Elements())
		err = c.Into(m.exact, transform.File(file))
	case field.Dtype == dataset.Uint8:
		m.h, m.w = field.Shape[1], field.Shape[2]
		bytes := make([]byte, field.Elements())
		err = c.IntoBytes(bytes, transform.File(file))
		for _, v := range bytes {
			m.exact = append(m.exact, float32(v))
		}
	default:
		return fmt.Errorf("the configuration makes %v: only float32 and uint8 can be compared", field)
	}
	if err == nil && len(m.exact) != 3*m.h*m.w {
		return fmt.Errorf("the configuration makes %d values of %d×%d pixels: only images of three channels can be compared", len(m.exact), m.h, m.w)
	}
	return err
}

// Calls as the plan prints them: see [transform.Step].
var (
	resizeCall    = regexp.MustCompile(`Resize\(([^()]*?)(?:, Interpolation\((\w+)\))?\)`)
	cropCall      = regexp.MustCompile(`CenterCrop\(([^(),]*)((?:, \w+\([^()]*\))*)\)`)
	fillCall      = regexp.MustCompile(`Fill\(([^()]*)\)`)
	padCall       = regexp.MustCompile(`PadTo\(([^()]*)\)`)
	rescaleCall   = regexp.MustCompile(`Rescale\(([^()]*)\)`)
	normalizeCall = regexp.MustCompile(`Normalize\(\[([^\]]*)\], \[([^\]]*)\]\)`)
	numberText    = regexp.MustCompile(`-?\d[\d.eE+-]*`)
)

// read takes the steps of the plan apart.
func (m *model) read() error {
	m.turned = strings.Contains(m.plan, "ExifTranspose()")
	m.filter = filterOf("bilinear")
	if call := resizeCall.FindStringSubmatch(m.plan); call != nil {
		m.resize = m.rule(call[1])
		if call[2] != "" {
			m.filter = filterOf(call[2])
		}
	}
	if call := cropCall.FindStringSubmatch(m.plan); call != nil {
		m.crop = area(call[1])
		m.floor = strings.Contains(call[2], "Floor()")
		if fill := fillCall.FindStringSubmatch(call[2]); fill != nil {
			for c, v := range spread(numbers(fill[1])) {
				m.fill[c] = float32(v)
			}
		}
	}
	if call := padCall.FindStringSubmatch(m.plan); call != nil {
		m.pad = area(call[1])
	}
	v := values{scale: 1, std: [3]float64{1, 1, 1}, swapped: strings.Contains(m.plan, "BGR()")}
	if call := rescaleCall.FindStringSubmatch(m.plan); call != nil {
		v.scale = numbers(call[1])[0]
	} else if strings.Contains(m.plan, " ToTensor()") {
		v.scale = 1.0 / 255
	}
	for _, call := range normalizeCall.FindAllStringSubmatch(m.plan, -1) {
		v = v.normalized(spread(numbers(call[1])), spread(numbers(call[2])))
	}
	if m.filter < 0 {
		return fmt.Errorf("the plan of the steps is not understood: %q", m.plan)
	}
	for c := range 3 {
		if _, a, b := v.channel(c); a == 0 || math.IsInf(a, 0) || math.IsNaN(a+b) {
			return fmt.Errorf("scale %v, mean %v and std %v: the values say nothing of the pixels", v.scale, v.mean, v.std)
		}
	}
	m.values = v
	return nil
}

// rule is the size that a resize makes, by its text in the plan. Other texts are rules of single models: for them the size
// is that of the result, if nothing crops it.
func (m *model) rule(text string) func(w, h int) (int, int) {
	n := numbers(text)
	even := func(v float64) int { return int(math.RoundToEven(v)) }
	switch {
	case strings.HasPrefix(text, "["):
		return func(int, int) (int, int) { return int(n[1]), int(n[0]) }
	case len(n) == 1 && strconv.Itoa(int(n[0])) == text:
		return func(w, h int) (int, int) { return shortest(int(n[0]), w, h) }
	case strings.HasPrefix(text, "to cover ") && len(n) == 2:
		return func(w, h int) (int, int) {
			ratio := min(float64(h)/n[0], float64(w)/n[1])
			return even(float64(w) / ratio), even(float64(h) / ratio)
		}
	case strings.HasPrefix(text, "to fit into ") && len(n) == 2:
		return func(w, h int) (int, int) {
			ratio := max(float64(h)/n[0], float64(w)/n[1])
			return even(float64(w) / ratio), even(float64(h) / ratio)
		}
	case strings.HasPrefix(text, "longest edge ") && len(n) == 1:
		return func(w, h int) (int, int) {
			scale := n[0] / float64(max(w, h))
			return int(float64(w)*scale + 0.5), int(float64(h)*scale + 0.5)
		}
	}
	return func(w, h int) (int, int) {
		if m.crop != (image.Point{}) {
			return 0, 0
		}
		return m.extent()
	}
}

// extent is the size of the image in the exact tensor, without the zeros of PadTo.
func (m *model) extent() (w, h int) {
	if m.pad == (image.Point{}) {
		return m.w, m.h
	}
	for i, v := range m.exact {
		if v != 0 {
			w, h = max(w, i%m.w+1), max(h, i/m.w%m.h+1)
		}
	}
	return w, h
}

// shortest makes the shorter side n pixels long, and cuts the fraction of the longer one off, as torchvision does.
func shortest(n, w, h int) (int, int) {
	if w <= h {
		return n, n * h / w
	}
	return n * w / h, n
}

// area is a size as it prints: one number, or [height width].
func area(text string) image.Point {
	switch n := numbers(text); len(n) {
	case 1:
		return image.Pt(int(n[0]), int(n[0]))
	case 2:
		return image.Pt(int(n[1]), int(n[0]))
	}
	return image.Point{}
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
