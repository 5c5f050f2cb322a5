package transform

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/testenv"
)

// A torchCase is what torchvision made of a sample. testdata/annotations/make.py
// writes it.
type torchCase struct {
	W, H                         int
	Format, Boxes, Points        string
	Steps                        [][]any
	Draws                        []any
	ToW, ToH                     int
	ToBoxes, ToPoints            string
	Mask, Planes                 string
	Labels                       []int64
	boxes, points, result, moved []float32
}

func torchCases(t *testing.T) []torchCase {
	t.Helper()
	f, err := os.Open("testdata/annotations/cases.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var cases []torchCase
	if err := json.NewDecoder(z).Decode(&cases); err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		c := &cases[i]
		c.boxes, c.points, c.result, c.moved = floats(t, c.Boxes), floats(t, c.Points), floats(t, c.ToBoxes), floats(t, c.ToPoints)
	}
	return cases
}

// floats are float32 numbers of 8 hexadecimal digits each.
func floats(t *testing.T, text string) []float32 {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	var v []float32
	for ; len(b) > 0; b = b[4:] {
		v = append(v, math.Float32frombits(uint32(b[0])<<24|uint32(b[1])<<16|uint32(b[2])<<8|uint32(b[3])))
	}
	return v
}

// step makes a step of its name and arguments.
// resizeTo is Resize with one or two numbers.
func resizeTo(n []int, options ...Option) Step {
	if len(n) == 1 {
		return Resize(n[0], options...)
	}
	return Resize([2]int(n), options...)
}

// padBy is Pad with one, two or four numbers.
func padBy(n []int, options ...Option) Step {
	switch len(n) {
	case 1:
		return Pad(n[0], options...)
	case 2:
		return Pad([2]int(n), options...)
	}
	return Pad([4]int(n), options...)
}

func (c *torchCase) step(t *testing.T, s []any) Step {
	t.Helper()
	n := make([]int, len(s)-1)
	for i, v := range s[1:] {
		n[i] = int(v.(float64))
	}
	switch name := s[0].(string); name {
	case "Crop":
		return Crop(n[0], n[1], n[2], n[3])
	case "Resize", "ResizeTo":
		return resizeTo(n)
	case "Pad":
		return padBy(n)
	case "CenterCrop":
		return CenterCrop([2]int{n[0], n[len(n)-1]})
	case "Flip":
		return RandomHorizontalFlip(1)
	case "VerticalFlip":
		return RandomVerticalFlip(1)
	case "ResizedCrop":
		return Compose(Crop(n[0], n[1], n[2], n[3]), resizeTo(n[4:]))
	case "Clamp":
		return Compose(ClampBoundingBoxes(), ClampKeyPoints())
	case "Convert":
		return ConvertBoundingBoxFormat(dataset.BoxesXYXY + dataset.Kind(n[0]))
	case "Sanitize":
		return SanitizeBoundingBoxes()
	case "RandomIoUCrop":
		return RandomIoUCrop()
	case "RandomZoomOut":
		return RandomZoomOut(1)
	case "ScaleJitter":
		return ScaleJitter([2]int{n[0], n[len(n)-1]}, Scale(0.6, 2))
	case "RandomShortestSize":
		return RandomShortestSize(n, MaxSize(90))
	case "RandomResize":
		return RandomResize(n[0], n[1])
	case "FixedSizeCrop":
		return FixedSizeCrop([2]int{n[0], n[1]})
	default:
		t.Fatalf("no step %q", name)
		return nil
	}
}

// scripted gives a step the draws that torch made: numbers of 24 bits, and pairs of a
// number and how many there are.
type scripted struct {
	draws []any
	fixed bool // there are none: 0 is a flip
}

func (s *scripted) Uint64() uint64 {
	if s.fixed {
		return 0
	}
	if len(s.draws) == 0 {
		panic("more draws than torchvision's")
	}
	d := s.draws[0]
	s.draws = s.draws[1:]
	if pair, ok := d.([]any); ok {
		// IntN takes the lower bits where the number is a power of 2, and else a part of
		// the upper half's range, of which this is the middle.
		k, n := pair[0].(float64), pair[1].(float64)
		return uint64((k+0.5)*(1<<32)/n)<<32 | uint64(k)
	}
	return uint64(d.(float64)) << 32 // for Float32
}

// place makes the sample as the case does, with a mask, planes and labels.
func (c *torchCase) dataset() dataset.Dataset {
	n := len(c.boxes) / 4
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{c.H, c.W, 3}},
		{Name: "boxes", Dtype: dataset.Float32, Shape: dataset.Shape{4}, Ragged: true},
		{Name: "points", Dtype: dataset.Float32, Shape: dataset.Shape{2}, Ragged: true},
		{Name: "mask", Dtype: dataset.Uint8, Shape: dataset.Shape{c.H, c.W}},
		{Name: "planes", Dtype: dataset.Uint8, Ragged: true},
		{Name: "label", Dtype: dataset.Int64, Ragged: true},
	}
	return dataset.Func(1, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		clear(dataset.Row[uint8](dst, 0))
		copy(dataset.Grow[float32](dst, 1, n), c.boxes)
		copy(dataset.Grow[float32](dst, 2, len(c.points)/2), c.points)
		mask, planes := dataset.Row[uint8](dst, 3), dataset.Grow[uint8](dst, 4, n*c.W*c.H)
		for i := range mask {
			mask[i] = uint8((7*(i%c.W) + 13*(i/c.W)) % 251)
			for k := range n {
				planes[k*len(mask)+i] = (mask[i] + uint8(3*k)) % 251
			}
		}
		for k, row := 0, dataset.Grow[int64](dst, 5, n); k < n; k++ {
			row[k] = int64(k)
		}
		return nil
	})
}

func (c *torchCase) format() dataset.Kind {
	return dataset.BoxesXYXY + dataset.Kind(slices.Index([]string{"XYXY", "XYWH", "CXCYWH"}, c.Format))
}

func TestAnnotationsBecomeTorchvisions(t *testing.T) {
	testenv.OneGoroutine(t)
	count := map[string]int{}
	least := 100
	for i, c := range torchCases(t) {
		if testing.Short() && i%5 != 0 {
			least = 10
			continue
		}
		list := []Item{Boxes("boxes", c.format(), With("label")), KeyPoints("points"), Mask("mask"), Masks("planes")}
		for _, s := range c.Steps {
			list = append(list, c.step(t, s))
			count[s[0].(string)]++
		}
		name := fmt.Sprintf("case %d: %d×%d %v", i, c.W, c.H, c.Steps)
		x, err := Images(c.dataset(), append(list, Sizes("size"), Ragged())...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := runDrawn(t, x, &scripted{c.Draws, len(c.Draws) == 0})
		size := dataset.Row[int64](got, 6)
		boxes, points := dataset.Row[float32](got, 1), dataset.Row[float32](got, 2)
		mask, planes := crc32.ChecksumIEEE(dataset.Row[uint8](got, 3)), crc32.ChecksumIEEE(dataset.Row[uint8](got, 4))
		switch labels := dataset.Row[int64](got, 5); {
		case size[0] != int64(c.ToH) || size[1] != int64(c.ToW):
			t.Errorf("%s: %v pixels (height×width), want %d×%d", name, size, c.ToH, c.ToW)
		case !equalBits(boxes, c.result):
			t.Errorf("%s: boxes %v → %v, want %v", name, c.boxes, boxes, c.result)
		case !equalBits(points, c.moved):
			t.Errorf("%s: points %v → %v, want %v", name, c.points, points, c.moved)
		case !slices.Equal(labels, c.Labels):
			t.Errorf("%s: labels %v, want %v", name, labels, c.Labels)
		case fmt.Sprintf("%08x", mask) != c.Mask:
			t.Errorf("%s: other numbers in the mask", name)
		case fmt.Sprintf("%08x", planes) != c.Planes:
			t.Errorf("%s: other numbers in the planes", name)
		}
	}
	for name, n := range count {
		if n < least {
			t.Errorf("%s is in %d cases, want at least %d", name, n, least)
		}
	}
}

// runDrawn is Place of sample 0, with random numbers from draws.
func runDrawn(t *testing.T, x *Pipeline, draws rand.Source) dataset.Slot {
	t.Helper()
	r, dst := opened(t, x)
	defer r.Close()
	err := r.Read(t.Context(), 0, dst)
	if err == nil {
		err = r.Begin(dst)
	}
	if err == nil {
		err = r.Lane.Engine.Annotations.Begin(r.Lane, dst)
	}
	if err == nil {
		err = r.Lane.Run(rand.New(draws))
	}
	if err == nil {
		r.Put(dst)
		err = r.Lane.Engine.Annotations.Store()
	}
	if err != nil {
		t.Fatalf("%v: %v", x, err)
	}
	return dst
}

func equalBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}
