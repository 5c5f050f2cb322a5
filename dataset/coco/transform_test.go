package coco_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/coco"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// TestTransformMovesAnnotations flips and crops an image with two objects, one of which
// leaves it.
func TestTransformMovesAnnotations(t *testing.T) {
	picture := image.NewNRGBA(image.Rect(0, 0, 8, 4))
	for y := range 4 {
		for x := range 8 {
			picture.Set(x, y, color.NRGBA{uint8(10 * x), uint8(10 * y), 0, 255})
		}
	}
	var file bytes.Buffer
	if err := png.Encode(&file, picture); err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"1.png": {Data: file.Bytes()}, "a.json": {Data: []byte(`{
		"images": [{"id": 1, "file_name": "1.png", "height": 4, "width": 8}],
		"categories": [{"id": 7, "name": "cup"}, {"id": 8, "name": "plate"}],
		"annotations": [
			{"id": 11, "image_id": 1, "category_id": 8, "bbox": [6, 0, 2, 2], "segmentation": [[6, 0, 8, 0, 8, 2, 6, 2]]},
			{"id": 12, "image_id": 1, "category_id": 7, "bbox": [1, 1, 2, 2], "segmentation": [[1, 1, 3, 1, 3, 3, 1, 3]]}
		]}`)}}
	ds, err := coco.Open(files, "a.json", coco.Masks(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	images, err := transform.Images(ds,
		transform.Crop(0, 0, 4, 4), transform.RandomHorizontalFlip(1), transform.SanitizeBoundingBoxes(), transform.PILToTensor())
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range loadertest.New(t, images).Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		for field, want := range map[string]any{
			"boxes": []float32{1, 1, 2, 2},
			"label": []int64{7},
			"id":    []int64{12},
			"masks": []uint8{0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0},
		} {
			if got := b.Tensor(field).Data(); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %v, want %v", field, got, want)
			}
		}
		if got, want := loader.Values[uint8](b, "image")[:4], []uint8{30, 20, 10, 0}; !bytes.Equal(got, want) {
			t.Errorf("image begins with %v, want %v", got, want)
		}
	}
}

// TestTransformMovesKeyPointsWithTheirBoxes removes a person together with the keypoints.
func TestTransformMovesKeyPointsWithTheirBoxes(t *testing.T) {
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 40, 20))); err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"1.png": {Data: file.Bytes()}, "a.json": {Data: []byte(`{
		"images": [{"id": 1, "file_name": "1.png", "height": 20, "width": 40}],
		"categories": [{"id": 1, "name": "person", "keypoints": ["nose", "left_eye"]}],
		"annotations": [
			{"id": 11, "image_id": 1, "category_id": 1, "bbox": [1, 1, 4, 5], "num_keypoints": 2, "keypoints": [2, 3, 2, 4, 5, 1]},
			{"id": 12, "image_id": 1, "category_id": 1, "bbox": [20, 6, 10, 8], "num_keypoints": 1, "keypoints": [22, 7, 2, 0, 0, 0]}
		]}`)}}
	people, err := coco.Open(files, "a.json", coco.KeyPoints(2))
	if err != nil {
		t.Fatal(err)
	}
	list := []transform.Item{transform.Crop(5, 10, 10, 25), transform.RandomHorizontalFlip(1), transform.Resize([2]int{20, 50}), transform.SanitizeBoundingBoxes(), transform.ToTensor()}
	for _, steps := range [][]transform.Item{list} {
		ds, err := transform.Images(people, steps...)
		if err != nil {
			t.Fatal(err)
		}
		for b, err := range loadertest.New(t, ds).Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			for field, want := range map[string]any{
				"id":        []int64{12},
				"boxes":     []float32{10, 2, 20, 16},
				"keypoints": []float32{24, 4, 2, 68, -10, 0}, // x of a keypoint is that of its pixel
			} {
				if got := b.Tensor(field).Data(); !reflect.DeepEqual(got, want) {
					t.Errorf("%s: got %v, want %v", field, got, want)
				}
			}
		}
	}
	ds, err := transform.Images(people, transform.ConvertBoundingBoxFormat(dataset.BoxesXYXY), transform.CenterCrop(9))
	if err != nil {
		t.Fatal(err)
	}
	const want = `move      Boxes("boxes", boxes xywh, With("label", "area", "crowd", "id", "keypoints"))
  move      KeyPoints("keypoints")
`
	if got := ds.String(); !strings.Contains(got, want) {
		t.Errorf("the plan is\n%s", got)
	}
	if got := ds.Spec()[2].Kind; got != dataset.BoxesXYXY {
		t.Errorf("the boxes of the results are %v", got)
	}
}
