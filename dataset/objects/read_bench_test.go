package objects_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset/objects"
)

// BenchmarkRead reads ranges of 117 kB, the size of an ImageNet photo, from a local
// server, which takes processor time too. The baseline does the same with net/http
// alone: no versions, no watch, no hedges, no errors with names.
func BenchmarkRead(b *testing.B) {
	const size, record = 64 << 20, 117 << 10
	data := make([]byte, size)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}))
	defer server.Close()
	p := make([]byte, record)
	off := int64(0)
	next := func() int64 {
		if off += record; off > size-record {
			off = 0
		}
		return off
	}
	b.Run("client", func(b *testing.B) {
		c := client(b, server.URL, nil)
		o := objects.Object{Name: "x", Size: size, Version: `"1"`}
		b.SetBytes(record)
		b.ReportAllocs()
		for b.Loop() {
			if err := c.ReadAt(b.Context(), o, p, next()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("net/http", func(b *testing.B) {
		b.SetBytes(record)
		b.ReportAllocs()
		for b.Loop() {
			req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, server.URL+"/x", nil)
			if err != nil {
				b.Fatal(err)
			}
			begin := next()
			req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", begin, begin+record-1))
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(resp.Body, p); err != nil {
				b.Fatal(err)
			}
			resp.Body.Close()
		}
	})
}
