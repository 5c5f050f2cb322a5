package transform_test

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// parts are steps that declare all fields of scenes.
func parts(more ...transform.Item) []transform.Item {
	return append([]transform.Item{
		transform.Boxes("boxes", transform.XYXY, transform.With("label", "points")), transform.KeyPoints("points"),
		transform.Mask("mask", transform.Fill(255), transform.Dtype(dataset.Int64)),
	}, more...)
}

func values(t *testing.T, s dataset.Sample, field string) []byte {
	t.Helper()
	f, ok := s[field]
	if !ok {
		t.Fatalf("no field %q", field)
	}
	return f.Bytes()
}

// TestViewsMoveAnnotationsAsOfImagesAlone compares every view with the image alone, for steps
// whose draws are fixed.
func TestViewsMoveAnnotationsAsOfImagesAlone(t *testing.T) {
	whole := []transform.Item{transform.Resize([2]int{40, 50}), transform.RandomRotation(30, 30), transform.SanitizeBoundingBoxes(transform.MinSize(4)), transform.ToTensor()}
	local := []transform.Item{transform.Crop(3, 15, 40, 30), transform.RandomHorizontalFlip(1), transform.SanitizeBoundingBoxes(),
		transform.ConvertBoundingBoxFormat(transform.CXCYWH)}
	both, err := transform.Images(scenes(t, 9), parts(transform.Views(2, whole...), transform.Views(1, append(slices.Clone(local), transform.As("local"))...))...)
	if err != nil {
		t.Fatal(err)
	}
	want := "image float32 (2, 3, 40, 50), boxes float32 (n, 4), label int64 (n), points float32 (n, 2, 3), mask int64 (2, 40, 50), " +
		"boxes_counts int64 (2), local uint8 (1, 40, 30, 3), local_boxes float32 (n, 4), local_label int64 (n), local_points float32 (n, 2, 3), " +
		"local_mask int64 (1, 40, 30), local_boxes_counts int64 (1)"
	if got := both.Spec().String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if plan := both.String(); !strings.Contains(plan, "part      local_mask int64 (1, 40, 30)") {
		t.Errorf("the plan lacks the parts:\n%s", plan)
	}
	removed := 0
	for prefix, list := range map[string][]transform.Item{"": whole, "local_": local} {
		alone, err := transform.Images(scenes(t, 9), parts(list...)...)
		if err != nil {
			t.Fatal(err)
		}
		for i := range both.Len() {
			want := datatest.Sample(t, alone, i)
			got := datatest.Sample(t, both, i)
			counts := dataset.ValuesOf[int64](got[prefix+"boxes_counts"])
			for _, n := range counts {
				if n != int64(want["label"].Shape()[0]) {
					t.Errorf("sample %d: counts %v for %v", i, counts, want["label"])
				}
			}
			removed += 1 + i%4 - int(counts[0])
			for _, field := range []string{"boxes", "label", "points", "mask"} {
				one := values(t, want, field)
				if all := values(t, got, prefix+field); !bytes.Equal(all, slices.Repeat(one, len(counts))) {
					t.Errorf("sample %d: %s%s: %d bytes differ from those of the image alone", i, prefix, field, len(all))
				}
			}
		}
	}
	if removed == 0 {
		t.Error("no box was removed")
	}
}

func augmentedViews(t testing.TB, n int) *transform.Pipeline {
	t.Helper()
	x, err := transform.Images(scenes(t, n), parts(
		transform.Views(2, transform.RandomIoUCrop(), transform.RandomHorizontalFlip(0.5), transform.ColorJitter(0.4, 0.4, 0.2, 0.1),
			transform.Resize([2]int{32, 48}), transform.SanitizeBoundingBoxes(), transform.ToTensor()),
		transform.Views(3, transform.RandomResizedCrop(16), transform.RandomRotation(-20, 20), transform.ElasticTransform(20, 2), transform.As("local")))...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestViewsOfAnnotationsAreTheSameForAnyNumberOfWorkers(t *testing.T) {
	sameForAnyWorkers(t, augmentedViews(t, 20), func(b *loader.Batch) {
		total := int64(0)
		for _, n := range loader.Values[int64](b, "boxes_counts") {
			total += n
		}
		if n := len(loader.Values[int64](b, "label")); int64(n) != total {
			t.Errorf("%d labels, the counts add up to %d", n, total)
		}
	}, loader.BatchSize(3), loader.Memory(loader.Poison(loader.Heap{})))
}

func TestViewsOfAnnotationsAllocateNothing(t *testing.T) { allocatesNothing(t, augmentedViews(t, 8)) }

// TestViewsCountRowsOfEveryKind has keypoints of a fixed and of a varying number, with rows of
// their own, and masks per object without boxes.
func TestViewsCountRowsOfEveryKind(t *testing.T) {
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{2, 4, 3}},
		{Name: "face", Dtype: dataset.Float32, Shape: dataset.Shape{2, 2}},
		{Name: "corners", Dtype: dataset.Float32, Shape: dataset.Shape{2}, Ragged: true},
		{Name: "names", Dtype: dataset.Int64, Ragged: true},
		{Name: "planes", Dtype: dataset.Uint8, Ragged: true},
		{Name: "text", Dtype: dataset.Uint8, Ragged: true},
	}
	ds := dataset.Func(1, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		clear(dataset.Row[uint8](dst, 0))
		copy(dataset.Row[float32](dst, 1), []float32{0, 0, 3, 1})
		copy(dataset.Grow[float32](dst, 2, 3), []float32{0, 1, 2, 0, 3, 1})
		copy(dataset.Grow[int64](dst, 3, 3), []int64{5, 6, 7})
		copy(dataset.Grow[uint8](dst, 4, 16), []uint8{1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15, 16, 17, 18})
		copy(dataset.Grow[uint8](dst, 5, 2), "ab")
		return nil
	})
	x, err := transform.Images(ds, transform.KeyPoints("face"), transform.KeyPoints("corners", transform.With("names")), transform.Masks("planes"),
		transform.Views(1, transform.Crop(0, 2, 2, 2), transform.ClampKeyPoints(), transform.As("right")),
		transform.Views(2, transform.RandomHorizontalFlip(1), transform.As("both")))
	if err != nil {
		t.Fatal(err)
	}
	s := datatest.Sample(t, x, 0)
	for field, want := range map[string]any{
		"right_face":           []float32{0, 0, 1, 1},
		"right_corners":        []float32{0, 1, 0, 0, 1, 1},
		"right_corners_counts": []int64{3},
		"right_planes":         []uint8{3, 4, 7, 8, 13, 14, 17, 18},
		"right_planes_counts":  []int64{2},
		"both_names":           []int64{5, 6, 7, 5, 6, 7},
		"both_corners_counts":  []int64{3, 3},
		"both_planes_counts":   []int64{2, 2},
		"text":                 []uint8("ab"),
	} {
		if got := s[field].Data(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", field, got, want)
		}
	}
	if got, want := s["both_planes"].Shape(), (dataset.Shape{4, 2, 4}); !slices.Equal(got, want) {
		t.Errorf("both_planes: shape %v, want %v", got, want)
	}
	if got, want := s["both_face"].Shape(), (dataset.Shape{2, 2, 2}); !slices.Equal(got, want) {
		t.Errorf("both_face: shape %v, want %v", got, want)
	}

	x, err = transform.Images(ds, transform.KeyPoints("corners", transform.With("names")),
		transform.Views(1, transform.Crop(0, 2, 2, 2), transform.SanitizeKeyPoints()), transform.Views(1, transform.Crop(0, 0, 2, 2), transform.SanitizeKeyPoints(), transform.As("left")))
	if err != nil {
		t.Fatal(err)
	}
	if s, err = dataset.At(t.Context(), x, 0); err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]any{
		"corners": []float32{0, 0, 1, 1}, "names": []int64{6, 7}, "corners_counts": []int64{2},
		"left_corners": []float32{0, 1}, "left_names": []int64{5}, "left_corners_counts": []int64{1},
	} {
		if got := s[field].Data(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", field, got, want)
		}
	}
}
