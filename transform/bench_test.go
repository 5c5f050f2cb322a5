package transform

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/dense"
)

// photos are up to 64 of the shared photos, or one synthetic image.
func photos(b testing.TB) [][]byte {
	names, _ := filepath.Glob("../../shared/photos/*/*.JPEG")
	var files [][]byte
	for i := 0; i < len(names); i += max(len(names)/64, 1) {
		data, err := os.ReadFile(names[i])
		if err != nil {
			b.Fatal(err)
		}
		files = append(files, data)
	}
	if files == nil {
		b.Log("../../shared/photos is missing: one synthetic image of 500×375 instead")
		m := image.NewNRGBA(image.Rect(0, 0, 500, 375))
		for i, v := range pixels(500, 375) {
			m.Pix[i/3*4+i%3], m.Pix[i/3*4+3] = v, 255
		}
		var file bytes.Buffer
		if err := jpeg.Encode(&file, m, nil); err != nil {
			b.Fatal(err)
		}
		files = append(files, file.Bytes())
	}
	return files
}

func BenchmarkEval(b *testing.B) { benchmarkPhotos(b, Eval(224)) }

func BenchmarkTrain(b *testing.B) { benchmarkPhotos(b, Train(224)) }

// BenchmarkTwoViews is Train twice, from one decode.
func BenchmarkTwoViews(b *testing.B) { benchmarkPhotos(b, Views(2, Train(224))) }

// benchmarkPhotos measures one worker, after its memory has grown to what the
// photos need.
func benchmarkPhotos(b *testing.B, steps ...Item) {
	files := photos(b)
	ds := filesOf{files, encoded(nil).Spec()}
	x, err := Images(ds, steps...)
	if err != nil {
		b.Fatal(err)
	}
	r, err := x.Open()
	if err != nil {
		b.Fatal(err)
	}
	slot := dataset.NewSlot(x.Spec()[:1]...)
	n := 0
	place := func() {
		datatest.Reset(slot, 0, 0, n)
		if err := r.Place(b.Context(), n%len(files), slot); err != nil {
			b.Fatal(err)
		}
		n++
	}
	for range 4 * len(files) {
		place()
	}
	b.ReportAllocs()
	n = 0
	for b.Loop() {
		place()
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "images/s")
}

// BenchmarkSingle is BenchmarkEval without a dataset.
func BenchmarkSingle(b *testing.B) {
	files := photos(b)
	c := compiled(b, Eval(224))
	dst := make([]float32, 3*224*224)
	n := 0
	into := func() {
		if err := c.Into(dst, File(files[n%len(files)])); err != nil {
			b.Fatal(err)
		}
		n++
	}
	for range 4 * len(files) * runtime.GOMAXPROCS(0) {
		into()
	}
	b.ReportAllocs()
	n = 0
	for b.Loop() {
		into()
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "images/s")
}

// BenchmarkResample resizes and crops an image of 500×375 pixels, a usual size of
// photos.
func BenchmarkResample(b *testing.B) {
	benchmarkPixels(b, 500, 375, Resize(256), CenterCrop(224), PILToTensor())
}

// BenchmarkStore only converts and normalises 224×224 pixels.
func BenchmarkStore(b *testing.B) {
	benchmarkPixels(b, 224, 224, ToTensor(), Normalize(ImageNetMean, ImageNetStd))
}

// BenchmarkBytes only stores 500×375 pixels as bytes, in planes and pixel by pixel.
func BenchmarkBytes(b *testing.B) {
	b.Run("CHW", func(b *testing.B) { benchmarkPixels(b, 500, 375, PILToTensor()) })
	b.Run("HWC", func(b *testing.B) { benchmarkPixels(b, 500, 375, PILToTensor(), Layout(HWC)) })
}

// BenchmarkAugment changes the colours of 224×224 pixels.
func BenchmarkAugment(b *testing.B) {
	benchmarkPixels(b, 224, 224, ColorJitter(0.4, 0.4, 0.4, 0.1), PILToTensor())
}

func benchmarkPixels(b *testing.B, w, h int, steps ...Item) {
	x, err := Images(imageOf(b, w, h, pixels(w, h)), steps...)
	if err != nil {
		b.Fatal(err)
	}
	r, err := x.Open()
	if err != nil {
		b.Fatal(err)
	}
	slot := dataset.NewSlot(x.Spec()[:1]...)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		datatest.Reset(slot, 0, 0, n)
		if err := r.Place(b.Context(), 0, slot); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "images/s")
}

// BenchmarkBands crops, resizes, mirrors and normalises images of 12 bands of 16 bits, and
// BenchmarkDepthMap 16-bit grey PNG files of 640×480.
func BenchmarkBands(b *testing.B) {
	values := make([]uint16, 4*12*264*264)
	for i := range values {
		values[i] = uint16(i * 40503)
	}
	bands, err := dataset.Tensors(dataset.Named("image", dataset.NewTensor(dataset.Uint16, dataset.Shape{4, 12, 264, 264}, dense.Bytes(values))))
	if err != nil {
		b.Fatal(err)
	}
	benchmarkDeep(b, bands, 12)
}

func BenchmarkDepthMap(b *testing.B) {
	m := image.NewGray16(image.Rect(0, 0, 640, 480))
	for i := range 640 * 480 {
		m.Pix[2*i], m.Pix[2*i+1] = uint8(i/640/16), uint8(i*i>>4)
	}
	var file bytes.Buffer
	if err := png.Encode(&file, m); err != nil {
		b.Fatal(err)
	}
	benchmarkDeep(b, filesOf{[][]byte{file.Bytes()}, encoded(nil).Spec()}, 1)
}

func BenchmarkDeepColours(b *testing.B) {
	m := image.NewNRGBA64(image.Rect(0, 0, 640, 480))
	for i := range m.Pix {
		m.Pix[i] = uint8(i*i>>9) | uint8(255*(i%8/6))
	}
	var file bytes.Buffer
	if err := png.Encode(&file, m); err != nil {
		b.Fatal(err)
	}
	benchmarkDeep(b, filesOf{[][]byte{file.Bytes()}, encoded(nil).Spec()}, 3)
}

func benchmarkDeep(b *testing.B, ds dataset.Dataset, channels int) {
	x, err := Images(ds, Depth16(channels), RandomResizedCrop(224), RandomHorizontalFlip(0.5), ToTensor(), Normalize([]float32{0.5}, []float32{0.25}))
	if err != nil {
		b.Fatal(err)
	}
	r, err := x.Open()
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	slot := dataset.NewSlot(x.Spec()...)
	for i := 0; b.Loop(); i++ {
		if err := r.Place(b.Context(), i%x.Len(), slot); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFiveCrop is the usual test of classifiers with five crops, BenchmarkFiveViews the
// same crops by five views, each of which resizes.
func BenchmarkFiveCrop(b *testing.B) {
	benchmarkPhotos(b, Resize(256), FiveCrop(224), ToTensor(), Normalize(ImageNetMean, ImageNetStd))
}

func BenchmarkFiveViews(b *testing.B) {
	benchmarkPhotos(b, Views(5, Resize(256), RandomCrop(224), ToTensor(), Normalize(ImageNetMean, ImageNetStd)))
}

var large = flag.String("large", "", "file that BenchmarkLargePicture prepares; bench/peers/large_picture.py makes one")

// BenchmarkLargePicture decodes a picture of a telephone and makes 1024×1024 pixels of it with Pillow's bicubic.
func BenchmarkLargePicture(b *testing.B) {
	if *large == "" {
		b.Skip("-large names no file")
	}
	file, err := os.ReadFile(*large)
	if err != nil {
		b.Fatal(err)
	}
	for _, limit := range [][]Item{nil, {MaxMemory(400_000_000)}} {
		b.Run(fmt.Sprint(limit), func(b *testing.B) {
			c := compiled(b, append(limit, Resize([2]int{1024, 1024}, Interpolation(Bicubic)))...)
			dst := make([]uint8, c.Spec()[0].Bytes())
			for b.Loop() {
				if err := c.IntoBytes(dst, File(file)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1e3/float64(b.N), "ms")
		})
	}
}
