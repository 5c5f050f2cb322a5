package transform_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// middle are steps for images of any size; crops come from those that keep values.
var middle = []transform.Item{
	transform.RandomHorizontalFlip(0.5), transform.RandomVerticalFlip(0.5), transform.Pad([4]int{2, 1, 0, 3}), transform.RandomCrop([2]int{9, 7}, transform.PadIfNeeded()),
	transform.RandomZoomOut(0.7), transform.RandomIoUCrop(), transform.CenterCrop([2]int{12, 30}), transform.Crop(-2, 1, 9, 9),
	transform.RandomRotation(-40, 40), transform.RandomRotation(-40, 40, transform.Expand()), transform.RandomAffine(-20, 20, transform.Translate(0.3, 0.3)),
	transform.RandomPerspective(0.5, 0.7), transform.ElasticTransform(20, 2), transform.Resize([2]int{13, 17}), transform.RandomResize(5, 30),
	transform.RandomShortestSize([]int{6, 9}), transform.ScaleJitter([2]int{16, 16}), transform.RandomResizedCrop(11), transform.SanitizeBoundingBoxes(),
	transform.ClampBoundingBoxes(), transform.ColorJitter(0.5, 0.5, 0.5, 0.3), transform.GaussianBlur(5), transform.GaussianNoise(0, 0.1),
	transform.RandomEqualize(0.5), transform.RandomPosterize(3, 0.5), transform.RandomSolarize(90, 0.5), transform.RandomAutocontrast(0.5),
	transform.RandomAdjustSharpness(2, 0.5), transform.RandomInvert(0.5),
	transform.RandomApply(0.5, transform.Resize([2]int{14, 9}), transform.Pad(1)),
	transform.RandomChoice(transform.RandomCrop(4, transform.PadIfNeeded()), transform.RandomRotation(-90, 90), transform.Resize([2]int{3, 20})),
	transform.RandomOrder(transform.RandomHorizontalFlip(0.5), transform.Apply(step(inverted), "mask", "label"), transform.RandomVerticalFlip(0.5)),
	transform.Apply(step(inverted), "mask", "label"),
	transform.Apply(shrunk{}, "mask", "planes", "boxes", "points", "spots", "number"),
}

// combination is a list of steps for mosaics.
func combination(r *rand.Rand, deep bool) []transform.Item {
	list := []transform.Item{
		transform.Boxes("boxes", dataset.BoxesXYXY, transform.With("label", "points")), transform.KeyPoints("points"), transform.KeyPoints("spots"),
		transform.Mask("mask", transform.Fill(7), transform.Dtype(dataset.Int32)), transform.Masks("planes", transform.Fill(5)),
	}
	if deep {
		list = append(list, transform.Depth16(1))
	}
	some := func() (several []transform.Item) {
		for range 1 + r.IntN(5) {
			several = append(several, middle[r.IntN(len(middle))])
		}
		return several
	}
	fixed := func() []transform.Item {
		end := []transform.Item{transform.Resize([2]int{10, 12}), transform.RandomResizedCrop([2]int{10, 12}), transform.CenterCrop([2]int{10, 12})}[r.IntN(3)]
		several := append(some(), end)
		switch r.IntN(4) {
		case 0:
			return several
		case 1:
			return append(several, transform.ToTensor(), transform.RandomErasing(0.5, transform.RandomValue()))
		}
		return append(several, transform.ToTensor(), transform.Normalize([]float32{0.4}, []float32{0.2}))
	}
	switch r.IntN(4) {
	case 0:
		list = slices.DeleteFunc(list, func(it transform.Item) bool { return !strings.HasPrefix(it.String(), "Depth16") })
		return append(list, transform.Views(2, alone(fixed())...), transform.Views(1+r.IntN(2), append(alone(fixed()), transform.As("local"))...))
	case 1:
		return slices.Concat(list, some(), []transform.Item{transform.Ragged(), transform.Sizes("size")})
	case 2:
		return slices.Concat(list, some(), []transform.Item{transform.RandomCrop(20, transform.PadIfNeeded()), transform.ToTensor(), transform.PadTo([2]int{21, 30}), transform.Sizes("size")})
	}
	return append(list, fixed()...)
}

// alone are the steps that want nothing but the image.
func alone(list []transform.Item) []transform.Item {
	return slices.DeleteFunc(list, func(it transform.Item) bool {
		text := it.String()
		return strings.Contains(text, "Boxes") || strings.Contains(text, "IoU") || strings.Contains(text, "mask")
	})
}

// A placed is what a reader made of a sample.
type placed struct {
	cells [][]byte
	err   string
}

func placedBy(ctx context.Context, r dataset.Reader, spec dataset.Spec, i int) placed {
	slot := dataset.NewSlot(spec...)
	datatest.Reset(slot, 3, 0, i)
	if err := r.Place(ctx, i, slot); err != nil {
		return placed{err: err.Error()}
	}
	return placed{cells: cellsOf(slot)}
}

func cellsOf(slot dataset.Slot) (cells [][]byte) {
	for k := range slot.Len() {
		cells = append(cells, slices.Clone(slot.Cell(k).Bytes()))
	}
	return cells
}

func (p placed) equal(q placed) bool {
	return p.err == q.err && slices.EqualFunc(p.cells, q.cells, bytes.Equal)
}

// combinations calls check for many lists of steps with their datasets.
func combinations(t *testing.T, check func(ds dataset.Dataset, list []transform.Item)) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	for _, deep := range []bool{false, true} {
		ds := mosaics(t, 8)
		if deep {
			ds = mosaics(t, 16)
		}
		for range 30 {
			check(ds, combination(r, deep))
		}
	}
}

// TestSamplesDoNotDependOnThoseBefore compares a reader that places all samples, failing ones among them, in
// another order with readers of one sample each, and with single samples.
func TestSamplesDoNotDependOnThoseBefore(t *testing.T) {
	failed := map[bool]int{}
	combinations(t, func(ds dataset.Dataset, list []transform.Item) {
		x := images(t, ds, list...)
		used, draw := datatest.Open(t, x), rand.New(rand.NewPCG(5, 6))
		for _, i := range append(draw.Perm(x.Len()), draw.Perm(x.Len())...) {
			fresh, err := x.Open()
			if err != nil {
				t.Fatal(err)
			}
			want := placedBy(t.Context(), fresh, x.Spec(), i)
			fresh.Close()
			failed[want.err != ""]++
			if want.err != "" && i%5 != 4 && !strings.Contains(want.err, "ScaleJitter([16 16]): ") {
				t.Fatalf("%v: sample %d: %s", list, i, want.err)
			}
			if got := placedBy(t.Context(), used, x.Spec(), i); !got.equal(want) {
				t.Fatalf("%v: sample %d differs after others: %q, %q", list, i, got.err, want.err)
			}
		}
	})
	if failed[true] == 0 || failed[false] == 0 {
		t.Errorf("failed: %v", failed)
	}
}

func TestBatchesOfAllCombinationsAreTheSameForAnyWorkers(t *testing.T) {
	every := 0
	combinations(t, func(ds dataset.Dataset, list []transform.Item) {
		if every++; every%3 != 0 {
			return
		}
		sameForAnyWorkers(t, images(t, ds, list...), nil, loader.BatchSize(3), loader.Skip(loader.NoLimit), loader.Poison(true))
	})
}

// TestMasksAndPlanesStayWithTheirPixels has only steps that keep all values, so that the mask is the image
// again.
func TestMasksAndPlanesStayWithTheirPixels(t *testing.T) {
	nothing := func(*transform.Sample, *rand.Rand) error { return nil }
	keeping := append(slices.Clone(middle[:8]), transform.Apply(step(nothing), "mask"), transform.Apply(step(nothing), "planes", "boxes"),
		transform.RandomApply(0.5, transform.RandomCrop(6, transform.PadIfNeeded()), transform.RandomVerticalFlip(1)), transform.SanitizeBoundingBoxes())
	ds, r := mosaics(t, 16), rand.New(rand.NewPCG(7, 8))
	for range 100 {
		list := []transform.Item{
			transform.Boxes("boxes", dataset.BoxesXYXY, transform.With("label", "points")), transform.KeyPoints("points"), transform.KeyPoints("spots"),
			transform.Mask("mask", transform.Dtype(dataset.Int32)), transform.Masks("planes"), transform.Depth16(1),
		}
		for range 1 + r.IntN(8) {
			list = append(list, keeping[r.IntN(len(keeping))])
		}
		x := images(t, ds, append(list, transform.ToDtype(dataset.Int32), transform.Ragged(), transform.Sizes("size"))...)
		reader := datatest.Open(t, x)
		for i := range x.Len() {
			if i%5 == 4 {
				continue
			}
			s := placedBy(t.Context(), reader, x.Spec(), i)
			if s.err != "" {
				t.Fatalf("%v: sample %d: %s", list, i, s.err)
			}
			cell := func(name string) []byte { return s.cells[x.Spec().Index(name)] }
			if !bytes.Equal(cell("image"), cell("mask")) {
				t.Fatalf("%v: sample %d: the mask is not the image", list, i)
			}
			labels, planes, area := dense.Values[int64](cell("label")), cell("planes"), len(cell("image"))/4
			if n := len(labels); len(cell("boxes")) != 16*n || len(cell("points")) != 12*n || len(planes) != n*area {
				t.Fatalf("%v: sample %d: %d labels for %d bytes of boxes, %d of points, %d of planes", list, i, n, len(cell("boxes")), len(cell("points")), len(planes))
			}
			for k, v := range planes {
				if number := labels[k/area]; v != 0 && int64(v) != 1+number%10 {
					t.Fatalf("%v: sample %d: the plane of label %d has %d", list, i, number, v)
				}
			}
		}
	}
}
