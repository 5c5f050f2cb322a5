package voc_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/voc"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/loader"
)

const horse = `<annotation>
	<folder>VOC2012</folder>
	<object>
		<name>horse</name><truncated>1</truncated><difficult>0</difficult>
		<part><name>head</name><bndbox><xmin>7</xmin><ymin>7</ymin><xmax>8</xmax><ymax>8</ymax></bndbox></part>
		<bndbox><xmax>173</xmax><ymax>144.5</ymax><xmin> 53 </xmin><ymin>87</ymin></bndbox>
	</object>
	<object>
		<name>person</name><difficult>1</difficult>
		<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><ymax>4</ymax></bndbox>
	</object>
</annotation>`

func devkit(annotation string) fstest.MapFS {
	return fstest.MapFS{
		"ImageSets/Main/train.txt":          {Data: []byte("2008_000008  1\n\n2008_000015 -1\n")},
		"ImageSets/Segmentation/train.txt":  {Data: []byte("2008_000015\n")},
		"Annotations/2008_000008.xml":       {Data: []byte(annotation)},
		"Annotations/2008_000015.xml":       {Data: []byte("<annotation></annotation>")},
		"JPEGImages/2008_000008.jpg":        {Data: []byte("horse")},
		"JPEGImages/2008_000015.jpg":        {Data: []byte("nothing")},
		"SegmentationClass/2008_000015.png": {Data: []byte("mask")},
	}
}

// wholeEpoch loads two samples as one batch, whose fields and offsets of boxes must be these.
func wholeEpoch(t *testing.T, ds dataset.Dataset, want map[string]any, offsets []int) {
	t.Helper()
	l, err := loader.New(ds, loader.BatchSize(2), loader.Poison(true))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		for field, want := range want {
			if got := b.Tensor(field).Data(); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %v, want %v", field, got, want)
			}
		}
		if got := b.Offsets("boxes"); !slices.Equal(got, offsets) {
			t.Errorf("offsets: got %v, want %v", got, offsets)
		}
	}
}

func TestDetectionReadsObjects(t *testing.T) {
	ds, err := voc.Detection(devkit(horse), "train")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ds.Spec().String(), "image uint8 (n), boxes float32 (n, 4), label int64 (n), difficult uint8 (n), truncated uint8 (n)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	wholeEpoch(t, ds, map[string]any{
		"boxes":     []float32{52, 86, 173, 144.5, 0, 1, 3, 4},
		"label":     []int64{13, 15},
		"difficult": []uint8{0, 1},
		"truncated": []uint8{1, 0},
		"image":     []uint8("horsenothing"),
	}, []int{0, 2, 2})
	if got, want := ds.Name(1), "JPEGImages/2008_000015.jpg"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := ds.Classes(); len(got) != 21 || got[13] != "horse" {
		t.Errorf("classes %v", got)
	}
}

func TestOptionsChangeObjectsAndClasses(t *testing.T) {
	ds, err := voc.Detection(devkit(horse), "train", voc.WithoutDifficult(), voc.Classes("horse"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := dataset.At(t.Context(), ds, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s["label"].Data(), []int64{0}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if ds, err = voc.Detection(devkit(horse), "train", voc.AsInFile()); err != nil {
		t.Fatal(err)
	}
	if s, err = dataset.At(t.Context(), ds, 0); err != nil {
		t.Fatal(err)
	}
	if got, want := s["boxes"].Data(), []float32{53, 87, 173, 144.5, 1, 2, 3, 4}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSegmentationPairsImagesWithMasks(t *testing.T) {
	ds, err := voc.Segmentation(devkit(horse), "train")
	if err != nil {
		t.Fatal(err)
	}
	s, err := dataset.At(t.Context(), ds, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(dataset.ValuesOf[uint8](s["image"]))+" "+string(dataset.ValuesOf[uint8](s["mask"])), "nothing mask"; ds.Len() != 1 || got != want {
		t.Errorf("%d samples: got %s, want %s", ds.Len(), got, want)
	}
}

func TestErrorsNameTheFile(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"<name>horse</name>", "<name>unicorn</name>", `voc: read Annotations/2008_000008.xml: object 0: class "unicorn" is none of the 21 classes`},
		{"<ymin>2</ymin>", "", `voc: read Annotations/2008_000008.xml: object 1: bndbox has "": want a number`},
		{"<ymin>2</ymin>", "<ymin>inf</ymin>", `voc: read Annotations/2008_000008.xml: object 1: bndbox has "inf": want a number`},
		{"<bndbox><xmax>173</xmax>", "<box><xmax>173</xmax>", "voc: read Annotations/2008_000008.xml: XML syntax error on line 6: element <box> closed by </bndbox>"},
		{"<annotation>", "<annotations>", "voc: read Annotations/2008_000008.xml: expected element type <annotation> but have <annotations>"},
	} {
		_, err := voc.Detection(devkit(strings.Replace(horse, c.old, c.new, 1)), "train")
		if err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	if _, err := voc.Detection(devkit(horse), "test"); err == nil || err.Error() != "voc: read ImageSets/Main/test.txt: file does not exist" {
		t.Errorf("got %v", err)
	}
	files := devkit(horse)
	files["ImageSets/Main/train.txt"].Data = []byte("../../etc/passwd\n")
	if _, err := voc.Detection(files, "train"); err == nil || err.Error() != `voc: read ImageSets/Main/train.txt: line 1: "../../etc/passwd" is not a valid path` {
		t.Errorf("got %v", err)
	}
	for want, option := range map[string]voc.Option{
		"voc: Classes(): want names":       voc.Classes(),
		"voc: MaxBytes(0): want 1 or more": voc.MaxBytes(0),
	} {
		if _, err := voc.Detection(devkit(horse), "train", option, voc.Option{}); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestAnAnnotationTakesWhatItsSizeAllows(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"deep":       {strings.Repeat("<a>", 1<<18), "expected element type <annotation>"},
		"deep below": {"<annotation>" + strings.Repeat("<a>", 1<<18), "values nested more than 64 levels deep"},
		"wide":       {"<annotation>" + strings.Repeat("<a/>", 1<<18), "more memory than"},
		"attributes": {"<annotation " + strings.Repeat(`a="" `, 1<<17) + "/>", "more memory than"},
		"objects":    {"<annotation>" + strings.Repeat("<object/>", 1<<17) + "</annotation>", "more memory than"},
	} {
		var err error
		hostile.Bounded(t, len(c.text), 0, func() { _, err = voc.Detection(devkit(c.text), "train") })
		if got := fmt.Sprint(err); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %s, want … %s", name, got, c.want)
		}
	}
}

func TestARepeatedImageIsParsedOnce(t *testing.T) {
	text := strings.Replace(horse, "<annotation>", "<annotation>"+strings.Repeat("<note>what nobody reads</note>", 5000), 1)
	fsys := devkit(text)
	list := string(fsys["ImageSets/Main/train.txt"].Data)
	fsys["ImageSets/Main/train.txt"] = &fstest.MapFile{Data: []byte(strings.Repeat(list+"\n", 1000))}
	hostile.Bounded(t, len(text)+1000*len(list), 0, func() {
		ds, err := voc.Detection(fsys, "train")
		if err != nil || ds.Len() < 1000 {
			t.Fatal(err)
		}
	})
}

func FuzzDetection(f *testing.F) {
	f.Add([]byte(horse))
	f.Add([]byte(strings.Repeat("<a>", 1000)))
	f.Fuzz(func(t *testing.T, text []byte) {
		var ds *voc.Boxes
		var err error
		hostile.Bounded(t, len(text), 0, func() { ds, err = voc.Detection(devkit(string(text)), "train") })
		if err != nil {
			return
		}
		s, err := dataset.At(t.Context(), ds, 0)
		if err != nil {
			t.Fatal(err)
		}
		if n := s["label"].Shape()[0]; s["boxes"].Shape()[0] != n || s["difficult"].Shape()[0] != n || s["truncated"].Shape()[0] != n {
			t.Errorf("fields with other numbers of rows: %v", s)
		}
	})
}

// The rest of a list is not left out without an error.
func TestAListThatIsTooLongIsAnError(t *testing.T) {
	fsys := devkit(horse)
	empty := strings.Repeat(" ", 1<<10-1) + "\n"
	fsys["ImageSets/Main/train.txt"].Data = []byte(strings.Repeat(empty, 64<<10) + "2008_000008\n")
	if _, err := voc.Detection(fsys, "train"); err == nil || !strings.Contains(err.Error(), "ImageSets/Main/train.txt: more than") {
		t.Errorf("got the error %v, want one that names the list", err)
	}
	fsys["ImageSets/Main/train.txt"].Data = []byte("2008_000008\n" + strings.Repeat(empty, 64<<10)[12:])
	if d, err := voc.Detection(fsys, "train"); err != nil || d.Len() != 1 {
		t.Errorf("a list of 64 MiB: %v", err)
	}
}
