package objects_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset/objects"
)

func TestIfMatchIsSentForStrongETagsOnly(t *testing.T) {
	for _, c := range []struct {
		stamp stamp
		want  string
	}{{strong, fmt.Sprintf("%q", tagOf([]byte(text)))}, {weak, ""}, {dated, ""}} {
		synctest.Test(t, func(t *testing.T) {
			h := letters()
			h.stamp = c.stamp
			s := store(t, h)
			for range 2 {
				if got := read(t.Context(), s, object, 3, 2); got != "34" {
					t.Fatal(got)
				}
			}
			if got := h.seen[0].Header.Get("If-Match"); got != "" {
				t.Errorf("the first request has If-Match: %s", got)
			}
			if got := h.seen[1].Header.Get("If-Match"); got != c.want {
				t.Errorf("the second request has If-Match: %s, want %s", got, c.want)
			}
			if got := h.seen[1].Header.Get("Accept-Encoding"); got != "identity" {
				t.Errorf("Accept-Encoding: %s", got)
			}
		})
	}
}

func TestServersThatIgnoreIfMatchAreFoundOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := letters()
		h.noRange = true
		s := store(t, h)
		o := object
		o.Version = `"other"`
		want := fmt.Sprintf(`objects: read a/text: replaced by another version: "%s", was "other"`, tagOf([]byte(text)))
		if got := read(t.Context(), s, o, 0, 2); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func TestServersWithoutVersionsNeedUnversioned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := letters()
		h.stamp = none
		s := store(t, h)
		if got := read(t.Context(), s, object, 0, 2); !strings.Contains(got, "the server tells no version") {
			t.Error(got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		h := letters()
		h.stamp = none
		s := store(t, h, objects.Unversioned())
		if got := read(t.Context(), s, object, 0, 2); got != "01" {
			t.Error(got)
		}
		h.replace("a/text", text+"!")
		if got := read(t.Context(), s, object, 0, 2); !strings.Contains(got, "37 bytes, were 36") {
			t.Error(got)
		}
	})
}

func TestServersWithoutRangesAreReadFromTheBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		big := bytes.Repeat([]byte(text), 100_000)
		h := newHost(fstest.MapFS{"big": {Data: big}})
		h.noRange = true
		s := store(t, h)
		o := objects.Object{Name: "big", Size: int64(len(big))}
		for _, at := range []int64{0, 5, 1 << 20} {
			if got := read(t.Context(), s, o, at, 7); got != string(big[at:at+7]) {
				t.Errorf("from byte %d: got %q", at, got)
			}
		}
		want := "objects: read big: the server does not serve ranges: want byte 1048577, it sends the whole object"
		if got := read(t.Context(), s, o, 1<<20+1, 7); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got, err := s.Stat(t.Context(), "big"); err != nil || got.Size != o.Size {
			t.Errorf("got %+v, error %v", got, err)
		}
	})
}

func TestStatTellsSizeAndVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := letters()
		h.files["empty"] = &fstest.MapFile{}
		s := store(t, h)
		for name, data := range map[string]string{"a/text": text, "empty": ""} {
			want := objects.Object{Name: name, Size: int64(len(data)), Version: fmt.Sprintf("%q", tagOf([]byte(data)))}
			if got, err := s.Stat(t.Context(), name); err != nil || got != want {
				t.Errorf("got %+v, error %v, want %+v", got, err, want)
			}
		}
		if _, err := s.Stat(t.Context(), "none"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v, want fs.ErrNotExist", err)
		}
		h.next(status(416, "Content-Range", "bytes */0", "ETag", `"1"`))
		if got, err := s.Stat(t.Context(), "new"); err == nil {
			t.Errorf("got %+v for an object that is not there", got)
		}
		h.files["new"] = &fstest.MapFile{}
		h.next(status(416, "Content-Range", "bytes */0", "ETag", `"1"`))
		if got, err := s.Stat(t.Context(), "new"); err != nil || got.Size != 0 {
			t.Errorf("got %+v, error %v, want an empty object", got, err)
		}
		h.next(func(w http.ResponseWriter, _ *http.Request, data []byte) {
			w.(http.Flusher).Flush() // no length is told
			w.Write(data)
		})
		if _, err := s.Stat(t.Context(), "a/text"); err == nil || !strings.Contains(err.Error(), "does not tell the object's size") {
			t.Error(err)
		}
	})
}

func TestRedirectsKeepRangesAndLoseSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := letters()
		var last *http.Request
		front := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Host == "front" {
				http.Redirect(w, r, "http://back"+r.URL.Path+"?sig=2", http.StatusTemporaryRedirect)
				return
			}
			last = r.Clone(context.Background())
			h.ServeHTTP(w, r)
		})
		s := client(t, "http://front/data?sig=1", []objects.HTTPOption{objects.Header("X-Token", "secret"), objects.HTTPClient(serve(t, front))})
		if got := read(t.Context(), s, object, 10, 3); got != "abc" {
			t.Fatal(got)
		}
		for key, want := range map[string]string{"Range": "bytes=10-12", "Referer": "", "X-Token": "", "Accept-Encoding": "identity"} {
			if got := last.Header.Get(key); got != want {
				t.Errorf("the other host got %s: %q, want %q", key, got, want)
			}
		}
		s = client(t, "http://back/data?sig=1", []objects.HTTPOption{objects.Header("X-Token", "secret"), objects.HTTPClient(serve(t, front))})
		if got := read(t.Context(), s, object, 10, 3); got != "abc" {
			t.Fatal(got)
		}
		if got := last.Header.Get("X-Token") + last.URL.RawQuery; got != "secretsig=1" {
			t.Errorf("the host itself got %s", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		h := letters()
		h.always = func(w http.ResponseWriter, r *http.Request, _ []byte) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}
		s := store(t, h)
		if got, want := read(t.Context(), s, object, 10, 3), "objects: read a/text: redirected 10 times"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if n := s.Stats().Requests; n != 1 {
			t.Errorf("%d requests of the client, want 1", n)
		}
	})
}

func TestSignMakesTheURLOfEveryRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := letters()
		n := 0
		sign := func(_ context.Context, name string) (string, error) {
			if n++; n > 3 {
				return "", errors.New("no key")
			}
			return fmt.Sprintf("http://host/data/%s?n=%d", name, n), nil
		}
		s := client(t, "", []objects.HTTPOption{objects.Sign(sign), objects.HTTPClient(serve(t, h))})
		h.next(part(2), status(503))
		if got := read(t.Context(), s, object, 10, 3); got != "abc" {
			t.Fatal(got)
		}
		for i, r := range h.seen {
			if want := fmt.Sprintf("n=%d", i+1); r.URL.RawQuery != want {
				t.Errorf("request %d has %s", i, r.URL.RawQuery)
			}
		}
		if got := read(t.Context(), s, object, 10, 3); got != "objects: read a/text: no key" {
			t.Error(got)
		}
	})
}

func TestOldPresignedURLsAreExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		at := func(d time.Duration) string { return now.Add(d).UTC().Format("20060102T150405Z") }
		for query, want := range map[string]error{
			"X-Amz-Date=" + at(-time.Hour) + "&X-Amz-Expires=3599":                       objects.ErrExpired,
			"X-Amz-Date=" + at(-time.Hour) + "&X-Amz-Expires=3700":                       fs.ErrPermission,
			"X-Goog-Date=" + at(-time.Hour) + "&X-Goog-Expires=10":                       objects.ErrExpired,
			"se=" + now.Add(-time.Second).UTC().Format(time.RFC3339):                     objects.ErrExpired,
			"se=" + now.Add(time.Minute).UTC().Format(time.RFC3339):                      fs.ErrPermission,
			fmt.Sprintf("Expires=%d", now.Add(-time.Minute).Unix()):                      objects.ErrExpired,
			fmt.Sprintf("Expires=%d", now.Add(time.Minute).Unix()):                       fs.ErrPermission,
			"X-Amz-Date=x&X-Amz-Expires=99999999999999999999&se=y&Expires=z&X-Goog-Date": fs.ErrPermission,
		} {
			h := letters()
			h.always = status(403)
			s := client(t, "http://host/data?"+query, []objects.HTTPOption{objects.HTTPClient(serve(t, h))})
			if err := s.ReadAt(t.Context(), object, make([]byte, 1), 0); !errors.Is(err, want) {
				t.Errorf("%s: got %v, want %v", query, err, want)
			}
		}
	})
}

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

func TestWrongArgumentsAreErrors(t *testing.T) {
	for want, options := range map[string][]objects.HTTPOption{
		"objects: HTTP: Index and Listing: want one of them": {objects.Index("a"), objects.Names("b")},
		`objects: HTTP: Index("/a"): want a path`:            {objects.Index("/a")},
	} {
		if _, err := objects.HTTP("http://h", options...); fmt.Sprint(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	want := "objects: Retries(-1): want 0 or more\nobjects: Silence(0s): want more than 0\nobjects: Hedge(2): want 0 to 1"
	if _, err := objects.NewClient(nil, objects.Option{}, objects.Retries(-1), objects.Silence(0), objects.Hedge(2)); fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
	server, err := objects.HTTP("https://h", objects.HTTPOption{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := objects.NewClient(server)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range c.List(t.Context(), "") {
		if got := fmt.Sprint(err); got != "objects: list all objects: the server has no listing: want Index, Listing or Names" {
			t.Error(got)
		}
	}
	for _, r := range [][2]int64{{-1, 1}, {35, 2}, {37, 0}, {1 << 62, 1}} {
		if err := c.ReadAt(t.Context(), object, make([]byte, r[1]), r[0]); err == nil {
			t.Errorf("%d bytes from byte %d are read", r[1], r[0])
		}
	}
	for _, name := range []string{"", ".", "/a", "a/../b", "a/"} {
		if _, err := c.Stat(t.Context(), name); err == nil || !strings.Contains(err.Error(), "want a path") {
			t.Errorf("%q: %v", name, err)
		}
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

// bodies counts the bodies of responses that are not closed.
type bodies struct {
	http.RoundTripper
	open int
}

type body struct {
	io.ReadCloser
	close func()
}

func (b *body) Close() error { b.close(); return b.ReadCloser.Close() }

func (b *bodies) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		b.open++
		resp.Body = &body{resp.Body, sync.OnceFunc(func() { b.open-- })}
	}
	return resp, err
}

func TestBodiesOfAllResponsesAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := letters()
		c := serve(t, h)
		counted := &bodies{RoundTripper: c.Transport}
		s := client(t, "http://host/data/", []objects.HTTPOption{objects.HTTPClient(&http.Client{Transport: counted})})
		for name, f := range map[string]fault{
			"empty":  status(416, "Content-Range", "bytes */0", "ETag", `"1"`),
			"shrunk": status(416, "Content-Range", "bytes */7", "ETag", `"1"`),
			"gone":   status(410),
			"zipped": status(206, "Content-Range", "bytes 0-0/9", "ETag", `"1"`, "Content-Encoding", "gzip"),
			"right":  nil,
		} {
			h.next(f)
			_, _ = s.Stat(t.Context(), "a/text") // right or wrong, it has a response
			if counted.open != 0 {
				t.Errorf("%s: the body is not closed", name)
				counted.open = 0
			}
		}
	})
}

func TestIdentitiesAreTheSameInLaterRunsAndHoldNoCredentials(t *testing.T) {
	for base, want := range map[string]string{
		"https://user:password@example.org/a b/c?sig=secret": "https://example.org/a%20b/c/",
		"http://example.org:8080":                            "http://example.org:8080/",
	} {
		s, err := objects.HTTP(base)
		if err != nil {
			t.Fatal(err)
		}
		c, err := objects.NewClient(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Identity(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	signed, err := objects.HTTP("", objects.Sign(func(context.Context, string) (string, error) { return "", nil }))
	if err != nil {
		t.Fatal(err)
	}
	if got := signed.Identity(); got != "" {
		t.Errorf("signed: %q", got)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	relative, _ := objects.Folder(".").(objects.Identified)
	absolute, _ := objects.Folder(dir).(objects.Identified)
	if got := relative.Identity(); got != absolute.Identity() || got != "file://"+filepath.ToSlash(dir) {
		t.Errorf("folders: %q and %q", got, absolute.Identity())
	}
}
