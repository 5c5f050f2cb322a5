package nifti_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset/volume/internal/array"
	"github.com/penstock-go/penstock/dataset/volume/internal/nifti"
	"github.com/penstock-go/penstock/internal/hostile"
)

func FuzzHeader(f *testing.F) { fuzz(f, func(*testing.T, *array.Header, fstest.MapFS) {}) }

func FuzzRead(f *testing.F) {
	fuzz(f, func(t *testing.T, h *array.Header, fsys fstest.MapFS) {
		const limit = 1 << 20
		var data []byte
		var err error
		hostile.Bounded(t, len(fsys["f.hdr"].Data)+len(fsys["f.img"].Data), 2*limit, func() { _, data, err = read(fsys, "f.hdr", limit) })
		if err != nil {
			return
		}
		n, err := h.Bytes()
		if err != nil || n > limit || int64(len(data)) != n {
			t.Errorf("%d bytes read, want %d, %v", len(data), n, err)
		}
	})
}

// fuzz reads headers of single files and of pairs, and then calls more.
func fuzz(f *testing.F, more func(*testing.T, *array.Header, fstest.MapFS)) {
	names, _ := filepath.Glob("testdata/files/*")
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, []byte("image"))
	}
	f.Fuzz(func(t *testing.T, header, image []byte) {
		fsys := fstest.MapFS{"f.hdr": {Data: header}, "f.img": {Data: image}}
		var h *array.Header
		var err error
		hostile.Bounded(t, len(header)+len(image), 0, func() { h, err = nifti.ReadHeader(fsys, "f.hdr") })
		if err != nil {
			return
		}
		if _, err := h.Bytes(); err != nil {
			t.Errorf("a header with too large a size is read: %v", err)
		}
		more(t, h, fsys)
	})
}
