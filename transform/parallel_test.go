package transform

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/penstock-go/penstock/internal/allocs"
)

// enlarged is a shared photo, or noise, enlarged to w×h pixels, as a sequential JPEG
// file with half the chroma.
func enlarged(tb testing.TB, w, h int) []byte {
	tb.Helper()
	small := photos(tb)[0]
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	pix := make([]byte, 3*w*h)
	if err := compiled(tb, Resize([2]int{h, w}, Interpolation(Bicubic))).IntoBytes(pix, File(small)); err != nil {
		tb.Fatal(err)
	}
	for i := range w * h {
		copy(m.Pix[4*i:4*i+4], append(pix[3*i:3*i+3:3*i+3], 255))
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, m, &jpeg.Options{Quality: 90}); err != nil {
		tb.Fatal(err)
	}
	return file.Bytes()
}

// lists are steps that read the pixels in different ways.
func lists() map[string][]Item {
	return map[string][]Item{
		"resized":            {Resize(97), CenterCrop(80), ToTensor()},
		"mirrored":           {CenterCrop(300), RandomHorizontalFlip(1), ToTensor()},
		"cropped":            {CenterCrop([2]int{301, 203}), ToTensor()},
		"of Pillow 13":       {Pillow(13), Resize([2]int{30, 2000}), ToTensor()},
		"edited and resized": {Resize([2]int{400, 300}), Apply(edit(func(img *Image) { img.Pix[0]++ })), Resize([2]int{31, 57}), ToTensor()},
		"random":             {RandomResizedCrop(64), ToTensor()},
	}
}

func TestParallelHasTheSameBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4)) // Compile fixes how many images it processes at a time
	file := enlarged(t, 2400, 1700)
	for name, list := range lists() {
		alone := compiled(t, list...)
		want := make([]float32, alone.field.Elements())
		got := make([]float32, len(want))
		for _, n := range []int{2, 9} {
			several := compiled(t, append(list, Parallel(n))...)
			for seed := range uint64(2) {
				if err := alone.Into(want, File(file).Seed(seed)); err != nil {
					t.Fatal(err)
				}
				if err := several.Into(got, File(file).Seed(seed)); err != nil || !slices.Equal(got, want) {
					t.Errorf("%s, %d goroutines: other values, or error %v", name, n, err)
				}
			}
			cut := file[:len(file)/2]
			if a, b := alone.Into(want, File(cut)), several.Into(got, File(cut)); fmt.Sprint(a) != fmt.Sprint(b) {
				t.Errorf("%s, %d goroutines: error %v, want %v", name, n, b, a)
			}
		}
	}
}

// oriented is a JPEG file with an Exif orientation.
func oriented(file []byte, orientation byte) []byte {
	exif := "Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string(orientation) + "\x00\x00\x00\x00\x00\x00"
	app1 := "\xff\xe1\x00" + string(rune(2+len(exif))) + exif
	return slices.Concat(file[:2], []byte(app1), file[2:])
}

func TestParallelTurnsImagesToo(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	file := enlarged(t, 2400, 1700)
	list := []Item{ExifTranspose(), CenterCrop([2]int{233, 301}), Resize([2]int{77, 99}), ToTensor()}
	alone, several := compiled(t, list...), compiled(t, append(list, Parallel(3))...)
	var seen [][]float32
	for orientation := range byte(8) {
		want, got := make([]float32, alone.field.Elements()), make([]float32, alone.field.Elements())
		turned := oriented(file, orientation+1)
		if err := alone.Into(want, File(turned)); err != nil {
			t.Fatal(err)
		}
		if err := several.Into(got, File(turned)); err != nil || !slices.Equal(got, want) {
			t.Errorf("orientation %d: other values, or error %v", orientation+1, err)
		}
		for before, other := range seen {
			if slices.Equal(other, want) {
				t.Errorf("orientations %d and %d give the same image", before+1, orientation+1)
			}
		}
		seen = append(seen, want)
	}
}

func TestParallelImagesAreSafeForManyGoroutines(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	list := []Item{Resize(64), CenterCrop(56), ToTensor()}
	alone, several := compiled(t, list...), compiled(t, append(list, Parallel(4))...)
	files := append(readAll(t, imageFiles...), enlarged(t, 2400, 1700), enlarged(t, 1200, 2000))
	var wait sync.WaitGroup
	for _, file := range files {
		want := make([]float32, alone.field.Elements())
		if err := alone.Into(want, File(file)); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			wait.Go(func() {
				got := make([]float32, len(want))
				for range 10 {
					if err := several.Into(got, File(file)); err != nil || !slices.Equal(got, want) {
						t.Errorf("other values, or error %v", err)
					}
				}
			})
		}
	}
	wait.Wait()
}

func TestParallelTakesNoAllocation(t *testing.T) {
	if testing.Short() {
		t.Skip("decodes a large photo many times")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	file := oriented(enlarged(t, 2400, 1700), 6)
	c := compiled(t, ExifTranspose(), Eval(224), Parallel(4))
	dst := make([]float32, 3*224*224)
	into := func() {
		if err := c.Into(dst, File(file)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 * cap(c.pool.Lanes) {
		into()
	}
	if n := allocs.PerRun(0, 5, into); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestParallelIsForSingleImages(t *testing.T) {
	if _, err := Compile(Eval(8), Parallel(0)); err == nil || !strings.Contains(err.Error(), "Parallel(0): want 1 or more goroutines") {
		t.Errorf("got %v", err)
	}
	if _, err := Images(encoded(nil), Eval(8), Parallel(2)); err == nil || !strings.Contains(err.Error(), "Parallel(2): only for Compile") {
		t.Errorf("got %v", err)
	}
	if text := compiled(t, Eval(8), Parallel(2)).String(); !strings.Contains(text, "on up to 2 goroutines") {
		t.Errorf("the plan does not show it:\n%s", text)
	}
}

// BenchmarkLatency prepares photos of 12 and of 3 megapixels, and one that is too small
// to be shared, on one goroutine and on two.
func BenchmarkLatency(b *testing.B) {
	for _, size := range [][2]int{{4000, 3000}, {2000, 1500}, {500, 375}} {
		file := enlarged(b, size[0], size[1])
		for n := range 2 {
			b.Run(fmt.Sprintf("%dx%d/Parallel=%d", size[0], size[1], n+1), func(b *testing.B) {
				c := compiled(b, Eval(224), Parallel(n+1))
				dst := make([]float32, 3*224*224)
				for range cap(c.pool.Lanes) {
					if err := c.Into(dst, File(file)); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportAllocs()
				for b.Loop() {
					if err := c.Into(dst, File(file)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
