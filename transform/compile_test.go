package transform

import (
	"bytes"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/transform/internal/source"
)

func readAll(t testing.TB, names ...string) (files [][]byte) {
	for _, name := range names {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, data)
	}
	return files
}

func compiled(t testing.TB, list ...Item) *Compiled {
	t.Helper()
	c, err := Compile(list...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var imageFiles = []string{"rgb.jpg", "half.jpg", "gray.jpg", "cmyk.jpg", "rgb.png", "palette.gif", "lossy.webp", "rgb.bmp", "rgb.tiff"}

func TestSingleImageHasTheDatasetsBits(t *testing.T) {
	for _, data := range readAll(t, imageFiles...) {
		got := make([]float32, 3*16*16)
		if err := compiled(t, Eval(16)).Into(got, File(data)); err != nil {
			t.Fatal(err)
		}
		if want := dataset.ValuesOf[float32](result(t, encoded(data), Eval(16))); !slices.Equal(got, want) {
			t.Error("float32: other values than the dataset's")
		}
		list := []Item{ExifTranspose(), Resize(20), CenterCrop([2]int{9, 16})}
		bytes8 := make([]uint8, 9*16*3)
		if err := compiled(t, list...).IntoBytes(bytes8, File(data)); err != nil {
			t.Fatal(err)
		}
		if want := dataset.ValuesOf[uint8](result(t, encoded(data), list...)); !bytes.Equal(bytes8, want) {
			t.Error("uint8: other values than the dataset's")
		}
	}
}

func TestSingleImageComesFromPixelsToo(t *testing.T) {
	data := readAll(t, "rgb.png")[0]
	m, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	b := m.Bounds()
	var pix []uint8
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := source.Straight(m.At(x, y))
			pix = append(pix, c[:]...)
		}
	}
	part := image.Rect(3, 2, 15, 12)
	c := compiled(t, Resize(12), CenterCrop(8), PILToTensor())
	var got [3][]uint8
	for i, from := range []Source{File(data), Decoded(m), RGB(pix, b.Dx(), b.Dy())} {
		got[i] = make([]uint8, 3*8*8)
		if err := c.IntoBytes(got[i], from); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got[0], got[1]) || !bytes.Equal(got[0], got[2]) {
		t.Error("a file, its decoded image and its pixels give different results")
	}
	sub := m.(interface {
		SubImage(image.Rectangle) image.Image
	}).SubImage(part)
	want := dataset.ValuesOf[uint8](result(t, encoded(data), cut(part), Resize(12), CenterCrop(8), PILToTensor()))
	if err := c.IntoBytes(got[1], Decoded(sub)); err != nil || !bytes.Equal(got[1], want) {
		t.Errorf("a part of an image gives other pixels than the crop, or %v", err)
	}
}

func TestRandomStepsOfASingleImageFollowTheSeed(t *testing.T) {
	c := compiled(t, Train(8), RandomErasing(0.5, RandomValue()))
	from := RGB(pixels(40, 30), 40, 30)
	at := func(s Source) []float32 {
		dst := make([]float32, 3*8*8)
		if err := c.Into(dst, s); err != nil {
			t.Fatal(err)
		}
		return dst
	}
	if !slices.Equal(at(from), at(from)) || !slices.Equal(at(from.Seed(7)), at(from.Seed(7))) {
		t.Error("the same seed gives different images")
	}
	if slices.Equal(at(from), at(from.Seed(7))) {
		t.Error("another seed gives the same image")
	}
}

func TestSingleImageSaysWhatIsWrong(t *testing.T) {
	floats, bytes8 := compiled(t, Eval(8)), compiled(t, CenterCrop(8))
	data := readAll(t, "rgb.jpg")[0]
	_, varies := Compile(Resize(8))
	for want, err := range map[string]error{
		"the size varies from image to image after Resize(8)":  varies,
		"5 values for image float32 (3, 8, 8): want 192":       floats.Into(make([]float32, 5), File(data)),
		"192 bytes for image float32 (3, 8, 8): want 768":      floats.IntoBytes(make([]byte, 192), File(data)),
		"the steps make uint8: use IntoBytes":                  bytes8.Into(nil, File(data)),
		"the file is empty":                                    bytes8.IntoBytes(make([]uint8, 192), Source{}),
		"7 bytes of RGB for 1×2 pixels (height×width): want 6": bytes8.IntoBytes(make([]uint8, 192), RGB(make([]uint8, 7), 2, 1)),
		"0 bytes of RGB for 1×2 pixels (height×width): want 6": bytes8.IntoBytes(make([]uint8, 192), RGB(nil, 2, 1)),
		"RGB of -2×2 pixels (height×width): want 1 or more":    bytes8.IntoBytes(make([]uint8, 192), RGB(make([]uint8, 12), 2, -2)),
		"more than the limit of 9 (see MaxPixels)":             compiled(t, MaxPixels(9), Crop(0, 0, 2, 2)).IntoBytes(make([]uint8, 12), RGB(make([]uint8, 60), 4, 5)),
		"would become 0×0 pixels":                              bytes8.IntoBytes(make([]uint8, 192), Decoded(image.NewGray(image.Rectangle{}))),
	} {
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "transform: ") {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
	if got := floats.Spec(); len(got) != 1 || got[0].String() != "image float32 (3, 8, 8)" {
		t.Errorf("got spec %v", got)
	}
}

func TestSingleImagesTakeNoAllocation(t *testing.T) {
	files := readAll(t, "rgb.jpg", "half.jpg", "gray.jpg", "cmyk.jpg", "palette.gif", "rgb.bmp", "rgb.png", "gray16.png")
	c := compiled(t, Eval(16))
	dst := make([]float32, 3*16*16)
	pix := pixels(40, 30)
	all := func() {
		for _, data := range files {
			if err := c.Into(dst, File(data)); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Into(dst, RGB(pix, 40, 30)); err != nil {
			t.Fatal(err)
		}
	}
	for range 50 + runtime.GOMAXPROCS(0) { // every lane sees every file
		all()
	}
	if n := allocs.PerRun(0, 50, all); n != 0 {
		t.Errorf("%v allocations for %d images", n, len(files)+1)
	}
}

func TestSingleImagesAreSafeForManyGoroutines(t *testing.T) {
	files := readAll(t, imageFiles...)
	c := compiled(t, Eval(16))
	var want [][]float32
	for _, data := range files {
		want = append(want, make([]float32, 3*16*16))
		if err := c.Into(want[len(want)-1], File(data)); err != nil {
			t.Fatal(err)
		}
	}
	var wait sync.WaitGroup
	for g := range 100 {
		wait.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 1))
			dst := make([]float32, 3*16*16)
			for range 20 {
				i := r.IntN(len(files))
				if err := c.Into(dst, File(files[i])); err != nil || !slices.Equal(dst, want[i]) {
					t.Errorf("%s: other values in a goroutine, or error %v", imageFiles[i], err)
				}
				if err := c.Into(dst, File(files[i][:20])); err == nil {
					t.Errorf("%s: no error for its beginning", imageFiles[i])
				}
			}
		})
	}
	wait.Wait()
}

func TestPanicOfATransformLeavesTheOthersTheirMemory(t *testing.T) {
	c := compiled(t, Apply(edit(func(img *Image) {
		if img.Width == 13 {
			panic("unlucky")
		}
	})), CenterCrop(4))
	dst := make([]uint8, 4*4*3)
	for range runtime.GOMAXPROCS(0) + 1 {
		if err := c.IntoBytes(dst, RGB(make([]uint8, 3*13*5), 13, 5)); err == nil || !strings.Contains(err.Error(), "panic: unlucky") {
			t.Errorf("got %v, want the panic", err)
		}
	}
	if err := c.IntoBytes(dst, RGB(make([]uint8, 3*5*5), 5, 5)); err != nil {
		t.Error(err)
	}
}

// A test's Fatal in a Transform ends the goroutine without a panic.
func TestGoexitOfATransformLeavesTheOthersTheirMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // ends with a panic where a call waits for ever
		c := compiled(t, Apply(edit(func(img *Image) {
			if img.Width == 13 {
				runtime.Goexit()
			}
		})), CenterCrop(4))
		dst := make([]uint8, 4*4*3)
		for range runtime.GOMAXPROCS(0) {
			go c.IntoBytes(dst, RGB(make([]uint8, 3*13*5), 13, 5))
		}
		synctest.Wait()
		if err := c.IntoBytes(dst, RGB(make([]uint8, 3*5*5), 5, 5)); err != nil {
			t.Error(err)
		}
	})
}
