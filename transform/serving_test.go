package transform

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	"golang.org/x/image/tiff"

	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/testenv"
)

// A countdown is done once its error has been asked for more than n times. It wakes nobody.
type countdown struct {
	context.Context
	n     int64
	asked atomic.Int64
}

func (c *countdown) Err() error {
	if c.asked.Add(1) > c.n {
		return context.Canceled
	}
	return nil
}

// noise is an image of w×h pixels that no format codes in a few bytes.
func noise(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range m.Pix {
		m.Pix[i] = uint8(r.Uint32())
		if i%4 == 3 {
			m.Pix[i] = 255
		}
	}
	return m
}

// filesOfNoise are files of noise in the formats that can be stopped, and how many rows, or parts of one, each has.
func filesOfNoise(t testing.TB) map[string]struct {
	data []byte
	rows int64
} {
	t.Helper()
	const w, h = 100, 160
	m := noise(w, h)
	var b bytes.Buffer
	check := func(err error) []byte {
		if err != nil {
			t.Fatal(err)
		}
		defer b.Reset()
		return bytes.Clone(b.Bytes())
	}
	type file = struct {
		data []byte
		rows int64
	}
	files := map[string]file{
		"PNG":  {check(png.Encode(&b, m)), h},
		"JPEG": {check(jpeg.Encode(&b, m, nil)), h / 16},
		"GIF":  {check(gif.Encode(&b, m, nil)), h},
	}
	fmt.Fprintf(&b, "P3 %d %d 255\n", w, h)
	for i, v := range m.Pix {
		if i%4 != 3 {
			fmt.Fprintln(&b, v)
		}
	}
	files["PPM"] = file{check(nil), h}
	lzw, err := os.ReadFile("testdata/lzw.tiff")
	if err != nil {
		t.Fatal(err)
	}
	files["TIFF"] = file{lzw, 1}
	return files
}

func TestACallEndsWithItsContext(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, list := range [][]Item{{}, {Depth16(3)}} {
		c := compiled(t, append(list, ExifTranspose(), Resize([2]int{16, 16}), ToTensor())...)
		for name, f := range filesOfNoise(t) {
			want, got := make([]float32, 3*16*16), make([]float32, 3*16*16)
			full := &countdown{Context: t.Context(), n: 1 << 40}
			if err := errors.Join(c.Into(want, File(f.data)), c.Into(got, File(f.data).Context(full))); err != nil || !slices.Equal(got, want) {
				t.Fatalf("%s: %v, or other values with a context", name, err)
			}
			all := full.asked.Load()
			if all < f.rows {
				t.Errorf("%s: the context was asked %d times for %d rows", name, all, f.rows)
			}
			for n := range all {
				ctx := &countdown{Context: t.Context(), n: n}
				if err := c.Into(got, File(f.data).Context(ctx)); !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "transform: ") {
					t.Errorf("%s: got %v, want that the context is done", name, err)
				}
				if asked := ctx.asked.Load(); asked != n+1 {
					t.Errorf("%s: asked %d times after the context was done", name, asked-n-1)
				}
			}
			clear(got)
			if err := c.Into(got, File(f.data)); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: after calls that were ended: %v, or other values", name, err)
			}
		}
	}
}

// several makes that many images be processed at a time.
func several(t *testing.T, n int) {
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

func TestACallThatWaitsForItsTurnEndsWithItsContext(t *testing.T) {
	several(t, 2)
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		c := compiled(t, Apply(edit(func(*Image) { <-gate })), CenterCrop(2), PILToTensor())
		from := RGB(make([]uint8, 3*4*4), 4, 4)
		var calls sync.WaitGroup
		for range 2 {
			calls.Go(func() {
				if err := c.IntoBytes(make([]uint8, 12), from); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		calls.Go(func() {
			if err := c.IntoBytes(make([]uint8, 12), from.Context(ctx)); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want that the context is done", err)
			}
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(gate)
		calls.Wait()
	})
}

// takes is how many bytes an image takes by its header: half of the least limit with which it is no error.
func takes(t testing.TB, from Source, list ...Item) (n int) {
	t.Helper()
	for n = 1; ; {
		c := compiled(t, append(slices.Clone(list), MaxMemory(2*n))...)
		err := c.IntoBytes(make([]byte, c.Spec()[0].Bytes()), from)
		if err == nil {
			return n
		}
		more := 0
		if _, scan := fmt.Sscanf(err.Error(), "transform: the image would take %d bytes of memory", &more); scan != nil || more <= n {
			t.Fatal(err)
		}
		n = more
	}
}

// strip is a TIFF file of one strip, which is a JPEG file of w×h pixels.
func strip(file []byte, w, h int) []byte {
	fields := [][3]int{{256, 4, w}, {257, 4, h}, {258, 3, 8}, {259, 3, 7}, {262, 3, 6}, {273, 4, 8 + 2 + 9*12 + 4}, {277, 3, 3}, {278, 4, h}, {279, 4, len(file)}}
	data := append([]byte("II*\x00\x08\x00\x00\x00"), byte(len(fields)), 0)
	for _, f := range fields {
		data = binary.LittleEndian.AppendUint16(data, uint16(f[0]))
		data = binary.LittleEndian.AppendUint16(data, uint16(f[1]))
		data = binary.LittleEndian.AppendUint32(data, 1)
		data = binary.LittleEndian.AppendUint32(data, uint32(f[2]))
	}
	return append(append(data, 0, 0, 0, 0), file...)
}

// TestWhatAnImageTakesIsKnownFromItsHeader compares what a call takes of MaxMemory with what the first one allocates.
func TestWhatAnImageTakesIsKnownFromItsHeader(t *testing.T) {
	testenv.OneGoroutine(t)
	files, large := map[string][]byte{}, plain(t)
	for name, f := range filesOfNoise(t) {
		files["noise in "+name] = f.data
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, noise(1500, 1000), nil); err != nil {
		t.Fatal(err)
	}
	files["JPEG"] = b.Bytes()
	for _, level := range []packed.Level{packed.Fast, packed.Small} {
		files[fmt.Sprint("packed photo, level ", level)] = packedFiles(t, encoded(files["JPEG"]), level)[0]
	}
	names := append(slices.Clone(imageFiles), "progressive.jpg") // Pillow: a gradient of 1500×1000 pixels
	for i, data := range readAll(t, names...) {
		files[names[i]] = data
	}
	b = bytes.Buffer{}
	if err := tiff.Encode(&b, noise(1500, 1000), &tiff.Options{Compression: tiff.Deflate}); err != nil {
		t.Fatal(err)
	}
	files["deflated TIFF"], files["JPEG in a TIFF"] = b.Bytes(), strip(files["progressive.jpg"], 1500, 1000)
	const tables = 2 << 20 // what is not counted
	for k, list := range [][]Item{
		{Resize([2]int{30, 40})},
		{Resize(64), CenterCrop(64), ToTensor()},
		{ExifTranspose(), Resize([2]int{700, 600}), Apply(nothing{}), Resize([2]int{30, 900}), Pillow(13)},
		{Apply(nothing{}), Pad(40, PaddingMode(Edge)), RandomRotation(30, 30, Expand()), Resize(8), CenterCrop(8)},
		{Depth16(3), Resize([2]int{30, 40}), ToTensor()},
	} {
		all := maps.Clone(files)
		if k == 0 {
			maps.Copy(all, large)
		}
		for name, data := range all {
			from := File(data)
			c := compiled(t, append(slices.Clone(list), MaxMemory(math.MaxInt))...)
			dst := make([]byte, c.Spec()[0].Bytes())
			var err error
			allocated := allocatedBy(func() { err = c.IntoBytes(dst, from) })
			if err != nil {
				if strings.Contains(err.Error(), "Depth16 wants 3") {
					continue
				}
				t.Fatalf("%s: %v: %v", name, list, err)
			}
			switch n := takes(t, from, list...); {
			case n < allocated-tables:
				t.Errorf("%s: %v: a call takes %d bytes of the limit, but allocates %d", name, list, n, allocated)
			case n > 2*allocated+tables && !strings.Contains(name, "WebP"):
				t.Errorf("%s: %v: a call takes %d bytes of the limit, though it allocates only %d", name, list, n, allocated)
			}
		}
	}
}

// TestCallsThatComeToNeedMoreDoNotWaitForEachOther has images that become larger after the first steps, so that several
// have a part of the memory and need another one.
func TestCallsThatComeToNeedMoreDoNotWaitForEachOther(t *testing.T) {
	defer goleak.VerifyNone(t)
	several(t, 8)
	begins := []Item{Apply(edit(func(*Image) {
		for range 100 {
			runtime.Gosched()
		}
	}))}
	ends := []Item{Resize([2]int{8, 8}), ToTensor()}
	list := slices.Concat(begins, []Item{Resize([2]int{500, 500}), Apply(nothing{})}, ends)
	large, small := File(encodedPNG(t, noise(300, 300))), File(encodedPNG(t, noise(20, 20)))
	first, need := takes(t, large, slices.Concat(begins, ends)...), takes(t, large, list...)
	if need < 3*first/2 {
		t.Fatalf("%d bytes in all, and %d for the first steps: the others need no more", need, first)
	}
	want := make([]float32, 3*8*8)
	if err := compiled(t, list...).Into(want, large); err != nil {
		t.Fatal(err)
	}
	for _, half := range []int{need, 5 * first / 4} {
		c := compiled(t, append(slices.Clone(list), MaxMemory(2*half))...)
		var wait sync.WaitGroup
		for range 50 {
			wait.Go(func() {
				dst := make([]float32, 3*8*8)
				err := c.Into(dst, large)
				switch {
				case half < need && (err == nil || !strings.Contains(err.Error(), "(see MaxMemory)")):
					t.Errorf("got %v, want that the image is too large", err)
				case half >= need && (err != nil || !slices.Equal(dst, want)):
					t.Errorf("got %v, or other values than without a limit", err)
				}
				if err := c.Into(dst, small); err != nil && half >= need {
					t.Error(err)
				}
			})
		}
		wait.Wait()
	}
}

func encodedPNG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestLargeImagesComeOneByOne counts the images that are in the steps at a time.
func TestLargeImagesComeOneByOne(t *testing.T) {
	several(t, 8)
	var now, most atomic.Int64
	list := []Item{
		Apply(edit(func(*Image) {
			n := now.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			for range 1000 {
				runtime.Gosched()
			}
			now.Add(-1)
		})),
		Resize([2]int{8, 8}), ToTensor(),
	}
	file := encodedPNG(t, noise(200, 200))
	need := takes(t, File(file), list...)
	for _, c := range []struct{ limit, most int64 }{
		{2 * int64(need), 1},  // half of it: the others have no more than their shares
		{5 * int64(need), 3},  // of 2.5 images, and 0.31 images are shares that need no more
		{64 * int64(need), 8}, // all shares are large enough
	} {
		steps := compiled(t, append(slices.Clone(list), MaxMemory(int(c.limit)))...)
		most.Store(0)
		var wait sync.WaitGroup
		for range 50 {
			wait.Go(func() {
				if err := steps.Into(make([]float32, 3*8*8), File(file)); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if got := most.Load(); got > c.most {
			t.Errorf("with a limit of %d bytes %d images of %d are in memory at a time, want %d at most", c.limit, got, need, c.most)
		}
	}
}

// TestACallThatWaitsForMemoryEndsWithItsContext has one image in memory, more than processors that wait for it, and one that
// needs no more than its share and waits for nobody.
func TestACallThatWaitsForMemoryEndsWithItsContext(t *testing.T) {
	several(t, 4)
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		list := []Item{Apply(edit(func(m *Image) {
			if m.Width > 8 {
				<-gate
			}
		})), CenterCrop(2), PILToTensor()}
		large, small := RGB(make([]uint8, 3*100*100), 100, 100), RGB(make([]uint8, 3*4*4), 4, 4)
		need := takesOfRGB(t, list, gate, large)
		c := compiled(t, append(slices.Clone(list), MaxMemory(2*need))...)
		var calls sync.WaitGroup
		ended := [6]atomic.Bool{}
		ctx, cancel := context.WithCancel(t.Context())
		for k, from := range []Source{large, large.Context(ctx), large, large, large, small} {
			calls.Go(func() {
				err := c.IntoBytes(make([]uint8, 12), from)
				if k == 1 && !errors.Is(err, context.Canceled) || k != 1 && err != nil {
					t.Errorf("call %d: got %v", k, err)
				}
				ended[k].Store(true)
			})
			synctest.Wait()
		}
		is := func(want ...bool) {
			t.Helper()
			synctest.Wait()
			for k, want := range want {
				if got := ended[k].Load(); got != want {
					t.Errorf("call %d has ended: %v, want %v", k, got, want)
				}
			}
		}
		is(false, false, false, false, false, true)
		cancel()
		is(false, true, false, false, false, true)
		gate <- struct{}{}
		is(true, true, false, false, false, true)
		gate <- struct{}{}
		is(true, true, true, false, false, true)
		close(gate)
		is(true, true, true, true, true, true)
		calls.Wait()
	})
}

// takesOfRGB is takes where a step waits at a gate.
func takesOfRGB(t *testing.T, list []Item, gate chan struct{}, from Source) int {
	end := make(chan struct{})
	var opens sync.WaitGroup
	opens.Go(func() {
		for {
			select {
			case gate <- struct{}{}:
			case <-end:
				return
			}
		}
	})
	n := takes(t, from, list...)
	close(end)
	opens.Wait()
	return n
}

func TestAnImageBeyondMaxMemoryIsAnErrorWithoutMemory(t *testing.T) {
	m := image.NewPaletted(image.Rect(0, 0, 6000, 6000), color.Palette{color.Black, color.White})
	file := encodedPNG(t, m) // 6000×6000 pixels in few bytes
	if len(file) > 40<<10 {
		t.Fatalf("%d bytes", len(file))
	}
	for _, list := range [][]Item{{Resize(64), CenterCrop(64)}, {Apply(nothing{}), Resize(64), CenterCrop(64)}} {
		c := compiled(t, append(list, ToTensor(), MaxMemory(300_000_000))...)
		dst := make([]float32, 3*64*64)
		if err := c.Into(dst, File(encodedPNG(t, noise(64, 64)))); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			var err error
			grown := allocatedBy(func() { err = c.Into(dst, File(file)) })
			if err == nil || !strings.Contains(err.Error(), "more than half of the limit of 300000000 (see MaxMemory)") {
				t.Errorf("got %v, want the limit", err)
			}
			if grown > 1<<20 {
				t.Errorf("%d bytes allocated for an error", grown)
			}
		}
	}
}

// TestAnImageThatIsTooLargeLeavesNothingBehind has a file whose decoder would take more than the limit, and then images for
// which there is room.
func TestAnImageThatIsTooLargeLeavesNothingBehind(t *testing.T) {
	several(t, 2)
	large, err := os.ReadFile("testdata/plain.webp") // 4000×4000 pixels
	if err != nil {
		t.Fatal(err)
	}
	small := readAll(t, "rgb.png")[0]
	c := compiled(t, Eval(16), MaxMemory(64<<20))
	dst := make([]float32, 3*16*16)
	for range 2 {
		if err := c.Into(dst, File(large)); err == nil || !strings.Contains(err.Error(), "(see MaxMemory)") {
			t.Fatalf("got %v, want that the image is too large", err)
		}
	}
	into := func() {
		if err := c.Into(dst, File(small)); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		into()
	}
	if n := allocs.PerRun(0, 10, into); n != 0 {
		t.Errorf("%v allocations per image after one that was too large", n)
	}
}

// TestTheWeightsOfLongImagesCount has images that are small, but for the weights of their resize.
func TestTheWeightsOfLongImagesCount(t *testing.T) {
	testenv.OneGoroutine(t)
	const tables = 2 << 20
	for _, list := range [][]Item{
		{Resize([2]int{4, 300}, Interpolation(Lanczos)), ToTensor()},
		{Resize([2]int{300, 1}, Interpolation(Bicubic)), ToTensor()},
		{Resize([2]int{4, 300}, Interpolation(OpenCVArea)), ToTensor()},
		{Depth16(3), Resize([2]int{4, 300}, Interpolation(Bicubic)), ToTensor()},
	} {
		w, h := 500_000, 4
		if size := compiled(t, list...).Spec()[0].Shape; size[1] > size[2] {
			w, h = h, w
		}
		from := RGB(make([]uint8, 3*w*h), w, h)
		need := takes(t, from, list...)
		c := compiled(t, append(list, MaxMemory(2*need))...)
		dst := make([]float32, c.Spec()[0].Elements())
		var err error
		allocated := allocatedBy(func() { err = c.Into(dst, from) })
		if err != nil {
			t.Fatal(err)
		}
		if need < allocated-tables {
			t.Errorf("%v: a call takes %d bytes of the limit, but allocates %d", list, need, allocated)
		}
		c = compiled(t, append(list, MaxMemory(2*need-2))...)
		allocated = allocatedBy(func() { err = c.Into(dst, from) })
		if err == nil || !strings.Contains(err.Error(), "(see MaxMemory)") {
			t.Fatalf("got %v, want that the image is too large", err)
		}
		if allocated > need/2 {
			t.Errorf("%v: %d bytes allocated for an error", list, allocated)
		}
	}
}

// TestARegisteredFormatIsNotDecodedForAnError has a decoder whose image would take too much.
func TestARegisteredFormatIsNotDecodedForAnError(t *testing.T) {
	decoded := 0
	image.RegisterFormat("counted", "COUNTED", func(io.Reader) (image.Image, error) {
		decoded++
		return noise(1000, 1000), nil
	}, func(io.Reader) (image.Config, error) { return image.Config{Width: 1000, Height: 1000}, nil })
	for _, list := range [][]Item{{CenterCrop(4)}, {Depth16(4), CenterCrop(4)}} {
		c := compiled(t, append(list, MaxMemory(1<<20))...)
		err := c.IntoBytes(make([]byte, c.Spec()[0].Bytes()), File([]byte("COUNTED")))
		if err == nil || !strings.Contains(err.Error(), "(see MaxMemory)") || decoded > 0 {
			t.Errorf("%v: got %v, decoded %d times, want that the image is too large", list, err, decoded)
		}
	}
}

// allocatedBy is how many bytes a call allocates.
func allocatedBy(call func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

func TestMaxMemoryIsForSingleImages(t *testing.T) {
	if _, err := Images(encoded(nil), Eval(8), MaxMemory(1<<30)); err == nil || !strings.Contains(err.Error(), "MaxMemory(1073741824): only for Compile") {
		t.Errorf("got %v, want that it is for Compile", err)
	}
	if _, err := Compile(Eval(8), MaxMemory(0)); err == nil || !strings.Contains(err.Error(), "MaxMemory(0): want a positive number of bytes") {
		t.Errorf("got %v, want a positive number", err)
	}
}

func TestSingleImagesWithinTheirShareTakeNoAllocation(t *testing.T) {
	files := readAll(t, "rgb.jpg", "gray.jpg", "rgb.png", "rgb.bmp")
	half := ResizeFunc("half", func(h, w int) (int, int) { return h / 2, w / 2 })
	c := compiled(t, half, Eval(16), MaxMemory(64<<20))
	dst := make([]float32, 3*16*16)
	all := func() {
		for _, data := range files {
			if err := c.Into(dst, File(data).Context(t.Context())); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 50 + runtime.GOMAXPROCS(0) {
		all()
	}
	if n := allocs.PerRun(0, 50, all); n != 0 {
		t.Errorf("%v allocations for %d images", n, len(files))
	}
}
