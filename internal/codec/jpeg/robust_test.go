package jpeg_test

import (
	"bytes"
	"errors"
	"image"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/codec/jpeg"
	"github.com/penstock-go/penstock/internal/testenv"
)

// samples are small files of every coding, for tests that decode them many times.
func samples(tb testing.TB) []testImage {
	var some []testImage
	for i, p := range testImages(tb) {
		truncated := strings.HasPrefix(p.name, "truncated")
		if p.hash != "error" && !truncated && (i%7 == 0 || strings.HasPrefix(p.name, "four")) && len(p.data) < 4000 {
			some = append(some, p)
		}
	}
	return some
}

func decode(d *jpeg.Decoder, data []byte) ([]byte, error) {
	c, err := d.Header(data)
	if err != nil {
		return nil, err
	}
	return whole(d, c)
}

func TestFileCutShortIsAnErrorUnlessNothingIsMissing(t *testing.T) {
	testenv.OneGoroutine(t)
	var d jpeg.Decoder
	for _, p := range samples(t) {
		want, err := decode(&d, p.data)
		if err != nil {
			t.Fatal(err)
		}
		for n := range p.data {
			got, err := decode(&d, p.data[:n:n])
			var at *jpeg.Error
			switch {
			case err == nil && n < len(p.data)-4:
				// The last bytes may be an end marker and padding bits.
				t.Errorf("%s: %d of %d bytes are enough", p.name, n, len(p.data))
			case err == nil && !bytes.Equal(got, want):
				t.Errorf("%s: %d of %d bytes give other pixels", p.name, n, len(p.data))
			case err != nil && (!errors.Is(err, io.ErrUnexpectedEOF) || !errors.As(err, &at) || at.Offset > n):
				t.Errorf("%s: %d of %d bytes: %v, want an unexpected end", p.name, n, len(p.data), err)
			}
		}
	}
}

// A decoder of a corner does not see all intervals, and so it cannot know of damage in one.
// Of the end of the file it knows.
func TestShortIntervalBeforeTheCutIsDamage(t *testing.T) {
	tested := 0
	for _, p := range testImages(t) {
		first := bytes.Index(p.data, []byte{0xff, 0xd0}) + 2
		second := bytes.Index(p.data, []byte{0xff, 0xd1})
		if first < 2 || second < first+8 || p.hash == "error" || !bytes.HasSuffix(p.data, []byte{0xff, 0xd9}) {
			continue
		}
		data := slices.Concat(p.data[:first], p.data[second:len(p.data)-2])
		for _, d := range []jpeg.Decoder{{}, {AllowTruncated: true}} {
			var at *jpeg.Error
			if _, err := decode(&d, p.data[:len(p.data)-2]); err != nil {
				continue // too little is left for Pillow even without damage
			}
			tested++
			_, err := decode(&d, data)
			if !errors.As(err, &at) || errors.Is(err, io.ErrUnexpectedEOF) || at.Offset > first+2 {
				t.Errorf("%s, truncated files allowed %v: %v, want damage at byte %d", p.name, d.AllowTruncated, err, first)
			}
		}
	}
	if tested < 5 {
		t.Errorf("%d files with restart intervals", tested)
	}
}

func TestFileCutShortDecodesWhereAllowed(t *testing.T) {
	testenv.OneGoroutine(t)
	d := jpeg.Decoder{AllowTruncated: true}
	for _, p := range samples(t) {
		began := false
		for n := range p.data {
			c, err := d.Header(p.data[:n:n])
			if err != nil {
				if began {
					t.Fatalf("%s: header of %d bytes: %v", p.name, n, err)
				}
				continue
			}
			began = true
			if _, err := whole(&d, c); err != nil {
				t.Fatalf("%s: %d of %d bytes: %v", p.name, n, len(p.data), err)
			}
		}
	}
}

func TestDamagedFilesDoNotPanic(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	d := jpeg.Decoder{MaxPixels: 1 << 16}
	wrong, right := 0, 0
	for _, p := range samples(t) {
		for range 200 {
			data := bytes.Clone(p.data)
			for range 1 + r.IntN(3) {
				data[r.IntN(len(data))] = byte(r.Uint32())
			}
			if _, err := decode(&d, data); err != nil {
				wrong++
				if !strings.HasPrefix(err.Error(), "jpeg: at byte ") {
					t.Errorf("%s: error without a place: %v", p.name, err)
				}
				continue
			}
			right++
		}
	}
	if wrong == 0 || right == 0 {
		t.Errorf("%d damaged files are errors and %d decode, want some of both", wrong, right)
	}
}

func TestHeaderAloneTakesNoMemory(t *testing.T) {
	for _, name := range []string{"baseline", "progressive", "separate"} {
		var file []byte
		for _, p := range samples(t) {
			if strings.HasPrefix(p.name, name+"-") {
				file = bytes.Clone(p.data)
			}
		}
		at := 0
		for marker := byte(0xc0); marker <= 0xc2; marker++ {
			at = max(at, bytes.Index(file, []byte{0xff, marker, 0, 17}))
		}
		copy(file[at+5:], []byte{0xff, 0xdc, 0x80, 0x00}) // 32768×65500, less than 2³¹

		for _, allow := range []bool{false, true} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			d := jpeg.Decoder{MaxPixels: math.MaxInt, AllowTruncated: allow}
			c, err := d.Header(file)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			dst := make([]byte, 4*16*16)
			err = d.Decode(dst, 4*16, image.Rect(0, 0, 16, 16))
			if err == nil && !allow {
				t.Errorf("%s: %d×%d pixels out of %d bytes", name, c.Width, c.Height, len(file))
			}
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > 8<<20 {
				t.Errorf("%s: a header of %d×%d pixels took %d bytes", name, c.Width, c.Height, got)
			}
		}

		var d jpeg.Decoder
		if _, err := d.Header(file); err == nil || !strings.Contains(err.Error(), "pixels, more than 178956970") {
			t.Errorf("%s: error %v, want the default limit", name, err)
		}
	}
}

func TestWarmDecoderAllocatesNothing(t *testing.T) {
	set := samples(t)
	var d jpeg.Decoder
	dst := make([]byte, 4*100*100)
	got := allocs.PerRun(0, 5, func() {
		for _, p := range set {
			c, err := d.Header(p.data)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Decode(dst, 4*c.Width, image.Rect(0, 0, c.Width, c.Height)); err != nil {
				t.Fatal(err)
			}
		}
	})
	if got != 0 {
		t.Errorf("%v allocations for %d files, want 0", got, len(set))
	}
}
