package raster

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/internal/testenv"
)

// A deepColourCase is one of testdata/deepcolours.json.
type deepColourCase struct {
	Dtype         string
	Shape, Result [3]int
	Seed          uint32
	Steps         [][]any
	Values        []byte
}

var deepDtypes = map[string]dataset.Dtype{"uint8": dataset.Uint8, "uint16": dataset.Uint16, "int16": dataset.Int16, "float32": dataset.Float32}

// image is the image of the case, from a linear congruential generator.
func (c *deepColourCase) image() *Floats {
	s, m := c.Shape, &Floats{}
	m.Planes.Resize(s[0], s[2], s[1])
	m.Dtype = deepDtypes[c.Dtype]
	x := c.Seed
	for i := range m.Pix {
		x = 1664525*x + 1013904223
		switch c.Dtype {
		case "uint8":
			m.Pix[i] = float32(uint8(x >> 16))
		case "uint16":
			m.Pix[i] = float32(x >> 16)
		case "int16":
			m.Pix[i] = float32(int16(x >> 16))
		default:
			m.Pix[i] = float32(x>>8) / (1 << 24)
		}
	}
	return m
}

// want is torchvision's values.
func (c *deepColourCase) want() []float32 {
	switch c.Dtype {
	case "uint8":
		return toFloats(c.Values)
	case "uint16":
		return toFloats(dense.Values[uint16](c.Values))
	case "int16":
		return toFloats(dense.Values[int16](c.Values))
	}
	return dense.Values[float32](c.Values)
}

func toFloats[T uint8 | uint16 | int16](values []T) []float32 {
	var all []float32
	for _, v := range values {
		all = append(all, float32(v))
	}
	return all
}

var augmentations = map[string]Augmentation{
	"Identity": Identity, "ShearX": ShearX, "ShearY": ShearY, "TranslateX": TranslateX, "TranslateY": TranslateY, "Rotate": Rotation,
	"Brightness": Brightness, "Color": Colour, "Contrast": Contrast, "Sharpness": Sharpness, "Posterize": Posterization,
	"Solarize": Solarization, "AutoContrast": AutoContrast, "Equalize": Equalization, "Invert": Inversion,
}

var filtersOf = map[string]resize.Filter{"nearest": resize.Nearest, "bilinear": resize.Bilinear, "bicubic": resize.Bicubic}

// vectorsOf are vectors of up to three pixels, from a linear congruential generator.
func vectorsOf(m *Floats, seed uint32) *Field {
	var f Field
	for _, v := range []*[]float32{&f.X, &f.Y} {
		for range m.Width * m.Height {
			seed = 1664525*seed + 1013904223
			*v = append(*v, (float32(seed>>8)/(1<<24)-0.5)*6)
		}
	}
	return &f
}

// run does a step of the case.
func (c *deepColourCase) run(t *testing.T, m *Floats, step []any) {
	d := m.depth()
	arg := func(i int) float64 { return step[i].(float64) }
	switch name := step[0].(string); name {
	case "dark":
		for i, v := range m.Pix {
			if d.Whole {
				m.Pix[i] = min(float32(int32(v)&32767>>2), d.Most)
			} else {
				m.Pix[i] = v * v
			}
		}
	case "rough":
		for i, v := range m.Pix {
			m.Pix[i] = float32(v*2) - 0.5
		}
	case "brightness":
		m.Brightness(arg(1))
	case "contrast":
		m.Contrast(arg(1))
	case "saturation":
		m.Saturation(arg(1))
	case "hue":
		m.Hue(arg(1))
	case "grey":
		m.Grey(int(arg(1)))
	case "equalize":
		m.Equalize()
	case "posterize":
		m.Posterize(int(arg(1)))
	case "sharpness":
		m.Sharpness(arg(1))
	case "noise":
		m.Noise(arg(1), 0, rand.New(rand.NewPCG(1, 1)))
	case "elastic":
		m.Displace(vectorsOf(m, uint32(arg(2))), Painter{filtersOf[step[1].(string)], Fill{Values: &[]float32{float32(arg(3))}}})
	case "augment":
		augmentations[step[1].(string)].Apply(m, arg(2), Painter{Filter: filtersOf[step[3].(string)]})
	default:
		t.Fatal(name)
	}
}

// TestDeepColoursAreTorchvisions compares with what torchvision makes of tensors. Contrast, hue and
// sharpness, whose sums torchvision rounds in another way, are within one level or 2e-6, and
// bilinear warps within one level or 2e-5. All else is the same bits.
func TestDeepColoursAreTorchvisions(t *testing.T) {
	testenv.OneGoroutine(t)
	cases := readDeepColours(t)
	if len(cases) < 400 {
		t.Fatalf("%d cases", len(cases))
	}
	same, all := map[string]int{}, map[string]int{}
	for _, c := range cases {
		m, last := c.image(), c.Steps[len(c.Steps)-1]
		for _, step := range c.Steps {
			c.run(t, m, step)
		}
		name := last[0].(string)
		whole, off := m.depth().Whole, 0.0
		if name == "augment" {
			name = last[1].(string)
		}
		switch name {
		case "elastic":
			if last[1] != "nearest" {
				off = 2e-5
			}
		case "hue", "contrast", "sharpness", "Contrast", "Sharpness":
			off = 2e-6
		case "ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate":
			if last[3] == "bilinear" {
				off = 2e-5
			}
		}
		if whole && off > 0 {
			off = 1
		}
		if got := [3]int{m.Channels(), m.Height, m.Width}; got != c.Result {
			t.Errorf("%s %v %v: got the shape %v, want %v", c.Dtype, c.Shape, c.Steps, got, c.Result)
			continue
		}
		for i, want := range c.want() {
			all[name]++
			if m.Pix[i] == want {
				same[name]++
			} else if !(math.Abs(float64(m.Pix[i]-want)) <= off) {
				t.Errorf("%s %v %v: value %d is %v, want %v", c.Dtype, c.Shape, c.Steps, i, m.Pix[i], want)
				break
			}
		}
	}
	for name, n := range all {
		t.Logf("%s: %d of %d values are the same bits", name, same[name], n)
		if 5*same[name] < 4*n {
			t.Errorf("%s: %d of %d values differ", name, n-same[name], n)
		}
	}
}

// TestElasticImagesAreTorchvisions compares images of 8 bits with the same cases, within one level.
func TestElasticImagesAreTorchvisions(t *testing.T) {
	testenv.OneGoroutine(t)
	n := 0
	for _, c := range readDeepColours(t) {
		step := c.Steps[0]
		if step[0] != "elastic" || c.Dtype != "uint8" {
			continue
		}
		n++
		m, img := c.image(), new(Bytes)
		img.Resize(m.Width, m.Height)
		area := m.Width * m.Height
		for i, v := range m.Pix {
			img.Pix[4*(i%area)+i/area] = uint8(v)
		}
		fill := uint8(step[3].(float64))
		img.Displace(vectorsOf(m, uint32(step[2].(float64))), Painter{filtersOf[step[1].(string)], Fill{Colour: [3]uint8{fill, fill, fill}}})
		for i, want := range c.want() {
			if got := float32(img.Pix[4*(i%area)+i/area]); math.Abs(float64(got-want)) > 1 {
				t.Errorf("%v: value %d is %v, want %v", c.Steps, i, got, want)
				break
			}
		}
	}
	if n < 8 {
		t.Errorf("%d cases", n)
	}
}

func readDeepColours(t *testing.T) (cases []deepColourCase) {
	t.Helper()
	datatest.JSON(t, "../../testdata/deepcolours.json", &cases)
	return cases
}
