package objects_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset/objects"
)

func TestIndexListsTheObjects(t *testing.T) {
	list := func(t *testing.T, index string, faults ...fault) string {
		h := newHost(fstest.MapFS{"index.txt": {Data: []byte(index)}})
		s := store(t, h, objects.Index("index.txt"))
		h.next(faults...)
		var b strings.Builder
		for o, err := range s.List(t.Context(), "a/") {
			if err != nil {
				return b.String() + err.Error()
			}
			fmt.Fprintf(&b, "%s %d %s,", o.Name, o.Size, o.Version)
		}
		return b.String()
	}
	whole := "./a/b\na/c d\t12\nindex.txt\t9\n\nb/x\na/ä\t0\t\"tag\"\n"
	const want = `a/b -1 ,a/c d 12 ,a/ä 0 "tag",`
	cut := func(n int) fault {
		return func(w http.ResponseWriter, _ *http.Request, data []byte) {
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			w.Write(data[:n])
		}
	}
	for _, c := range []struct {
		index  string
		faults []fault
		want   string
	}{
		{whole, nil, want},
		{strings.ReplaceAll(whole, "\n", "\r\n"), nil, want},
		{whole, []fault{status(503), cut(8), cut(14), stall(0)}, want},
		{"a/b\n../x\n", nil, `a/b -1 ,objects: list a/: index index.txt: line 2: "../x" is not a path`},
		{"a/b\tx\n", nil, `objects: list a/: index index.txt: line 1: size "x": want a number of bytes`},
		{"a/b\t-1\n", nil, `objects: list a/: index index.txt: line 1: size "-1": want a number of bytes`},
		{strings.Repeat("x", 1<<17), nil, "objects: list a/: index index.txt: line 1 has more than 65536 bytes"},
		{whole, []fault{status(404)}, "objects: list a/: index index.txt: missing: HTTP 404 Not Found"},
	} {
		synctest.Test(t, func(t *testing.T) {
			if got := list(t, c.index, c.faults...); got != c.want {
				t.Errorf("%.40q: got  %s\nwant %s", c.index, got, c.want)
			}
		})
	}
}

// An index of which a listing wants little, or that is read again after a broken
// connection, brings bytes all the time, but no objects.
func TestListingsThatLeaveOutMuchAreNotSilent(t *testing.T) {
	const lines = 30 // one a second; the default of Silence is 10 s
	for _, c := range []struct {
		prefix string
		breaks int // the line at which the first connection breaks
		want   int
	}{{"val/", lines, 1}, {"", lines - 5, lines + 1}} {
		synctest.Test(t, func(t *testing.T) {
			requests := 0
			s := store(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests++
				w.Header().Set("ETag", `"1"`)
				for i := range lines {
					if requests == 1 && i == c.breaks {
						panic(http.ErrAbortHandler)
					}
					fmt.Fprintf(w, "train/%d\t1\n", i)
					w.(http.Flusher).Flush()
					select {
					case <-time.After(time.Second):
					case <-r.Context().Done():
						return
					}
				}
				fmt.Fprintln(w, "val/1\t1")
			}), objects.Index("index.txt"))
			got := 0
			for _, err := range s.List(t.Context(), c.prefix) {
				if err != nil {
					t.Fatalf("prefix %q: %v", c.prefix, err)
				}
				got++
			}
			if got != c.want {
				t.Errorf("prefix %q: %d objects, want %d", c.prefix, got, c.want)
			}
		})
	}
}

// A connection that breaks would cut such an index short, and nobody would notice.
func TestAnIndexMustTellWhereItEnds(t *testing.T) {
	const index = "a/b\na/c\n"
	raw := func(header string) fault {
		return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nETag: \"1\"\r\n%s\r\n%s", header, index)
			conn.Close()
		}
	}
	for header, want := range map[string]string{
		fmt.Sprintf("Content-Length: %d\r\n", len(index)):                           "a/b,a/c,",
		"Connection: close\r\n":                                                     "objects: list all objects: index index.txt: the response does not tell where it ends",
		fmt.Sprintf("Content-Encoding: gzip\r\nContent-Length: %d\r\n", len(index)): `objects: list all objects: index index.txt: the response has Content-Encoding "gzip", want the bytes of the object themselves`,
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHost(fstest.MapFS{"index.txt": {Data: []byte(index)}})
			s := store(t, h, objects.Index("index.txt"))
			h.next(raw(header))
			got := ""
			for o, err := range s.List(t.Context(), "") {
				if err != nil {
					got += err.Error()
					break
				}
				got += o.Name + ","
			}
			if got != want {
				t.Errorf("%q:\ngot  %s\nwant %s", header, got, want)
			}
		})
	}
}
