package nrrd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-go/penstock/dataset/volume/internal/array"
	"github.com/penstock-go/penstock/dataset/volume/internal/nrrd"
	"github.com/penstock-go/penstock/internal/hostile"
)

// FuzzHeader reads headers, and writes them again.
func FuzzHeader(f *testing.F) {
	seeds(f, func(b []byte) { f.Add(b) })
	f.Fuzz(func(t *testing.T, file []byte) {
		var h *array.Header
		var err error
		hostile.Bounded(t, len(file), 0, func() { h, err = nrrd.ReadHeader(files("f", string(file)), "f") })
		if err != nil {
			return
		}
		n, err := h.Bytes()
		if err != nil {
			t.Fatalf("a header passes whose size is too large: %v", err)
		}
		if n > 1<<20 {
			return
		}
		var b bytes.Buffer
		if err := nrrd.Write(&b, h, make([]byte, n), false); err != nil {
			return // a key or a number that can be read but not written
		}
		got, err := nrrd.ReadHeader(files("f", b.String()), "f")
		if err != nil {
			t.Fatalf("written, but not read: %v\n%s", err, b.String())
		}
		if diff := cmp.Diff(h.Attributes, got.Attributes); diff != "" || len(got.Axes) != len(h.Axes) {
			t.Errorf("-read +written\n%s", diff)
		}
	})
}

// FuzzRead reads headers next to the same two data files.
func FuzzRead(f *testing.F) {
	seeds(f, func(b []byte) { f.Add(b, b[:len(b)/2]) })
	f.Fuzz(func(t *testing.T, file, data []byte) {
		const limit = 1 << 20
		fsys := files("f", string(file), "0", string(data), "detached.raw", string(data))
		var h *array.Header
		var values []byte
		var err error
		const block = 4 << 20 // that bzip2 unpacks at once
		hostile.Bounded(t, len(file)+2*len(data), 2*limit+block, func() { h, values, err = read(fsys, "f", limit) })
		if err != nil {
			return
		}
		n, err := h.Bytes()
		if err != nil || n > limit || int64(len(values)) != n {
			t.Errorf("%d bytes read, want %d, %v", len(values), n, err)
		}
	})
}

func seeds(f *testing.F, add func([]byte)) {
	names, _ := filepath.Glob("testdata/files/*")
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		add(b)
	}
}
