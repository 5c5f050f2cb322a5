package pillowtest

import (
	"image"
	"runtime"
	"testing"

	"gorgonia.org/tensor"
)

// A SampleDecoder is a decoder that also returns samples as they are stored.
type SampleDecoder interface {
	Header(data []byte) (w, h int, err error)
	StoredSamples() (n int, dtype tensor.Dtype, ok bool)
	DecodeSamples(dst []float32, window image.Rectangle) error
}

// FuzzSamples is Fuzz for samples. A window must have the samples of the whole image. The
// decoder must not allocate more than most, with an allowance for the rest of the process.
func FuzzSamples(f *testing.F, open func() SampleDecoder, most func(data []byte) int) {
	for _, file := range Files(f) {
		f.Add(file.Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := open()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w, h, err := d.Header(data)
		if err != nil {
			return
		}
		n, _, ok := d.StoredSamples()
		const limit = 1 << 20
		if !ok || w > limit/h/n {
			return
		}
		all := make([]float32, n*w*h)
		err = d.DecodeSamples(all, image.Rect(0, 0, w, h))
		runtime.ReadMemStats(&after)
		if used, room := int(after.TotalAlloc-before.TotalAlloc), 4*len(all)+most(data)+1<<17; used > room {
			t.Errorf("%d bytes allocated for %d×%d×%d samples of %d bytes, want %d at most", used, n, w, h, len(data), room)
		}
		if err != nil {
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
