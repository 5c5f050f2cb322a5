package transform

import (
	"context"
	"encoding/hex"
	"image"
	"math"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// A warpCase is what torchvision made of annotations. testdata/annotations/warps.py writes
// it.
type warpCase struct {
	W, H              int
	Format, Kind      string
	Args              []float64
	Boxes, Points     []float32
	ToBoxes, ToPoints []float32
	Mask              string
}

func (c *warpCase) mapping() raster.Mapping {
	a := c.Args
	switch c.Kind {
	case "rotate":
		t := raster.Turn{Angle: a[0], Centred: true}
		m, _, _ := t.Inverse(c.W, c.H)
		return m
	case "affine":
		return raster.Affinity{Angle: a[0], MoveX: a[1], MoveY: a[2], Scale: a[3], ShearX: a[4], ShearY: a[5]}.Inverse(float64(c.W)/2, float64(c.H)/2)
	}
	var corners [4]image.Point
	for i := range corners {
		corners[i] = image.Pt(int(a[2*i]), int(a[2*i+1]))
	}
	return raster.ToCorners(c.W, c.H, corners)
}

// TestAnnotationsFollowWarps allows boxes and keypoints a thousandth of a pixel or of their
// coordinate, because torchvision computes matrices in float32. Where a pixel of a mask lies
// between two, it may take the other.
func TestAnnotationsFollowWarps(t *testing.T) {
	followCases(t, "warps.json", 100, func(_ int, c *warpCase, a *engine.Annotations) error {
		m := c.mapping()
		return a.Follow(&m, c.W, c.H)
	})
}

// TestAnnotationsFollowElasticTransform has vectors with which no pixel lies between two.
func TestAnnotationsFollowElasticTransform(t *testing.T) {
	followCases(t, "elastic.json", 0, func(k int, c *warpCase, a *engine.Annotations) error {
		f := raster.Field{X: make([]float32, c.W*c.H), Y: make([]float32, c.W*c.H)}
		for i := range f.X {
			x, y := i%c.W, i/c.W
			f.X[i], f.Y[i] = float32(2*((7*x+13*y+k)%17)-15)/8, float32(2*((11*x+3*y+2*k)%19)-17)/8
		}
		return a.Displace(&f)
	})
}

// followCases compares with the cases of a file what follow makes of their annotations. One
// pixel of this many may be another, or none.
func followCases(t *testing.T, file string, oneOf int, follow func(k int, c *warpCase, a *engine.Annotations) error) {
	t.Helper()
	var cases []warpCase
	datatest.JSON(t, "testdata/annotations/"+file, &cases)
	near := func(a, b float32) bool { return math.Abs(float64(a-b)) <= 2e-3*max(1, math.Abs(float64(b))/30) }
	pixels, others := 0, 0
	for i, c := range cases {
		sample := torchCase{W: c.W, H: c.H, Format: c.Format, boxes: c.Boxes, points: c.Points}
		x, err := Images(sample.dataset(), Boxes("boxes", sample.format()), KeyPoints("points"), Mask("mask"), CenterCrop([2]int{c.H, c.W}))
		if err != nil {
			t.Fatal(err)
		}
		r, dst := opened(t, x)
		a := r.Lane.Engine.Annotations
		if err := r.Read(t.Context(), 0, dst); err != nil {
			t.Fatal(err)
		}
		r.Lane.Engine.Begin(&r.Raw, c.W, c.H, dst)
		if err := a.Begin(r.Lane, dst); err != nil {
			t.Fatal(err)
		}
		if err := follow(i, &c, a); err != nil {
			t.Fatal(err)
		}
		if err := a.Store(); err != nil {
			t.Fatal(err)
		}
		if got := dataset.Row[float32](dst, 1); !slices.EqualFunc(got, c.ToBoxes, near) {
			t.Errorf("case %d: %s%v of %d×%d: boxes %v, want %v", i, c.Kind, c.Args, c.W, c.H, got, c.ToBoxes)
		}
		if got := dataset.Row[float32](dst, 2); !slices.EqualFunc(got, c.ToPoints, near) {
			t.Errorf("case %d: %s%v of %d×%d: points %v, want %v", i, c.Kind, c.Args, c.W, c.H, got, c.ToPoints)
		}
		want, err := hex.DecodeString(c.Mask)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range dataset.Row[uint8](dst, 3)[:len(want)] {
			pixels++
			if v != want[k] {
				others++
			}
		}
		r.Close()
	}
	if pixels < 10_000 || others > 0 && (oneOf == 0 || others > pixels/oneOf) {
		t.Errorf("%d of %d pixels of masks are others than in torchvision", others, pixels)
	}
	t.Logf("%d of %d pixels of masks differ", others, pixels)
}

// TestMasksFollowTheirImages gives a mask and its image the same numbers, and warps both.
func TestMasksFollowTheirImages(t *testing.T) {
	c := torchCase{W: 40, H: 40}
	for _, list := range [][]Item{
		{RandomRotation(-180, 180)},
		{RandomRotation(90, 90)},
		{RandomRotation(-90, -90)},
		{RandomRotation(20, 20, Expand())},
		{RandomAffine(-40, 40, Translate(0.2, 0.1), Scale(0.5, 1.5), Shear(-20, 20))},
		{RandomPerspective(0.5, 1, Interpolation(Nearest))},
		{ElasticTransform(60, 3, Interpolation(Nearest))},
		{RandomHorizontalFlip(1), RandomCrop([2]int{30, 36}), RandomRotation(30, 30), ElasticTransform(60, 3, Interpolation(Nearest)), Crop(2, 3, 25, 20)},
		{RandomRotation(30, 30), RandomRotation(-30, -30), RandomVerticalFlip(1)},
	} {
		x, err := Images(grey(c), append([]Item{Mask("mask")}, append(slices.Clone(list), Ragged(), Sizes("size"))...)...)
		if err != nil {
			t.Fatal(err)
		}
		sample, err := dataset.At(t.Context(), x, 0)
		if err != nil {
			t.Fatal(err)
		}
		pix, mask := dataset.ValuesOf[uint8](sample["image"]), dataset.ValuesOf[uint8](sample["mask"])
		for i, v := range mask {
			if pix[3*i] != v {
				t.Errorf("%v: pixel %d of the mask is %d, that of the image %d", list, i, v, pix[3*i])
				break
			}
		}
		if len(mask) == 0 || 3*len(mask) != len(pix) {
			t.Errorf("%v: %d pixels of the mask, %d bytes of the image", list, len(mask), len(pix))
		}
	}
}

// grey is the dataset of a case whose image has the numbers of its mask.
func grey(c torchCase) dataset.Dataset {
	inner := c.dataset()
	return dataset.Func(1, inner.Spec(), func(ctx context.Context, i int, dst dataset.Slot) error {
		r, err := inner.Open()
		if err != nil {
			return err
		}
		if err := r.Place(ctx, i, dst); err != nil {
			return err
		}
		pix := dataset.Row[uint8](dst, 0)
		for k, v := range dataset.Row[uint8](dst, 3) {
			pix[3*k], pix[3*k+1], pix[3*k+2] = v, v, v
		}
		return r.Close()
	})
}
