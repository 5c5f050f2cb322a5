package transform

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/cpu/cputest"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

func TestPlacingPixelsAllocatesNothing(t *testing.T) {
	testenv.OneGoroutine(t)
	ds := imageOf(t, 120, 90, pixels(120, 90))
	for name, steps := range map[string][]Item{
		"evaluation": {Resize(40), CenterCrop(32), ToTensor(), Normalize(ImageNetMean, ImageNetStd)},
		"training":   {Train(32), RandomErasing(0.5)},
		"everything": {RandomCrop(60, Padding(3), PaddingMode(Reflect)), Resize(50), Pad(2, Fill(1, 2, 3)), Resize(32), ColorJitter(.4, .4, .4, .1),
			RandomGrayscale(0.2), Apply(nothing{}), RandomVerticalFlip(0.5), PILToTensor()},
		"policies": {RandomOrder(RandAugment(3, 9), TrivialAugmentWide(), RandomChoice(AutoAugment(SVHNPolicy), AugMix())), Resize([2]int{40, 40})},
		"pixels":   {JPEG(10, 90), GaussianBlur([2]int{5, 3}), GaussianNoise(0, 0.1), ElasticTransform(50, 2), RandomPhotometricDistort(0.5), RandomChannelPermutation(), Resize([2]int{20, 30})},
		"warps": {RandomApply(0.7, RandomRotation(-60, 60, Expand()), RandomAffine(-9, 9, Scale(0.5, 2))), RandomPerspective(0.5, 0.5),
			RandomAdjustSharpness(2, 0.5), RandomEqualize(0.5), CenterCrop(64)},
	} {
		x, err := Images(ds, steps...)
		if err != nil {
			t.Fatal(err)
		}
		r, err := x.Open()
		if err != nil {
			t.Fatal(err)
		}
		slot := dataset.NewSlot(x.Spec()[:1]...)
		k := 0
		place := func() {
			k = k%300 + 1 // the same draws again and again
			datatest.Reset(slot, 1, 0, k)
			if err := r.Place(t.Context(), 0, slot); err != nil {
				t.Fatal(err)
			}
		}
		for range 300 { // random parts need different amounts of memory
			place()
		}
		if n := allocs.PerRun(0, 250, place); n != 0 {
			t.Errorf("%s: %v allocations per sample", name, n)
		}
	}
}

func TestPlacingPhotosAllocatesNothing(t *testing.T) {
	testenv.OneGoroutine(t)
	var files [][]byte
	for _, name := range []string{"half.jpg", "rgb.jpg", "gray.jpg", "cmyk.jpg", "rgb.png", "palette.png"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, data)
	}
	for _, c := range readGolden(t).Exif {
		data, err := hex.DecodeString(c.File)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, data)
	}
	for name, steps := range map[string][]Item{
		"evaluation": {Eval(16)},
		"training":   {Train(16)},
		"turned":     {AllowTruncated(), ExifTranspose(), Train(16)},
	} {
		x, err := Images(filesOf{files, encoded(nil).Spec()}, steps...)
		if err != nil {
			t.Fatal(err)
		}
		r, err := x.Open()
		if err != nil {
			t.Fatal(err)
		}
		slot := dataset.NewSlot(x.Spec()[:1]...)
		k := 0
		placeAll := func() {
			for i := range files {
				datatest.Reset(slot, 1, 0, k)
				if err := r.Place(t.Context(), i, slot); err != nil {
					t.Fatal(err)
				}
				k = (k + 1) % (200 * len(files)) // the same draws again and again
			}
		}
		for range 200 { // random parts need different amounts of memory
			placeAll()
		}
		if n := allocs.PerRun(0, 150, placeAll); n != 0 {
			t.Errorf("%s: %v allocations for %d photos", name, n, len(files))
		}
	}
}

func TestCompiledStepsKeepTheirNumbers(t *testing.T) {
	mean, std := slices.Clone(ImageNetMean), slices.Clone(ImageNetStd)
	defer func() {
		copy(ImageNetMean, mean)
		copy(ImageNetStd, std)
	}()
	ds := imageOf(t, 16, 16, pixels(16, 16))
	want := dataset.ValuesOf[float32](result(t, ds, Eval(16)))
	preset, step := Eval(16), Normalize(ImageNetMean, ImageNetStd)
	x, err := Images(ds, Eval(16))
	if err != nil {
		t.Fatal(err)
	}
	ImageNetMean[0], ImageNetStd[1] = 7, 8
	sample, err := dataset.At(t.Context(), x, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string][]float32{
		"a pipeline": dataset.ValuesOf[float32](sample["image"]),
		"a preset":   dataset.ValuesOf[float32](result(t, ds, preset)),
		"a step":     dataset.ValuesOf[float32](result(t, ds, Resize(18), CenterCrop(16), ToTensor(), step)),
	} {
		if !slices.Equal(got, want) {
			t.Errorf("%s has changed with the variables", name)
		}
	}
	if slices.Equal(dataset.ValuesOf[float32](result(t, ds, Eval(16))), want) {
		t.Error("a preset made afterwards has not changed: the test tests nothing")
	}
}

func TestNormalizeDividesAsTorchDoes(t *testing.T) {
	pix := make([]uint8, 3*256)
	for i := range pix {
		pix[i] = uint8(i / 3)
	}
	got := dataset.ValuesOf[float32](result(t, imageOf(t, 16, 16, pix), ToTensor(), Normalize(ImageNetMean, ImageNetStd)))
	for c := range 3 {
		for v := range 256 {
			x := float32(v) / 255
			x -= ImageNetMean[c]
			x /= ImageNetStd[c]
			if got[c*256+v] != x {
				t.Fatalf("channel %d, value %d: got %v, want %v", c, v, got[c*256+v], x)
			}
		}
	}
}

func TestTwoNormalizesAreBothApplied(t *testing.T) {
	ds := imageOf(t, 16, 16, pixels(16, 16))
	want := dataset.ValuesOf[float32](result(t, ds, ToTensor(), Normalize(ImageNetMean, ImageNetStd)))
	got := dataset.ValuesOf[float32](result(t, ds, ToTensor(), Normalize(ImageNetMean, ImageNetStd), Normalize([]float32{0.25}, []float32{3})))
	for i, v := range want {
		if v = (v - 0.25) / 3; got[i] != v {
			t.Fatalf("value %d: got %v, want %v", i, got[i], v)
		}
	}
}

func TestRawLayoutsAgree(t *testing.T) {
	const w, h = 6, 5
	hwc := pixels(w, h)
	chw := make([]uint8, len(hwc))
	for i, v := range hwc {
		chw[i%3*w*h+i/3] = v
	}
	ds, err := dataset.Tensors(dataset.Named("image", dataset.TensorOf(chw, 1, 3, h, w)))
	if err != nil {
		t.Fatal(err)
	}
	if got := dataset.ValuesOf[uint8](result(t, ds)); !bytes.Equal(got, hwc) {
		t.Error("planes become other pixels")
	}
	if got := dataset.ValuesOf[uint8](result(t, imageOf(t, w, h, hwc), Layout(CHW))); !bytes.Equal(got, chw) {
		t.Error("Layout(CHW) is not the planes")
	}
}

func TestOtherFieldsPassThrough(t *testing.T) {
	ds, err := dataset.Tensors(
		dataset.Named("label", []int64{7}),
		dataset.Named("mask", dataset.TensorOf([]uint8{1, 2, 3, 4}, 1, 2, 2)))
	if err != nil {
		t.Fatal(err)
	}
	x, err := Images(ds, Field("mask"), RandomHorizontalFlip(1), Grayscale(1))
	if err != nil {
		t.Fatal(err)
	}
	s, err := dataset.At(t.Context(), x, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := dataset.ValuesOf[int64](s["label"])[0]; got != 7 {
		t.Errorf("label %v, want 7", got)
	}
	if got := dataset.ValuesOf[uint8](s["mask"]); !bytes.Equal(got, []uint8{2, 1, 4, 3}) {
		t.Errorf("mask %v, want 2 1 4 3", got)
	}
}

func TestHugeHeaderTakesNoMemory(t *testing.T) {
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	for _, size := range []uint32{12000, 60000} {
		data := bytes.Clone(file.Bytes())
		for k := range 2 {
			data[18+4*k], data[19+4*k] = byte(size>>8), byte(size)
		}
		// The checksum of the header, so that only its size is wrong.
		binary.BigEndian.PutUint32(data[29:33], crc32.ChecksumIEEE(data[12:29]))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := place(t, data)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%d×%d pixels in %d bytes: no error", size, size, len(data))
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
			t.Errorf("%d×%d pixels: %d bytes allocated for an error", size, size, grown)
		}
	}
}

func TestMaxPixelsIsTheMostAllowed(t *testing.T) {
	data, err := os.ReadFile("testdata/rgb.png") // 19×13 pixels
	if err != nil {
		t.Fatal(err)
	}
	if err := place(t, data, MaxPixels(19*13)); err != nil {
		t.Error(err)
	}
	if place(t, data, MaxPixels(19*13-1)) == nil {
		t.Error("one pixel too many: no error")
	}
}

func TestTruncatedFilesAreErrors(t *testing.T) {
	testenv.OneGoroutine(t)
	names, _ := filepath.Glob("testdata/*.*")
	for _, name := range names {
		if ext := filepath.Ext(name); ext == ".json" || ext == ".py" {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(data)/2; n += 7 {
			if place(t, data[:n]) == nil {
				t.Errorf("%s: no error for %d of %d bytes", name, n, len(data))
			}
		}
	}
}

// FuzzDecode places damaged files: an error is fine, a panic is not, and neither are other values
// without kernels. Run it with -fuzzminimizetime 10x: making every new input shorter, a minute each
// by default, leaves no time to try others.
func FuzzDecode(f *testing.F) {
	names, _ := filepath.Glob("testdata/*.*")
	deep, _ := filepath.Glob("testdata/depth/*.???")
	for _, name := range append(names, deep...) {
		if data, err := os.ReadFile(name); err == nil && len(data) < 4096 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const most, pixelMemory = 1 << 18, 64
		bounded := func(steps ...Item) (err error) {
			steps = append(steps, MaxPixels(most))
			var values []float32
			hostile.Bounded(t, len(data), most*pixelMemory, func() { values, err = placed(t, data, steps...) })
			cputest.Portable(func() {
				if portable, wrong := placed(t, data, steps...); fmt.Sprint(wrong) != fmt.Sprint(err) || !bytes.Equal(dense.Bytes(portable), dense.Bytes(values)) {
					t.Errorf("error %v, but %v without kernels, or other values", err, wrong)
				}
			})
			return err
		}
		_ = bounded()
		channels := 1
		if err := bounded(Depth16(1)); err != nil {
			_, text, _ := strings.Cut(err.Error(), "the image has ")
			if _, err := fmt.Sscanf(text, "%d channels", &channels); err == nil && channels <= raster.MaxChannels {
				_ = bounded(Depth16(channels))
			}
		}
	})
}

func place(t testing.TB, data []byte, more ...Item) error {
	t.Helper()
	_, err := placed(t, data, more...)
	return err
}

// placed are the values of the image in a file, or none with an error.
func placed(t testing.TB, data []byte, more ...Item) ([]float32, error) {
	t.Helper()
	x, err := Images(encoded(data), append(more, Resize(8), CenterCrop(8), ToTensor())...)
	if err != nil {
		t.Fatal(err)
	}
	sample, err := dataset.At(t.Context(), x, 0)
	if err != nil {
		return nil, err
	}
	return dataset.ValuesOf[float32](sample["image"]), nil
}
