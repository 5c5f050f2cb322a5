package jpeg_test

import (
	"bytes"
	"fmt"
	"image"
	stdjpeg "image/jpeg"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/codec/jpeg"
)

// together decodes a window with n goroutines, small images too, and checks that every
// row comes once.
func together(d *jpeg.Decoder, data []byte, n int, window func(jpeg.Config) image.Rectangle) ([]byte, error) {
	d.Eager(1 + len(data)%3)
	c, err := d.Header(data)
	if err != nil {
		return nil, err
	}
	w := window(c)
	pixels := make([]byte, 4*w.Dx()*w.Dy())
	var mutex sync.Mutex
	times := make([]int, w.Dy())
	err = d.DecodeBands(w, n, func(pix []byte, stride, from, to int) {
		mutex.Lock()
		defer mutex.Unlock()
		for y := from; y < to; y++ {
			copy(pixels[4*w.Dx()*y:][:4*w.Dx()], pix[(y-from)*stride:])
			times[y]++
		}
	})
	if err != nil {
		return nil, err
	}
	for y, k := range times {
		if k != 1 {
			return nil, fmt.Errorf("row %d of %d came %d times", y, w.Dy(), k)
		}
	}
	return pixels, nil
}

func wholeWindow(c jpeg.Config) image.Rectangle { return image.Rect(0, 0, c.Width, c.Height) }

func TestGoroutinesDecodeTheSamePixels(t *testing.T) {
	var alone, several jpeg.Decoder
	r := rand.New(rand.NewPCG(5, 6))
	for _, p := range testImages(t) {
		truncated := strings.HasPrefix(p.name, "truncated")
		alone.AllowTruncated, several.AllowTruncated = truncated, truncated
		for _, n := range []int{1, 2, 3, 9} {
			want := verdict(decode(&alone, p.data))
			if got := verdict(together(&several, p.data, n, wholeWindow)); got != want {
				t.Fatalf("%s: %d goroutines give %s, one gives %s", p.name, n, got, want)
			}
			c, err := alone.Header(p.data)
			if err != nil {
				continue
			}
			w := randomWindow(r, c)
			part := make([]byte, 4*w.Dx()*w.Dy())
			want = verdict(part, alone.Decode(part, 4*w.Dx(), w))
			if got := verdict(together(&several, p.data, n, func(jpeg.Config) image.Rectangle { return w })); got != want {
				t.Fatalf("%s: window %v: %d goroutines give %s, one gives %s", p.name, w, n, got, want)
			}
		}
	}
}

func TestGoroutinesDecodePhotosAsPillowDoes(t *testing.T) {
	var d jpeg.Decoder
	photos := goldenPhotos(t)
	if testing.Short() {
		photos = everyTwentieth(photos)
	}
	for name, want := range photos {
		if got := verdict(together(&d, readPhoto(t, name), 2, wholeWindow)); got != want.RGB {
			t.Errorf("%s: got %s, want %s", name, got, want.RGB)
		}
	}
}

// TestGoroutinesAgreeAboutMutatedFiles compares pixels and errors. The number of files
// is that of -mutations.
func TestGoroutinesAgreeAboutMutatedFiles(t *testing.T) {
	m := newMutator(t)
	b := newBench()
	several := jpeg.Decoder{MaxPixels: mutatedPixels}
	tolerant := jpeg.Decoder{MaxPixels: mutatedPixels, AllowTruncated: true}
	wrong := 0
	for i := range *mutations {
		data := m.file(i)
		want := b.verdict(&b.d, data)
		if got := verdict(together(&several, data, 2+i%3, wholeWindow)); got != want {
			t.Fatalf("mutation %d: goroutines give %s, one gives %s", i, got, want)
		}
		if strings.HasPrefix(want, "jpeg: ") {
			wrong++
		}
		want = b.verdict(&b.tolerant, data)
		if got := verdict(together(&tolerant, data, 2+i%3, wholeWindow)); got != want {
			t.Fatalf("mutation %d, which may be truncated: goroutines give %s, one gives %s", i, got, want)
		}
	}
	if wrong == 0 || wrong == *mutations {
		t.Errorf("%d of %d mutated files are errors, want some", wrong, *mutations)
	}
}

// tallImage is a file with several bands.
func tallImage(t *testing.T) []byte {
	m := image.NewGray(image.Rect(0, 0, 60, 600))
	r := rand.New(rand.NewPCG(7, 8))
	for i := range m.Pix {
		m.Pix[i] = byte(r.Uint32())
	}
	var file bytes.Buffer
	if err := stdjpeg.Encode(&file, m, nil); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func TestGoroutinesEndWithTheCall(t *testing.T) {
	data := tallImage(t)
	damaged := bytes.Clone(data)
	copy(damaged[len(damaged)*9/10:], []byte{0xff, 0xd3}) // a restart marker that must not be there
	for name, data := range map[string][]byte{"whole": data, "damaged": damaged} {
		synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left
			var d jpeg.Decoder
			_, err := together(&d, data, 4, wholeWindow)
			if want := name == "damaged"; (err != nil) != want {
				t.Errorf("%s: error %v", name, err)
			}
		})
	}
}

func TestPanicInAGoroutineReachesTheCaller(t *testing.T) {
	data := tallImage(t)
	var d jpeg.Decoder
	want := verdict(decode(&d, data))
	for round := range 20 {
		func() {
			defer func() {
				if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), "unlucky") {
					t.Errorf("recovered %v", v)
				}
			}()
			c, err := d.Header(data)
			if err != nil {
				t.Fatal(err)
			}
			d.Eager(8)
			d.DecodeBands(wholeWindow(c), 3, func(_ []byte, _, from, _ int) {
				if round%2 == 0 || from == 0 {
					panic("unlucky")
				}
			})
		}()
		if got := verdict(together(&d, data, 3, wholeWindow)); got != want {
			t.Fatalf("after a panic: got %s, want %s", got, want)
		}
	}
}

func TestGoroutinesTakeNoAllocation(t *testing.T) {
	data := tallImage(t)
	var d jpeg.Decoder
	d.Eager(8)
	if n := allocs.PerRun(0, 200, func() {
		c, err := d.Header(data)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.DecodeBands(wholeWindow(c), 3, func([]byte, int, int, int) {}); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
