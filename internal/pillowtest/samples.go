package pillowtest

import (
	"bytes"
	"fmt"
	"image"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/cpu/cputest"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/hostile"
)

// A SampleDecoder is a decoder that also returns samples as they are stored.
type SampleDecoder interface {
	Header(data []byte) (w, h int, err error)
	StoredSamples() (n int, dtype dataset.Dtype, ok bool)
	DecodeSamples(dst []float32, window image.Rectangle) error
}

// FuzzSamples is Fuzz for samples. The samples must be the same without kernels, and a
// window must have those of the whole image. The decoder must not take more than the file's size
// allows beside the samples and what is granted.
func FuzzSamples(f *testing.F, open func() SampleDecoder, granted int) {
	for _, file := range Files(f) {
		f.Add(file.Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 1 << 20
		var (
			d       SampleDecoder
			all     []float32
			n, w, h int
			err     error
		)
		run := func() {
			d, all = open(), nil
			if w, h, err = d.Header(data); err != nil {
				return
			}
			ok := false
			if n, _, ok = d.StoredSamples(); !ok || w > limit/h/n {
				return
			}
			all = make([]float32, n*w*h)
			err = d.DecodeSamples(all, image.Rect(0, 0, w, h))
		}
		cputest.Portable(run)
		portable, wrong := all, err
		hostile.Bounded(t, len(data), int64(4*len(all)+granted), run)
		if fmt.Sprint(err) != fmt.Sprint(wrong) || !bytes.Equal(dense.Bytes(all), dense.Bytes(portable)) {
			t.Errorf("error %v, but %v without kernels, or other samples", err, wrong)
		}
		if err != nil || all == nil {
			return
		}
		window := image.Rect(w/3, h/4, w-w/5, h-h/3)
		part := make([]float32, n*window.Dx()*window.Dy())
		if err := d.DecodeSamples(part, window); err != nil {
			t.Fatalf("window %v: %v", window, err)
		}
		for c := range n {
			for y := window.Min.Y; y < window.Max.Y; y++ {
				for x := window.Min.X; x < window.Max.X; x++ {
					if got, want := part[0], all[(c*h+y)*w+x]; got != want && (got == got || want == want) {
						t.Fatalf("window %v: sample %d of (%d, %d) is %v, want %v", window, c, x, y, got, want)
					}
					part = part[1:]
				}
			}
		}
	})
}
