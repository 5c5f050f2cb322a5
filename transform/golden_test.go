package transform

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/testenv"
)

// golden holds Pillow's results, which testdata/golden.py wrote.
type golden struct {
	Resize []struct {
		W, H, RW, RH int
		Filter       string
		Box          [4]int
		Flip, Upend  bool
		SHA          string
	}
	Eval []struct {
		W, H, Size, Crop int
		SHA              string
	}
	Files []struct {
		Name string
		W, H int
		RGB  string
	}
	Exif []struct {
		Orientation, W, H int
		File, SHA, Small  string
	}
	Turned []struct {
		Name, File, SHA string
		W, H            int
	}
}

func readGolden(t *testing.T) (g golden) {
	t.Helper()
	return readGoldenOf(t, "golden.json")
}

func readGoldenOf(t *testing.T, name string) (g golden) {
	t.Helper()
	datatest.JSON(t, "testdata/"+name, &g)
	return g
}

// pixels are those of the image that golden.py makes.
func pixels(w, h int) []uint8 {
	pix := make([]uint8, 0, 3*w*h)
	for y := range uint32(h) {
		for x := range uint32(w) {
			for c := range uint32(3) {
				v := (x*x*(7+c) + y*y*(5-c) + x*y*(c+1)) >> 4
				noise := ((x*73 + y*151 + c*199) * (x + 2*y + 3*c + 1)) & 63
				pix = append(pix, uint8(v+noise))
			}
		}
	}
	return pix
}

// imageOf is a dataset of one image, given as pixels.
func imageOf(t testing.TB, w, h int, pix []uint8) dataset.Dataset {
	t.Helper()
	ds, err := dataset.Tensors(dataset.Named("image",
		dataset.TensorOf(pix, 1, h, w, 3)))
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

// result is the only image of ds after steps.
func result(t testing.TB, ds dataset.Dataset, steps ...Item) dataset.Tensor {
	t.Helper()
	x, err := Images(ds, steps...)
	if err != nil {
		t.Fatal(err)
	}
	s, err := dataset.At(t.Context(), x, 0)
	if err != nil {
		t.Fatal(err)
	}
	return s["image"]
}

func sum(pix any) string {
	s := sha256.Sum256(pix.([]uint8))
	return hex.EncodeToString(s[:])
}

// cut is a step that crops to a rectangle.
func cut(r image.Rectangle) Step { return Crop(r.Min.Y, r.Min.X, r.Dy(), r.Dx()) }

func TestResizeIsPillows(t *testing.T) { checkResize(t, "golden.json") }

func TestResizeIsPillow13s(t *testing.T) { checkResize(t, "golden13.json", Pillow(13)) }

func checkResize(t *testing.T, name string, more ...Item) {
	testenv.OneGoroutine(t)
	filters := map[string]Filter{}
	for f := Bilinear; f <= Hamming; f++ {
		filters[f.String()] = f
	}
	for _, c := range readGoldenOf(t, name).Resize {
		steps := append(slices.Clone(more), Resize([2]int{c.RH, c.RW}, Interpolation(filters[c.Filter])), cut(image.Rect(c.Box[0], c.Box[1], c.Box[2], c.Box[3])))
		if c.Flip {
			steps = append(steps, RandomHorizontalFlip(1))
		}
		if c.Upend {
			steps = append(steps, RandomVerticalFlip(1))
		}
		ds := imageOf(t, c.W, c.H, pixels(c.W, c.H))
		if got := sum(result(t, ds, steps...).Data()); got != c.SHA {
			t.Errorf("%v of %d×%d: other pixels than Pillow's", steps, c.H, c.W)
		}
		eager := []Item{}
		for _, s := range steps {
			eager = append(eager, s, Apply(nothing{}))
		}
		if got := sum(result(t, ds, eager...).Data()); got != c.SHA {
			t.Errorf("%v of %d×%d, one by one: other pixels than Pillow's", steps, c.H, c.W)
		}
	}
}

// nothing is a Transform between two steps that keeps them apart.
type nothing struct{}

func (nothing) Apply(*Image, *rand.Rand) error { return nil }

func TestEvalRoundsAsTorchvision(t *testing.T) {
	testenv.OneGoroutine(t)
	for _, c := range readGolden(t).Eval {
		ds := imageOf(t, c.W, c.H, pixels(c.W, c.H))
		if got := sum(result(t, ds, Resize(c.Size), CenterCrop(c.Crop)).Data()); got != c.SHA {
			t.Errorf("Resize(%d), CenterCrop(%d) of %d×%d: other pixels than torchvision's", c.Size, c.Crop, c.H, c.W)
		}
	}
}

type edit func(*Image)

func (f edit) Apply(img *Image, _ *rand.Rand) error { f(img); return nil }

func TestFilesBecomePillowsRGB(t *testing.T) {
	testenv.OneGoroutine(t)
	for _, c := range readGolden(t).Files {
		data, err := os.ReadFile(filepath.Join("testdata", c.Name))
		if err != nil {
			t.Fatal(err)
		}
		want, err := hex.DecodeString(c.RGB)
		if err != nil {
			t.Fatal(err)
		}
		got := dataset.ValuesOf[uint8](result(t, encoded(data), cut(image.Rect(0, 0, c.W, c.H))))
		if !bytes.Equal(got, want) {
			t.Errorf("%s: other pixels than Pillow's", c.Name)
		}
	}
}

// encoded is a dataset of one file.
func encoded(data []byte) dataset.Dataset {
	spec := dataset.Spec{{Name: "image", Dtype: dataset.Uint8, Ragged: true}}
	return filesOf{[][]byte{data}, spec}
}

// filesOf is its own reader.
type filesOf struct {
	files [][]byte
	spec  dataset.Spec
}

func (f filesOf) Len() int { return len(f.files) }

func (f filesOf) Spec() dataset.Spec { return f.spec }

func (f filesOf) Open() (dataset.Reader, error) { return f, nil }

func (f filesOf) Close() error { return nil }

func (f filesOf) Place(_ context.Context, i int, dst dataset.Slot) error {
	copy(dataset.Grow[uint8](dst, 0, len(f.files[i])), f.files[i])
	return nil
}
