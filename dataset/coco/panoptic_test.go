package coco_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"image"
	"image/png"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/coco"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// panopticFiles are testdata with images, which are black.
func panopticFiles(t *testing.T) (fstest.MapFS, map[int64]uint32) {
	t.Helper()
	files, all := fstest.MapFS{}, os.DirFS("testdata")
	names, err := fs.Glob(all, "panoptic/*.png")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(names, "panoptic.json") {
		data, err := fs.ReadFile(all, name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data}
		if number, ok := strings.CutSuffix(strings.TrimPrefix(name, "panoptic/"), ".png"); ok {
			c, err := png.DecodeConfig(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			var black bytes.Buffer
			if err := png.Encode(&black, image.NewGray(image.Rect(0, 0, c.Width, c.Height))); err != nil {
				t.Fatal(err)
			}
			files["photos/"+number+".jpg"] = &fstest.MapFile{Data: black.Bytes()}
		}
	}
	text, err := os.ReadFile("testdata/panoptic_ids.json")
	if err != nil {
		t.Fatal(err)
	}
	var sums []struct {
		Image int64
		CRC   uint32
	}
	if err := json.Unmarshal(text, &sums); err != nil {
		t.Fatal(err)
	}
	want := map[int64]uint32{}
	for _, s := range sums {
		want[s.Image] = s.CRC
	}
	return files, want
}

// TestSegmentsHaveTheIDsOfTheirFiles compares the ids of all pixels with those that NumPy reads,
// and areas and boxes of segments with pycocotools'.
func TestSegmentsHaveTheIDsOfTheirFiles(t *testing.T) {
	files, sums := panopticFiles(t)
	ds, err := coco.Open(files, "panoptic.json", coco.ImagesIn("photos"), coco.Panoptic("panoptic"), coco.Contiguous())
	if err != nil {
		t.Fatal(err)
	}
	if c := ds.Categories(); len(c) != 3 || !c[1].Thing || c[2].Thing {
		t.Errorf("categories %v", c)
	}
	images, err := transform.Images(ds, transform.ConvertBoundingBoxFormat(dataset.BoxesXYXY), transform.Ragged(), transform.Sizes("size"))
	if err != nil {
		t.Fatal(err)
	}
	segments := 0
	for b, err := range loadertest.New(t, images, loader.BatchSize(1)).Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		id := loader.Values[int64](b, "image_id")[0]
		numbers := loader.Values[int32](b, "segments")
		var little []byte
		for _, v := range numbers {
			little = binary.LittleEndian.AppendUint32(little, uint32(v))
		}
		if got := crc32.ChecksumIEEE(little); got != sums[id] {
			t.Errorf("image %d: checksum %d, want %d", id, got, sums[id])
		}
		delete(sums, id)
		w := int(loader.Values[int64](b, "size")[1])
		areas, boxes := loader.Values[float32](b, "area"), loader.Values[float32](b, "boxes")
		for k, segment := range loader.Values[int64](b, "id") {
			segments++
			area, around := float32(0), image.Rectangle{}
			for i, v := range numbers {
				if int64(v) == segment {
					area++
					around = around.Union(image.Rect(i%w, i/w, i%w+1, i/w+1))
				}
			}
			box := []float32{float32(around.Min.X), float32(around.Min.Y), float32(around.Max.X), float32(around.Max.Y)}
			if area != areas[k] || !slices.Equal(box, boxes[4*k:4*k+4]) {
				t.Errorf("image %d: segment %d has %v pixels in %v, want %v in %v", id, segment, area, box, areas[k], boxes[4*k:4*k+4])
			}
		}
		for _, label := range loader.Values[int64](b, "label") {
			if label < 0 || label > 2 {
				t.Errorf("image %d: label %d", id, label)
			}
		}
	}
	if len(sums) > 0 || segments < 20 {
		t.Errorf("%d images are missing; %d segments", len(sums), segments)
	}
}

const panopticPark = `{
	"annotations": [
		{"image_id": 9, "file_name": "dogs.png", "segments_info": [
			{"id": 70000, "category_id": 18, "iscrowd": 0, "bbox": [0, 0, 1, 1], "area": 1},
			{"id": 5, "category_id": 1, "iscrowd": 1, "bbox": [0, 0, 1, 1], "area": 1}]}
	],
	"images": [{"id": 9, "file_name": "a/dogs.jpg", "height": 2, "width": 3}],
	"categories": [{"id": 18, "name": "dog"}, {"id": 1, "name": "person"}]
}`

func TestWrongPanopticAnnotationsAreErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"image_id": 9, `, ``, "annotations: an annotation has no image_id"},
		{`"dogs.png"`, `"../dogs.png"`, `annotations: annotation of image 9: file name "../dogs.png" is not a valid path`},
		{`"id": 5`, `"id": 70000`, "annotations: annotation of image 9: segment 70000 is listed twice"},
		{`"id": 5`, `"id": 0`, "annotations: annotation of image 9: segment 1 has no id from 1 to 16777215"},
		{`"id": 5`, `"id": 16777216`, "annotations: annotation of image 9: segment 1 has no id from 1 to 16777215"},
		{`"category_id": 18`, `"category_id": 19`, "annotation 70000: no category has the id 19"},
		{`"id": 9, "file_name"`, `"id": 8, "file_name"`, "annotation 70000: no image has the id 9"},
		{`"area": 1}]}`, `"area": 1}]}, {"image_id": 9, "file_name": "x.png"}`, "annotations: image 9 has two annotations"},
		{`"area": 1}]}`, `"area": 1}]}, {"image_id": 10, "file_name": "x.png"}`, "annotation of image 10: no image has that id"},
		{`"images": [`, `"images": [{"id": 7, "file_name": "b.jpg"}, `, "image 7 has no annotation"},
	} {
		_, err := open(t, strings.Replace(panopticPark, c.old, c.new, 1), coco.Panoptic("segments"))
		if want := "coco: read park.json: " + c.want; err == nil || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", c.new, err, want)
		}
	}
	if _, err := open(t, panopticPark, coco.Panoptic("segments"), coco.Masks(9)); err == nil || err.Error() != "coco: Panoptic cannot be combined with Masks or KeyPoints" {
		t.Errorf("got %v", err)
	}
	ds, err := open(t, panopticPark, coco.Panoptic("segments"), coco.WithoutCrowds())
	if err != nil || ds.Objects() != 1 {
		t.Fatalf("%v, want one segment", err)
	}
	for _, err := range loadertest.New(t, ds).Epoch(t.Context(), 0) {
		if err == nil || !strings.Contains(err.Error(), "coco: read segments/dogs.png: file does not exist") {
			t.Errorf("got %v", err)
		}
	}
}

func FuzzPanoptic(f *testing.F) {
	f.Add([]byte(panopticPark))
	f.Add([]byte(emptySegments(1000)))
	f.Add([]byte(strings.Replace(emptySegments(1000), "bbox", "file_name\":\"a\",\"b", 1)))
	f.Fuzz(func(t *testing.T, text []byte) {
		var ds *coco.Dataset
		var err error
		hostile.Bounded(t, len(text), 0, func() {
			ds, err = coco.Open(fstest.MapFS{"a.json": {Data: text}}, "a.json", coco.Panoptic("segments"), coco.WithoutCrowds())
		})
		if err != nil {
			return
		}
		if n := ds.Objects(); n > len(text)/8 {
			t.Errorf("%d segments in %d bytes", n, len(text))
		}
	})
}

// emptySegments are annotations of n segments that say nothing.
func emptySegments(n int) string {
	return `{"images":[],"annotations":[{"id":1,"image_id":1,"bbox":[0,0,1,1],"segments_info":[` + strings.TrimSuffix(strings.Repeat("{},", n), ",") + `]}]}`
}

func TestSegmentsTakeMemoryOnlyForPanoptic(t *testing.T) {
	text := emptySegments(300_000)
	files := fstest.MapFS{"a.json": {Data: []byte(text)}}
	for want, options := range map[string][]coco.Option{
		"coco: read a.json: annotation 1: no image has the id 1":                                    nil,
		"coco: read a.json: annotations: annotation of image 1: file name \"\" is not a valid path": {coco.Panoptic("segments")},
	} {
		hostile.Bounded(t, len(text), 0, func() {
			if _, err := coco.Open(files, "a.json", options...); err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}
