package pillowtest

import (
	"testing"

	"github.com/penstock-go/penstock/internal/allocs"
)

// Fuzz decodes any bytes, beginning with the files of testdata. The result must be an
// error, or an image whose windows are crops of it. The decoder must not panic or
// allocate more than the pixels and most, with an allowance for the rest of the
// process.
func Fuzz(f *testing.F, open func() Decoder, most func(data []byte, w, h int) int) {
	for _, file := range Files(f) {
		f.Add(file.Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var (
			d    Decoder
			pix  []byte
			w, h int
			err  error
		)
		run := func() {
			d = open()
			pix, w, h, err = decode(d, data, 1<<22)
		}
		run()
		limit := len(pix) + most(data, w, h) + 1<<17
		if used := allocs.Bytes(uint64(limit), run); used > uint64(limit) {
			t.Errorf("%d bytes allocated for %d×%d pixels of %d bytes, want %d at most", used, w, h, len(data), limit)
		}
		if err == nil {
			crops(t, d, "", data, 2)
		}
	})
}
