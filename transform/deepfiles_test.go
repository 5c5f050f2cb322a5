package transform_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
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

// encoded is an image as PNG.
func encoded(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// depthMap is a 16-bit grey image of w×h, with the value 1000·y + x.
func depthMap(w, h int) *image.Gray16 {
	m := image.NewGray16(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetGray16(x, y, color.Gray16{Y: uint16(1000*y + x)})
		}
	}
	return m
}

func TestOtherChannelsAreAnErrorOfTheSample(t *testing.T) {
	ds := blobs(encoded(t, depthMap(9, 9)), encoded(t, image.NewNRGBA64(image.Rect(0, 0, 9, 9))), encoded(t, image.NewGray(image.Rect(0, 0, 9, 9))))
	x := images(t, ds, transform.Depth16(1), transform.CenterCrop(4))
	for i, want := range []string{"", "transform: the image has 4 channels, Depth16 wants 1", ""} {
		_, err := dataset.At(t.Context(), x, i)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("sample %d: got %v, want %q", i, err, want)
		}
	}
	l, err := loader.New(x, loader.BatchSize(1))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, err := range l.Epoch(t.Context(), 0) {
		if sample := new(loader.SampleError); err != nil && (!errors.As(err, &sample) || sample.Index != 1) {
			t.Errorf("got %v, want the error of sample 1", err)
		}
	}
}

func TestSignedAndFloatFilesNeedADtypeThatHoldsThem(t *testing.T) {
	for name, want := range map[string]string{
		"tiffint16-x2.tif": "the image has int16 values, which uint16 does not hold: want ToTensor or ToDtype",
		"low-first.pfm":    "the image has float32 values, which uint16 does not hold",
	} {
		n := 1 + strings.Count(name, "x2")
		ds := blobs(deepFile(t, name))
		if _, err := dataset.At(t.Context(), images(t, ds, transform.Depth16(n), transform.CenterCrop(4)), 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
		unit := deepValues[float32](t, images(t, ds, transform.Depth16(n), transform.CenterCrop(4), transform.ToTensor()), 0)
		stored := deepValues[float32](t, images(t, ds, transform.Depth16(n), transform.CenterCrop(4), transform.PILToTensor(), transform.ToDtype(dataset.Float32)), 0)
		for i, v := range stored {
			if name == "tiffint16-x2.tif" {
				v /= 32767
			}
			if unit[i] != v {
				t.Errorf("%s: value %d is %v, want %v", name, i, unit[i], v)
			}
		}
	}
}

func TestOtherFormatsHaveThreeChannels(t *testing.T) {
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewNRGBA(image.Rect(0, 0, 20, 30)), nil); err != nil {
		t.Fatal(err)
	}
	want := deepValues[uint8](t, images(t, blobs(photo.Bytes()), transform.Crop(3, 4, 5, 6)), 0)
	for i, v := range deepValues[uint16](t, images(t, blobs(photo.Bytes()), transform.Depth16(3), transform.Crop(3, 4, 5, 6)), 0) {
		if v != 257*uint16(want[i]) {
			t.Fatalf("value %d is %d, want %d", i, v, 257*uint16(want[i]))
		}
	}
}

func TestSingleImagesKeepTheirValues(t *testing.T) {
	m := depthMap(40, 30)
	c, err := transform.Compile(transform.Depth16(1), transform.Crop(5, 6, 2, 3))
	if err != nil {
		t.Fatal(err)
	}
	got := make([]uint16, 6)
	for _, from := range []transform.Source{transform.File(encoded(t, m)), transform.Decoded(m)} {
		if err := c.IntoBytes(dense.Bytes(got), from); err != nil || !slices.Equal(got, []uint16{5006, 5007, 5008, 6006, 6007, 6008}) {
			t.Errorf("got %v, %v", got, err)
		}
	}
	if c, err = transform.Compile(transform.Depth16(3), transform.Resize([2]int{2, 2}), transform.ToTensor()); err != nil {
		t.Fatal(err)
	}
	floats := make([]float32, 12)
	if err := c.Into(floats, transform.RGB(bytes.Repeat([]byte{255, 0, 51}, 64), 8, 8)); err != nil || floats[0] != 1 || floats[4] != 0 || floats[8] != 0.2 {
		t.Errorf("got %v, %v", floats, err)
	}
	if err := c.Into(floats, transform.Decoded(m)); err == nil || !strings.Contains(err.Error(), "the image has 1 channel, Depth16 wants 3") {
		t.Errorf("got %v", err)
	}
}

// TestViewsOfDepth16HaveThePixelsOfTheirCrops compares views with single images.
func TestViewsOfDepth16HaveThePixelsOfTheirCrops(t *testing.T) {
	ds := blobs(encoded(t, depthMap(60, 50)), deepFile(t, "tiff16-x1-orientation6.tif"))
	left := []transform.Item{transform.Crop(1, 2, 5, 4), transform.Resize([2]int{6, 7}), transform.ToTensor(), transform.Normalize([]float32{0.5}, []float32{2})}
	right := []transform.Item{transform.Pad(3, transform.Fill(9)), transform.RandomHorizontalFlip(1), transform.Apply(negative{}), transform.Crop(1, 1, 7, 7)}
	both := images(t, ds, transform.Depth16(1), transform.Views(2, append(slices.Clone(left), transform.As("left"))...), transform.Views(1, append(slices.Clone(right), transform.As("right"))...),
		transform.Views(1, transform.Pad(9, transform.Fill(9)), transform.Crop(0, 0, 2, 2), transform.As("outside")))
	for i := range ds.Len() {
		s := datatest.Sample(t, both, i)
		a := deepValues[float32](t, images(t, ds, append([]transform.Item{transform.Depth16(1)}, left...)...), i)
		b := deepValues[uint16](t, images(t, ds, append([]transform.Item{transform.Depth16(1)}, right...)...), i)
		if !slices.Equal(dataset.ValuesOf[float32](s["left"]), append(slices.Clone(a), a...)) || !slices.Equal(dataset.ValuesOf[uint16](s["right"]), b) {
			t.Errorf("sample %d: other values in views", i)
		}
		if got := dataset.ValuesOf[uint16](s["outside"]); !slices.Equal(got, []uint16{9, 9, 9, 9}) {
			t.Errorf("sample %d: %v outside the image", i, got)
		}
	}
	if _, err := transform.Images(ds, transform.Views(1, transform.Depth16(1), transform.CenterCrop(2))); err == nil {
		t.Error("Depth16 in Views: no error")
	}
}

func TestCropsOfDepth16HaveThePixelsOfTheirCorners(t *testing.T) {
	ds := blobs(encoded(t, depthMap(20, 10)))
	corners := func(x, y int) (v []uint16) {
		for _, at := range [][2]int{{0, 0}, {x - 2, 0}, {0, y - 1}, {x - 2, y - 1}, {x/2 - 1, (y - 1) / 2}} {
			v = append(v, uint16(1000*at[1]+at[0]), uint16(1000*at[1]+at[0]+1))
		}
		return v
	}
	if got, want := deepValues[uint16](t, images(t, ds, transform.Depth16(1), transform.FiveCrop([2]int{1, 2})), 0), corners(20, 10); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	list := []transform.Item{transform.Depth16(1), transform.Crop(0, 0, 5, 6), transform.Apply(planes(func(*transform.Planes, *rand.Rand) error { return nil })), transform.FiveCrop([2]int{1, 2})}
	if got, want := deepValues[uint16](t, images(t, ds, list...), 0), corners(6, 5); !slices.Equal(got, want) {
		t.Errorf("after a step that needs pixels: got %v, want %v", got, want)
	}
}

// TestAnnotationsFollowDeepImages compares annotations with those of the same images in colours of
// 8 bits.
func TestAnnotationsFollowDeepImages(t *testing.T) {
	list := []transform.Item{transform.Boxes("boxes", dataset.BoxesXYXY, transform.With("label", "points")), transform.KeyPoints("points"), transform.Mask("mask", transform.Fill(255)),
		transform.RandomZoomOut(0.5), transform.RandomIoUCrop(), transform.RandomHorizontalFlip(0.5), transform.Resize([2]int{60, 80}), transform.SanitizeBoundingBoxes(), transform.ToTensor()}
	want, got := images(t, scenes(t, 20), list...), images(t, scenes(t, 20), append([]transform.Item{transform.Depth16(3)}, list...)...)
	for i := range 20 {
		a := datatest.Sample(t, want, i)
		b := datatest.Sample(t, got, i)
		for k, v := range dataset.ValuesOf[float32](a["image"]) {
			if d := v - dataset.ValuesOf[float32](b["image"])[k]; d > 0.006 || d < -0.006 {
				t.Fatalf("sample %d: value %d is off by %v", i, k, d)
			}
		}
		for _, f := range []string{"boxes", "points"} {
			if !slices.Equal(dataset.ValuesOf[float32](a[f]), dataset.ValuesOf[float32](b[f])) {
				t.Errorf("sample %d: %s differ", i, f)
			}
		}
		if !bytes.Equal(dataset.ValuesOf[uint8](a["mask"]), dataset.ValuesOf[uint8](b["mask"])) {
			t.Errorf("sample %d: masks differ", i)
		}
	}
}

// TestRandomDeepImagesAreTheSameForAnyNumberOfWorkers has random own steps too.
func TestRandomDeepImagesAreTheSameForAnyNumberOfWorkers(t *testing.T) {
	ds := arrays(t, dataset.Uint16, dataset.Shape{4, 30, 30}, dense.Bytes(lcg(make([]uint16, 23*4*30*30), 1)))
	shift := planes(func(m *transform.Planes, r *rand.Rand) error {
		v := r.Float32()
		for i := range m.Pix {
			m.Pix[i] += v
		}
		return nil
	})
	x := images(t, ds, transform.Depth16(4), transform.RandomResizedCrop(12), transform.RandomHorizontalFlip(0.5), transform.Apply(shift),
		transform.ToTensor(), transform.RandomErasing(0.5))
	sameForAnyWorkers(t, x, nil, loader.BatchSize(4))
}

// TestFailingImagesOfDecodersAreErrorsOfTheSample has decoders whose images have too few values.
func TestFailingImagesOfDecodersAreErrorsOfTheSample(t *testing.T) {
	bounds := image.Rect(0, 0, 8, 8)
	config := func(io.Reader) (image.Config, error) { return image.Config{Width: 8, Height: 8}, nil }
	for magic, m := range map[string]image.Image{
		"OWNGRAY": &image.Gray16{Pix: make([]byte, 9), Stride: 16, Rect: bounds},
		"OWNRGBA": &image.RGBA{Pix: bytes.Repeat([]byte{255}, 9), Stride: 32, Rect: bounds},
	} {
		image.RegisterFormat("own", magic, func(io.Reader) (image.Image, error) { return m, nil }, config)
		for _, depth := range []transform.Item{transform.Depth16(1), transform.MaxPixels(64)} {
			c, err := transform.Compile(depth, transform.CenterCrop(4))
			if err != nil {
				t.Fatal(err)
			}
			err = c.IntoBytes(make([]byte, c.Spec()[0].Bytes()), transform.File([]byte(magic)))
			if err == nil || !strings.HasPrefix(err.Error(), "transform: decode: own: field \"image\": panic: runtime error") {
				t.Errorf("%s, %v: got %v", magic, depth, err)
			}
		}
	}
}

func TestFillThatTheDtypeHasNotIsAnErrorOfTheSample(t *testing.T) {
	for _, test := range []struct {
		file string
		fill float64
		want string
	}{
		{"tiff16-x1.tif", -1, "the image has uint16 values: want a Fill among them, not -1"},
		{"tiff16-x1.tif", 65536, "not 65536"},
		{"tiff16-x1.tif", 0.5, "not 0.5"},
		{"tiff16-x1.tif", 65535, ""},
		{"low-first.pfm", -0.5, ""},
	} {
		x := images(t, blobs(deepFile(t, test.file)), transform.Depth16(1), transform.CenterCrop(40, transform.Fill(test.fill)), transform.ToTensor())
		if _, err := dataset.At(t.Context(), x, 0); test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s with %v: got %v, want %q", test.file, test.fill, err, test.want)
		}
	}
}
