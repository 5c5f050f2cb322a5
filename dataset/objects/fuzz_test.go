package objects_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/internal/hostile"
)

// said is a server that says the same in every response.
type said struct {
	status int
	header http.Header
	body   []byte
}

func (s said) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: s.status, Header: s.header, Body: io.NopCloser(bytes.NewReader(s.body)), ContentLength: int64(len(s.body)), Request: r}, nil
}

func (s said) client(t *testing.T, options ...objects.HTTPOption) *objects.Client {
	return client(t, "http://host/", append(options, objects.HTTPClient(&http.Client{Transport: s})), objects.Retries(0), objects.Hedge(0))
}

// What is read is what a response says that it is: bytes of the body, from the byte that
// was asked for on, of an object with these bytes.
func FuzzResponses(f *testing.F) {
	f.Add(206, "bytes 2-5/36", `"1"`, []byte("2345"), int64(2))
	f.Add(206, "bytes 2-3/*", `"1"`, []byte("23"), int64(2))
	f.Add(206, "bytes */36", "", []byte("2345"), int64(0))
	f.Add(416, "bytes */0", `W/"1"`, []byte("no"), int64(0))
	f.Add(200, "", `"1"`, []byte("012345"), int64(3))
	f.Add(206, "bytes -1--1/9223372036854775807", `"`, []byte("x"), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, status int, ranges, tag string, body []byte, off int64) {
		if status < 100 || status > 999 || status/100 == 3 {
			return
		}
		hostile.Bounded(t, len(ranges)+len(tag)+len(body), 0, func() { answered(t, status, ranges, tag, body, off) })
	})
}

// answered is a Stat and a read of two bytes.
func answered(t *testing.T, status int, ranges, tag string, body []byte, off int64) {
	t.Helper()
	c := said{status, http.Header{"Content-Range": {ranges}, "Etag": {tag}}, body}.client(t)
	if o, err := c.Stat(t.Context(), "x"); err == nil && (o.Size < 0 || o.Version != tag) {
		t.Errorf("%+v of %d, Content-Range %q, ETag %q", o, status, ranges, tag)
	}
	c = said{status, http.Header{"Content-Range": {ranges}, "Etag": {tag}}, body}.client(t)
	p := make([]byte, 2)
	if err := c.ReadAt(t.Context(), objects.Object{Name: "x", Size: -1}, p, off); err != nil {
		return
	}
	want := body // of a partial response
	begin := int64(-1)
	_, _ = fmt.Sscanf(ranges, "bytes %d-", &begin)
	switch {
	case status == http.StatusOK:
		want = body[min(off, int64(len(body))):]
	case status != http.StatusPartialContent || begin != off:
		t.Fatalf("byte %d is read from status %d, Content-Range %q", off, status, ranges)
	}
	if !bytes.HasPrefix(want, p) {
		t.Errorf("read %q, want it from the beginning of %q", p, want)
	}
}

// An index makes a listing of paths, or an error.
func FuzzIndex(f *testing.F) {
	f.Add([]byte("./a/b\na/c d\t12\nindex.txt\t9\n\nb/x\r\na/ä\t0\t\"tag\"\n"))
	f.Add([]byte("a\t-1\n"))
	f.Add([]byte("../x\ta\tb\tc"))
	f.Add([]byte(strings.Repeat("/\n", 20000)))
	f.Add([]byte("a\t" + strings.Repeat("0", 60000) + "1\n"))
	f.Fuzz(func(t *testing.T, index []byte) {
		var fsys fs.FS
		hostile.Bounded(t, len(index), 0, func() {
			fsys = nil
			c := said{http.StatusOK, http.Header{"Etag": {`"1"`}}, index}.client(t, objects.Index("index.txt"))
			for o, err := range c.List(t.Context(), "") {
				if err == nil && (!fs.ValidPath(o.Name) || o.Name == "." || o.Size < -1) {
					t.Errorf("%+v", o)
				}
			}
			if listed, err := objects.NewFS(t.Context(), c, ""); err == nil {
				fsys = listed
			}
		})
		if fsys == nil {
			return
		}
		err := fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && !bytes.Contains(index, []byte(name)) {
				t.Errorf("%q is not in the index", name)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}
