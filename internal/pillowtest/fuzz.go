package pillowtest

import (
	"runtime"
	"testing"
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
		d := open()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		pix, w, h, err := decode(d, data, 1<<22)
		runtime.ReadMemStats(&after)
		if used, limit := int(after.TotalAlloc-before.TotalAlloc), len(pix)+most(data, w, h)+1<<17; used > limit {
			t.Errorf("%d bytes allocated for %d×%d pixels of %d bytes, want %d at most", used, w, h, len(data), limit)
		}
		if err == nil {
			crops(t, d, "", data, 2)
		}
	})
}
