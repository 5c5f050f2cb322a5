package pillowtest

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/penstock-go/penstock/internal/cpu/cputest"
	"github.com/penstock-go/penstock/internal/hostile"
)

// Fuzz decodes any bytes, beginning with the files of testdata. The result must be an
// error, or an image whose windows are crops of it, and the same without kernels. The decoder
// must not panic, or take more than the file's size allows beside the pixels and what is granted
// for an image of w×h pixels, if it is decoded.
func Fuzz(f *testing.F, open func() Decoder, granted func(w, h int) int) {
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
			pix, w, h, err = decode(d, data, 1<<20)
		}
		cputest.Portable(run)
		portable, wrong := pix, err
		most := int64(0)
		if pix != nil {
			most = int64(len(pix) + granted(w, h))
		}
		hostile.Bounded(t, len(data), most, run)
		if fmt.Sprint(err) != fmt.Sprint(wrong) || err == nil && !bytes.Equal(pix, portable) {
			t.Errorf("error %v, but %v without kernels, or other pixels", err, wrong)
		}
		if err == nil {
			crops(t, d, "", data, 2)
		}
	})
}

// Hostile decodes files of many parts that say little. They may take what their size allows, and
// what is granted.
func Hostile(t *testing.T, open func() Decoder, granted int64, files map[string][]byte) {
	t.Helper()
	for name, data := range files {
		var err error
		begun := time.Now()
		hostile.Bounded(t, len(data), granted, func() { _, _, _, err = decode(open(), data, 1<<16) })
		t.Logf("%s: %d bytes, error %v, at most %v", name, len(data), err, time.Since(begun))
	}
}
