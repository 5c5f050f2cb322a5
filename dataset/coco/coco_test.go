package coco_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/coco"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// TestMasksArePycocotools compares with pycocotools 2.0.10 bit for bit.
func TestMasksArePycocotools(t *testing.T) {
	f, err := os.Open("testdata/masks.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	all := map[string]any{"categories": []any{map[string]any{"id": 1}}}
	var images, annotations []any
	var sums []uint32
	files := fstest.MapFS{"1.jpg": {}}
	for lines.Scan() {
		var c struct {
			H, W         int
			Segmentation json.RawMessage
			CRC          uint32
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		id := len(sums)
		images = append(images, map[string]any{"id": id, "file_name": "1.jpg", "height": c.H, "width": c.W})
		annotations = append(annotations, map[string]any{"id": id, "image_id": id, "category_id": 1, "bbox": []int{0, 0, 1, 1}, "segmentation": c.Segmentation})
		sums = append(sums, c.CRC)
	}
	all["images"], all["annotations"] = images, annotations
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	files["a.json"] = &fstest.MapFile{Data: text}
	ds, err := coco.Open(files, "a.json", coco.Masks(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range loadertest.New(t, ds, loader.BatchSize(1)).Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		i := b.Indices()[0]
		if got, want := crc32.ChecksumIEEE(b.Bytes("masks")), sums[i]; got != want {
			t.Errorf("line %d: checksum %d, want %d", i+1, got, want)
		}
	}
	if len(sums) != 1500 {
		t.Errorf("%d cases, want 1500", len(sums))
	}
}

// park is two images and one without objects. Ids are in no order.
const park = `{
	"info": {"year": 2017, "nested": [{"images": []}]},
	"annotations": [
		{"id": 31, "image_id": 9, "category_id": 18, "bbox": [1.5, 2, 3, 4], "area": 12, "iscrowd": 0, "segmentation": [[0, 0, 2, 0, 2, 1, 0, 1]]},
		{"id": 33, "image_id": 4, "category_id": 1, "bbox": [0, 0, 2, 2], "area": 3.5, "iscrowd": 0, "segmentation": [], "num_keypoints": 1, "keypoints": [0.5, 1, 2, 0, 0, 0]},
		{"id": 32, "image_id": 9, "category_id": 1, "bbox": [0, 0, 1, 1], "iscrowd": 1, "segmentation": {"size": [2, 3], "counts": [1, 2, 3]}}
	],
	"images": [
		{"id": 9, "file_name": "a/dogs.jpg", "height": 2, "width": 3},
		{"id": 4, "file_name": "a/person.jpg", "height": 1, "width": 2},
		{"id": 6, "file_name": "a/empty.jpg", "height": 1, "width": 2}
	],
	"categories": [
		{"id": 18, "name": "dog", "supercategory": "animal"},
		{"id": 1, "name": "person", "supercategory": "person", "keypoints": ["nose", "tail"]}
	]
}`

func open(t *testing.T, text string, options ...coco.Option) (*coco.Dataset, error) {
	t.Helper()
	files := fstest.MapFS{"park.json": {Data: []byte(text)}}
	for _, name := range []string{"dogs", "person", "empty"} {
		files["train/a/"+name+".jpg"] = &fstest.MapFile{Data: []byte(name)}
	}
	return coco.Open(files, "park.json", append(options, coco.ImagesIn("train"))...)
}

func TestSamplesAreSortedByImage(t *testing.T) {
	ds, err := open(t, park, coco.Masks(100), coco.KeyPoints(2))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ds.Spec().String(), "image uint8 (n), image_id int64 (), boxes float32 (n, 4), label int64 (n), area float32 (n), crowd uint8 (n), id int64 (n), masks uint8 (n), keypoints float32 (n, 2, 3)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	type sample struct {
		name        string
		image       int64
		boxes, area []float32
		label, id   []int64
		crowd, mask []uint8
		keys        []float32
	}
	want := []sample{
		{"train/a/person.jpg", 4, []float32{0, 0, 2, 2}, []float32{3.5}, []int64{1}, []int64{33}, []uint8{0}, []uint8{0, 0}, []float32{0.5, 1, 2, 0, 0, 0}},
		{"train/a/empty.jpg", 6, nil, nil, nil, nil, nil, nil, nil},
		{"train/a/dogs.jpg", 9, []float32{1.5, 2, 3, 4, 0, 0, 1, 1}, []float32{12, 0}, []int64{18, 1}, []int64{31, 32}, []uint8{0, 1},
			[]uint8{1, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0}, make([]float32, 12)},
	}
	if ds.Len() != 3 || ds.Objects() != 3 {
		t.Fatalf("%d images with %d objects, want 3 and 3", ds.Len(), ds.Objects())
	}
	for b, err := range loadertest.New(t, ds, loader.BatchSize(1), loader.Poison(true)).Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		got := sample{b.Name(0), loader.Values[int64](b, "image_id")[0], loader.Values[float32](b, "boxes"), loader.Values[float32](b, "area"),
			loader.Values[int64](b, "label"), loader.Values[int64](b, "id"), loader.Values[uint8](b, "crowd"), loader.Values[uint8](b, "masks"), loader.Values[float32](b, "keypoints")}
		if want := want[b.Indices()[0]]; !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
		if got, want := b.Strings("image")[0]+".jpg", strings.TrimPrefix(b.Name(0), "train/a/"); got != want {
			t.Errorf("file %q, want %q", got, want)
		}
	}
}

func TestOptionsLeaveOutAndRenumber(t *testing.T) {
	ds, err := open(t, park, coco.WithoutCrowds(), coco.WithoutEmpty(), coco.Contiguous())
	if err != nil {
		t.Fatal(err)
	}
	if ds.Len() != 2 || ds.Objects() != 2 || ds.Name(1) != "train/a/dogs.jpg" || ds.Name(2) != "" {
		t.Errorf("%d images with %d objects, the last is %s", ds.Len(), ds.Objects(), ds.Name(1))
	}
	s, err := dataset.At(t.Context(), ds, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s["label"].Data(), []int64{1}; !reflect.DeepEqual(got, want) {
		t.Errorf("label %v, want %v", got, want)
	}
	want := []coco.Category{{1, "person", "person", []string{"nose", "tail"}, false}, {18, "dog", "animal", nil, false}}
	if got := ds.Categories(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestErrorsNameFileAndAnnotation(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"image_id": 9, "category_id": 18`, `"image_id": 8, "category_id": 18`, "coco: read park.json: annotation 31: no image has the id 8"},
		{`"category_id": 18`, `"category_id": 19`, "coco: read park.json: annotation 31: no category has the id 19"},
		{`[1.5, 2, 3, 4]`, `[1.5, 2, 3]`, "coco: read park.json: annotations: annotation 31: bbox of 3 numbers: want 4"},
		{`[1.5, 2, 3, 4]`, `[1e300, 2, 3, 4]`, "coco: read park.json: annotations: annotation 31: bbox has the number 1e+300"},
		{`[1.5, 2, 3, 4]`, `"x"`, "coco: read park.json: annotations: entry 0: json: cannot unmarshal string into Go struct field annotationJSON.bbox of type []float64"},
		{`[1, 2, 3]}`, `[1, 2, 4]}`, "coco: read park.json: annotation 32: segmentation: a mask of 3×2 pixels, with runs of 7, for an image of 3×2"},
		{`[1, 2, 3]}`, `[1, 2, -4]}`, "coco: read park.json: annotations: annotation 32: segmentation: a run of -4 pixels in a mask of 6"},
		{`[1, 2, 3]}`, `"1 "}`, `coco: read park.json: annotations: annotation 32: segmentation: counts have the byte ' '`},
		{`[1, 2, 3]}`, `"P"}`, `coco: read park.json: annotations: annotation 32: segmentation: counts end inside a number`},
		{`[1, 2, 3]}`, `"PPPPPPPPPPPPPPPPP0"}`, `coco: read park.json: annotations: annotation 32: segmentation: counts have a number of more than 60 bits`},
		{`"size": [2, 3]`, `"size": [1000000000, 1]`, "coco: read park.json: annotation 32: segmentation: a mask of 1×1000000000 pixels, with runs of 6, for an image of 3×2"},
		{`"size": [2, 3]`, `"size": [1000000000, 9]`, "coco: read park.json: annotations: annotation 32: segmentation: size [1000000000 9]: want height and width"},
		{`"height": 2, "width": 3`, `"height": 2, "width": 1000000000`, "coco: read park.json: images: image 9: 1000000000×2 pixels: want 1 to 1073741824"},
		{`[[0, 0, 2, 0, 2, 1, 0, 1]]`, `[[0, 0, 2, 0, 2, 1, 0]]`, "coco: read park.json: annotations: annotation 31: segmentation: polygon 0: 7 numbers: want x and y of three points or more"},
		{`[[0, 0, 2, 0, 2, 1, 0, 1]]`, `[[0, 0, 2, 0, 2, 1, 0, 1e8]]`, "coco: read park.json: annotations: annotation 31: segmentation: polygon 0: coordinate 1e+08: want up to ±3355443"},
		{`[[0, 0, 2, 0, 2, 1, 0, 1]]`, `[[0, 0, {"a": 0}, 2, 0, 1]]`, "coco: read park.json: annotations: annotation 31: segmentation: polygon 0: strconv.ParseFloat: parsing \"{\\\"a\\\":\": invalid syntax"},
		{`[[0, 0, 2, 0, 2, 1, 0, 1]]`, `[0, 0, 2]`, `coco: read park.json: annotations: annotation 31: segmentation: polygon 0: found "0, 0, 2]", want a list of numbers`},
		{`[[0, 0, 2, 0, 2, 1, 0, 1]]`, `"x"`, `coco: read park.json: annotations: annotation 31: segmentation: found "\"x\"", want polygons or runs`},
		{`"keypoints": [0.5, 1, 2, 0, 0, 0]`, `"keypoints": [0.5, 1, 2]`, "coco: read park.json: annotations: annotation 33: 3 numbers of keypoints: want 6"},
		{`a/dogs.jpg`, `../dogs.jpg`, `coco: read park.json: images: image 9: file name "../dogs.jpg" is not a valid path`},
		{`{"id": 4,`, `{"id": 9,`, "coco: read park.json: images: image 9 is listed twice"},
		{`"images": [
`, `"pictures": [
`, `coco: read park.json: no list named "images": want COCO's annotations`},
		{`"categories"`, `"images"`, `coco: read park.json: two lists named "images"`},
	} {
		if strings.Count(park, c.old) != 1 {
			t.Fatalf("%s is there %d times", c.old, strings.Count(park, c.old))
		}
		_, err := open(t, strings.Replace(park, c.old, c.new, 1), coco.Masks(100), coco.KeyPoints(2))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\ngot  %v\nwant %s", c.new, err, c.want)
		}
	}
	for k := range park {
		if _, err := open(t, park[:k]); err == nil {
			t.Fatalf("no error for the first %d bytes", k)
		}
	}
	for want, option := range map[string]coco.Option{
		"coco: Masks(0): want 1 byte or more":  coco.Masks(0),
		"coco: KeyPoints(-1): want 0 to 65536": coco.KeyPoints(-1),
		"coco: MaxBytes(0): want 1 or more":    coco.MaxBytes(0),
	} {
		if _, err := open(t, park, option); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestLimitsAreErrorsOfTheSample(t *testing.T) {
	ds, err := open(t, park, coco.Masks(11), coco.MaxBytes(5))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"dataset: sample 0 (train/a/person.jpg): coco: file of 6 bytes, more than MaxBytes(5)",
		"",
		"dataset: sample 2 (train/a/dogs.jpg): coco: image 9: 2 masks of 3×2 pixels are more than Masks(11)",
	} {
		_, err := dataset.At(t.Context(), ds, i)
		if got := fmt.Sprint(err); got != want && !(err == nil && want == "") {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}

func TestPlaceAllocatesNothingButTheFile(t *testing.T) {
	ds, err := open(t, park, coco.Masks(100), coco.KeyPoints(2))
	if err != nil {
		t.Fatal(err)
	}
	r, err := ds.Open()
	if err != nil {
		t.Fatal(err)
	}
	slot := dataset.NewSlot(ds.Spec()...)
	place := func() {
		if err := r.Place(t.Context(), 2, slot); err != nil {
			t.Fatal(err)
		}
	}
	place()
	// Opening a file of a MapFS allocates.
	if n := allocs.PerRun(12, 100, place); n > 12 {
		t.Errorf("%v allocations", n)
	}
}

func TestBoxesThatAreMistakesAreErrors(t *testing.T) {
	for box, want := range map[string]string{
		"[1.5, 2, -3, 4]":  "bbox [1.5 2 -3 4] has a negative width or height: want x, y, width and height, or AnyBoxes()",
		"[1.5, 2, 3, -4]":  "bbox [1.5 2 3 -4] has a negative width or height: want x, y, width and height, or AnyBoxes()",
		"[3.1, 0, 1, 1]":   "bbox [3.1 0 1 1] lies outside of image 9 of 3×2 pixels: AnyBoxes() accepts it",
		"[0, 2.5, 1, 1]":   "bbox [0 2.5 1 1] lies outside of image 9 of 3×2 pixels: AnyBoxes() accepts it",
		"[-5, 0, 4, 1]":    "bbox [-5 0 4 1] lies outside of image 9 of 3×2 pixels: AnyBoxes() accepts it",
		"[0, -5, 1, 4]":    "bbox [0 -5 1 4] lies outside of image 9 of 3×2 pixels: AnyBoxes() accepts it",
		"[-5, -5, 90, 90]": "", // it sticks out
		"[3, 2, 1, 1]":     "", // it touches the corner
		"[1, 1, 0, 0]":     "",
	} {
		text := strings.Replace(park, "[1.5, 2, 3, 4]", box, 1)
		_, err := open(t, text)
		if want != "" {
			want = "coco: read park.json: annotation 31: " + want
		}
		if got := fmt.Sprint(err); got != want && !(err == nil && want == "") {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if _, err := open(t, text, coco.AnyBoxes()); err != nil {
			t.Errorf("with AnyBoxes: %v", err)
		}
	}
	unknown := strings.Replace(strings.Replace(park, `"height": 2, "width": 3`, `"note": "of unknown size"`, 1), "[1.5, 2, 3, 4]", "[99, 99, 3, 4]", 1)
	if _, err := open(t, unknown); err != nil {
		t.Errorf("an image of unknown size: %v", err)
	}
}

// polygons are annotations of one object of that many equal polygons in an image of side×side
// pixels.
func polygons(side, n int, polygon string) fstest.MapFS {
	p := strings.TrimSuffix(strings.Repeat(polygon+",", n), ",")
	text := fmt.Sprintf(`{"images":[{"id":1,"file_name":"a.jpg","height":%d,"width":%d}],"categories":[{"id":1,"name":"x"}],`+
		`"annotations":[{"id":1,"image_id":1,"category_id":1,"bbox":[0,0,1,1],"area":1,"segmentation":[%s]}]}`, side, side, p)
	return fstest.MapFS{"a.json": {Data: []byte(text)}, "a.jpg": {Data: []byte("x")}}
}

// TestManyPolygonsTakeTheTimeOfOne draws objects of many polygons: small ones, those that cover
// the image, and those whose boundary is long although the image is small.
func TestManyPolygonsTakeTheTimeOfOne(t *testing.T) {
	for _, c := range []struct {
		side, n, sum  int // sum of the mask
		polygon, want string
	}{
		{1500, 200, 25, "[0,0,5,0,5,5,0,5]", ""},
		{1500, 20_000, 25, "[0,0,5,0,5,5,0,5]", ""},
		{1500, 50, 1500 * 1500, "[0,0,1500,0,1500,1500,0,1500]", ""},
		{4, 1, 0, "[0,0,3000000,0,0,1]", "dataset: sample 0 (a.jpg): coco: image 1: annotation 1: damaged or hostile: more work than 12 bytes of input may take"},
		{4, 1000, 0, "[0,0,5000,0,0,1]", "dataset: sample 0 (a.jpg): coco: image 1: annotation 1: damaged or hostile: more work than 264 bytes of input may take"},
		{4, 1, 4, "[0,0,5000,0,0,1]", ""},
	} {
		files := polygons(c.side, c.n, c.polygon)
		hostile.Bounded(t, len(files["a.json"].Data), 3*int64(c.side*c.side), func() {
			ds, err := coco.Open(files, "a.json", coco.Masks(256<<20))
			if err != nil {
				t.Fatal(err)
			}
			s, err := dataset.At(t.Context(), ds, 0)
			if got := fmt.Sprint(err); got != c.want && !(err == nil && c.want == "") {
				t.Errorf("%d of %s: got  %s\nwant %s", c.n, c.polygon, got, c.want)
			}
			if err != nil {
				return
			}
			sum := 0
			for _, v := range dataset.ValuesOf[uint8](s["masks"]) {
				sum += int(v)
			}
			if sum != c.sum {
				t.Errorf("%d of %s: %d pixels, want %d", c.n, c.polygon, sum, c.sum)
			}
		})
	}
}

func TestDrawingEndsBetweenPolygons(t *testing.T) {
	files := polygons(100, 1000, "[0,0,5,0,5,5]")
	ds, err := coco.Open(files, "a.json", coco.Masks(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	r, err := ds.Open()
	if err != nil {
		t.Fatal(err)
	}
	ctx := &ending{Context: t.Context(), after: 20}
	if err := r.Place(ctx, 0, dataset.NewSlot(ds.Spec()...)); !errors.Is(err, context.Canceled) || ctx.asked > 21 {
		t.Errorf("got %v after %d questions", err, ctx.asked)
	}
}

// An ending context is cancelled after it was asked some times.
type ending struct {
	context.Context
	asked, after int
}

func (e *ending) Err() error {
	if e.asked++; e.asked > e.after {
		return context.Canceled
	}
	return nil
}

// TestPolygonsAreUnited compares an object of several polygons with an object for each of them.
func TestPolygonsAreUnited(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		h, w, n := 1+random.IntN(30), 1+random.IntN(30), 2+random.IntN(5)
		var list []string
		for range n {
			var numbers []string
			for range 3 + random.IntN(4) {
				numbers = append(numbers, fmt.Sprintf("%.1f,%.1f", 60*random.Float64()-15, 60*random.Float64()-15))
			}
			list = append(list, "["+strings.Join(numbers, ",")+"]")
		}
		all := fmt.Sprintf(`{"id":0,"image_id":1,"category_id":1,"bbox":[0,0,1,1],"segmentation":[%s]}`, strings.Join(list, ","))
		for k, p := range list {
			all += fmt.Sprintf(`,{"id":%d,"image_id":1,"category_id":1,"bbox":[0,0,1,1],"segmentation":[%s]}`, k+1, p)
		}
		text := fmt.Sprintf(`{"images":[{"id":1,"file_name":"a.jpg","height":%d,"width":%d}],"categories":[{"id":1}],"annotations":[%s]}`, h, w, all)
		ds, err := coco.Open(fstest.MapFS{"a.json": {Data: []byte(text)}, "a.jpg": {}}, "a.json", coco.Masks(1<<20))
		if err != nil {
			t.Fatal(err)
		}
		s, err := dataset.At(t.Context(), ds, 0)
		if err != nil {
			t.Fatal(err)
		}
		masks := dataset.ValuesOf[uint8](s["masks"])
		for k := range h * w {
			want := uint8(0)
			for o := 1; o <= n; o++ {
				want |= masks[o*h*w+k]
			}
			if masks[k] != want {
				t.Fatalf("%s: pixel %d is %d, want %d", all, k, masks[k], want)
			}
		}
	}
}

// FuzzOpen compares what hostile files may cost with their size.
func FuzzOpen(f *testing.F) {
	f.Add([]byte(park))
	f.Add([]byte(emptySegments(1000)))
	f.Add(polygons(100, 50, "[0,0,5,0,5,5]")["a.json"].Data)
	f.Add(polygons(4, 50, "[0,0,5000,0,0,1]")["a.json"].Data)
	f.Add([]byte(`{"images":[{"id":1,"file_name":"a","height":1000,"width":1000}],"annotations":[{"id":1,"image_id":1,"category_id":1,"bbox":[0,0,1,1],"segmentation":{"size":[1000,1000],"counts":"PPP0"}}],"categories":[{"id":1}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		files := fstest.MapFS{"a.json": {Data: text}}
		var ds *coco.Dataset
		var err error
		hostile.Bounded(t, len(text), 0, func() {
			ds, err = coco.Open(files, "a.json", coco.Masks(1<<16), coco.KeyPoints(2))
		})
		if err != nil {
			return
		}
		for i := range min(ds.Len(), 10) {
			files[ds.Name(i)] = &fstest.MapFile{Data: []byte("image")}
			var s dataset.Sample
			hostile.Bounded(t, len(text), 2<<16, func() { s, err = dataset.At(t.Context(), ds, i) }) // what Masks allows, twice
			if err != nil {
				continue
			}
			if s["masks"].Shape()[0] == 0 {
				continue
			}
			for _, v := range dataset.ValuesOf[uint8](s["masks"]) {
				if v > 1 {
					t.Fatalf("mask holds %d", v)
				}
			}
			for _, v := range dataset.ValuesOf[float32](s["boxes"]) {
				if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
					t.Fatalf("box holds %v", v)
				}
			}
		}
	})
}
