package objects_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"

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
		if got := read(t.Context(), s, o, 0, 7); got != text[:7] {
			t.Errorf("got %q", got)
		}
		want := "objects: read big: the server does not serve ranges: want byte 5, it sends the whole object"
		if got := read(t.Context(), s, o, 5, 7); got != want {
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

func TestWrongArgumentsAreErrors(t *testing.T) {
	for want, options := range map[string][]objects.HTTPOption{
		"objects: HTTP: Index and Listing: want one of them": {objects.Index("a"), objects.Listing(objects.Object{Name: "b"})},
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
		if got := fmt.Sprint(err); got != "objects: list all objects: the server has no listing: want Index or Listing" {
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
	relative, absolute := objects.Folder("."), objects.Folder(dir)
	if got := relative.Identity(); got != absolute.Identity() || got != "file://"+filepath.ToSlash(dir) {
		t.Errorf("folders: %q and %q", got, absolute.Identity())
	}
}
