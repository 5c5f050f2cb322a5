package transform_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"image"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/transform"
	"github.com/penstock-go/penstock/transform/zstd"
)

// deepGolden is testdata/depth/golden.json, which make.py there has written.
type deepGolden struct {
	Files map[string]struct {
		Shape  [3]int
		SHA256 string
	}
	Steps []deepCase
}

type deepCase struct {
	Dtype         string
	Shape, Result []int
	Seed          uint32
	Steps         [][]string
	Values        string
}

func readDeepGolden(t testing.TB) (g deepGolden) {
	t.Helper()
	datatest.JSON(t, "testdata/depth/golden.json", &g)
	return g
}

func deepFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "depth", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// whole are the samples of a file as they are stored.
func whole(t testing.TB, data []byte, c, h, w int) []float32 {
	t.Helper()
	x, err := transform.Images(blobs(data), zstd.TIFF(), transform.Depth16(c), transform.Crop(0, 0, h, w), transform.PILToTensor(), transform.ToDtype(dataset.Float32))
	if err != nil {
		t.Fatal(err)
	}
	return deepValues[float32](t, x, 0)
}

func TestFilesKeepTheirSamples(t *testing.T) {
	g := readDeepGolden(t)
	if len(g.Files) < 35 {
		t.Fatalf("%d files", len(g.Files))
	}
	for name, f := range g.Files {
		got := sha256.Sum256(dense.Bytes(whole(t, deepFile(t, name), f.Shape[0], f.Shape[1], f.Shape[2])))
		if hex.EncodeToString(got[:]) != f.SHA256 {
			t.Errorf("%s: other samples", name)
		}
	}
}

func TestWindowsOfDeepFilesAreCrops(t *testing.T) {
	g := readDeepGolden(t)
	for name, f := range g.Files {
		c, h, w := f.Shape[0], f.Shape[1], f.Shape[2]
		data := deepFile(t, name)
		all := whole(t, data, c, h, w)
		for _, r := range []image.Rectangle{image.Rect(0, 0, 1, 1), image.Rect(3, 5, 9, 7), image.Rect(w-2, h-3, w, h), image.Rect(1, 0, w, 8)} {
			x := images(t, blobs(data), zstd.TIFF(), transform.Depth16(c), transform.Crop(r.Min.Y, r.Min.X, r.Dy(), r.Dx()), transform.PILToTensor(), transform.ToDtype(dataset.Float32))
			var want []float32
			for k := range c {
				for y := r.Min.Y; y < r.Max.Y; y++ {
					want = append(want, all[(k*h+y)*w+r.Min.X:][:r.Dx()]...)
				}
			}
			if !bytes.Equal(dense.Bytes(deepValues[float32](t, x, 0)), dense.Bytes(want)) {
				t.Errorf("%s: window %v is no crop", name, r)
			}
		}
	}
}

func TestCutDeepFilesAreErrorsThatNameThem(t *testing.T) {
	g := readDeepGolden(t)
	for _, name := range slices.Sorted(maps.Keys(g.Files)) {
		f, data := g.Files[name], deepFile(t, name)
		for _, n := range []int{len(data) / 4, len(data) / 2, len(data) - 2} {
			if strings.Contains(name, "plain") && n == len(data)-2 {
				continue // the last number is shorter
			}
			if strings.HasPrefix(name, "tiff") && n == len(data)-2 {
				n -= 40 // the file ends with an entry that no reader needs
			}
			x := images(t, blobs(data[:n]), transform.Depth16(f.Shape[0]), transform.Crop(0, 0, f.Shape[1], f.Shape[2]))
			_, err := dataset.At(t.Context(), x, 0)
			if err == nil || !strings.Contains(err.Error(), "decode: ") || !strings.HasPrefix(err.Error(), "dataset: ") && !strings.HasPrefix(err.Error(), "transform: ") {
				t.Errorf("%s, %d of %d bytes: %v", name, n, len(data), err)
			}
		}
	}
}

func TestFilesOfDepth16TakeNoAllocation(t *testing.T) {
	testenv.OneGoroutine(t)
	for name, f := range readDeepGolden(t).Files {
		if strings.HasSuffix(name, ".png") {
			continue // the standard library's decoder allocates every image
		}
		t.Run(name, func(t *testing.T) {
			allocatesNothing(t, images(t, blobs(deepFile(t, name)), zstd.TIFF(), transform.Depth16(f.Shape[0]), transform.RandomResizedCrop(9), transform.ToTensor()))
		})
	}
}

// TestDepth16IsTorchvision compares with torchvision's tensors. After a resize or a blur, whose
// sums torchvision rounds in another way, integers are within one level, and floats within
// 2e-6. A bilinear warp, for which torchvision computes places in float32, is within a
// level or 2e-5. All else is the same bits.
func TestDepth16IsTorchvision(t *testing.T) {
	testenv.OneGoroutine(t)
	g := readDeepGolden(t)
	if len(g.Steps) < 90 {
		t.Fatalf("%d cases", len(g.Steps))
	}
	same, off := 0, 0
	for _, c := range g.Steps {
		if all := fmt.Sprint(c.Steps); c.Dtype == "uint8" && (strings.Contains(all, "bicubic") || strings.Contains(all, "lanczos")) {
			continue // resized as float32 there: TestDepth16ResizesUint8AsPillowDoes
		}
		text, err := base64.StdEncoding.DecodeString(c.Values)
		if err != nil {
			t.Fatal(err)
		}
		want := dense.Values[float32](append(make([]byte, 0, len(text)), text...))
		got := deepValues[float32](t, images(t, c.dataset(t), c.steps(t)...), 0)
		if len(got) != len(want) {
			t.Errorf("%v: %d values, want %d", c.Steps, len(got), len(want))
			continue
		}
		has := func(name string) bool {
			return slices.ContainsFunc(c.Steps, func(s []string) bool { return strings.HasPrefix(s[0], name) })
		}
		unit := 1.0
		if warp := fmt.Sprint(c.Steps); strings.Contains(warp, "bilinear") && (has("rotate") || has("affine")) {
			if c.Dtype == "float32" {
				unit = 2e-5
			}
		} else if !has("resize") && !has("blur") {
			unit = 0
		} else if c.Dtype == "float32" || has("totensor") {
			unit = 2e-6
			if c.Dtype != "float32" {
				unit += 1 / map[string]float64{"uint8": 255, "uint16": 65535, "int16": 32767}[c.Dtype]
			}
		}
		for i, v := range got {
			switch d := math.Abs(float64(v) - float64(want[i])); {
			case d == 0:
				same++
			case d > unit:
				t.Fatalf("%s %v %v: value %d is %v, want %v", c.Dtype, c.Shape, c.Steps, i, v, want[i])
			default:
				off++
			}
		}
	}
	t.Logf("%d values are the same bits, %d are not", same, off)
	if off > same/4 {
		t.Errorf("%d of %d values differ", off, same+off)
	}
}

func (c *deepCase) dataset(t *testing.T) dataset.Dataset {
	shape := dataset.Shape(c.Shape)
	n := shape.Elements()
	switch c.Dtype {
	case "uint8":
		return arrays(t, dataset.Uint8, shape, lcg(make([]uint8, n), c.Seed))
	case "uint16":
		return arrays(t, dataset.Uint16, shape, dense.Bytes(lcg(make([]uint16, n), c.Seed)))
	case "int16":
		return arrays(t, dataset.Int16, shape, dense.Bytes(lcg(make([]int16, n), c.Seed)))
	}
	return arrays(t, dataset.Float32, shape, dense.Bytes(lcg(make([]float32, n), c.Seed)))
}

var filterOf = map[string]transform.Filter{"bicubic": transform.Bicubic, "nearest": transform.Nearest, "lanczos": transform.Lanczos}

func numberOf(t *testing.T, text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (c *deepCase) steps(t *testing.T) []transform.Item {
	list := []transform.Item{transform.Depth16(c.Shape[0])}
	unit := false
	for _, s := range c.Steps {
		var n []int
		for _, v := range s[1:] {
			if i, err := strconv.Atoi(v); err == nil {
				n = append(n, i)
			}
		}
		last := s[len(s)-1]
		filter := filterOf[last]
		switch s[0] {
		case "resize":
			list = append(list, resizeTo(n, transform.Interpolation(filter)))
		case "resizedcrop":
			list = append(list, transform.Crop(n[0], n[1], n[2], n[3]), resizeTo(n[4:], transform.Interpolation(filter)))
		case "crop":
			list = append(list, transform.Crop(n[0], n[1], n[2], n[3]))
		case "center":
			list = append(list, transform.CenterCrop([2]int{n[0], n[len(n)-1]}))
		case "hflip":
			list = append(list, transform.RandomHorizontalFlip(1))
		case "vflip":
			list = append(list, transform.RandomVerticalFlip(1))
		case "pad":
			mode := map[string]transform.PadMode{"edge": transform.Edge, "reflect": transform.Reflect, "symmetric": transform.Symmetric}[last]
			list = append(list, padBy(n, transform.PaddingMode(mode)))
		case "rotate":
			options := []transform.Option{transform.Interpolation(filterOf[s[2]])}
			if s[3] == "1" {
				options = append(options, transform.Expand())
			}
			list = append(list, transform.RandomRotation(numberOf(t, s[1]), numberOf(t, s[1]), options...))
			if s[3] == "1" {
				list = append(list, transform.Crop(0, 0, c.Result[1], c.Result[2]))
			}
		case "affine":
			v := func(i int) float64 { return numberOf(t, s[i]) }
			list = append(list, transform.RandomAffine(v(1), v(1), transform.Scale(v(2), v(2)), transform.Shear(v(3), v(3), v(4), v(4)), transform.Interpolation(filterOf[s[5]])))
		case "blur":
			list = append(list, transform.GaussianBlur([2]int{n[0], n[1]}, transform.Sigma(numberOf(t, s[3]), numberOf(t, s[3]))))
		case "totensor":
			list, unit = append(list, transform.ToDtype(dataset.Float32, transform.Scaled())), true
		case "normalize":
			var v [2][]float32
			for i := range v {
				for _, x := range strings.Fields(s[1+i]) {
					f, err := strconv.ParseFloat(x, 32)
					if err != nil {
						t.Fatal(err)
					}
					v[i] = append(v[i], float32(f))
				}
			}
			list = append(list, transform.Normalize(v[0], v[1]))
		default:
			t.Fatal(fmt.Sprint(s))
		}
	}
	if !unit {
		list = append(list, transform.PILToTensor(), transform.ToDtype(dataset.Float32))
	}
	return list
}
