package objects_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"

	"github.com/penstock-go/penstock/dataset/objects"
)

func TestAListedSizeAloneTakesNoMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store(t, letters(), objects.Listing(objects.Object{Name: "a/text", Size: 1 << 60}))
		fsys, err := objects.NewFS(t.Context(), s, "")
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := fs.ReadFile(fsys, "a/text"); !errors.Is(err, objects.ErrReplaced) {
			t.Errorf("got %v, want ErrReplaced", err)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 20<<20 {
			t.Errorf("%d MB were allocated", n>>20)
		}
	})
}

func TestLargeFilesAreReadWhole(t *testing.T) {
	data := bytes.Repeat([]byte(text), 1_500_000) // 54 MB
	m := &memory{list: []objects.Object{{Name: "a", Size: int64(len(data))}}, data: data}
	fsys, err := objects.NewFS(t.Context(), m, "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := fs.ReadFile(fsys, "a"); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, error %v", len(got), err)
	}
	if _, err := fs.ReadFile(fsys, "."); err == nil {
		t.Error("a folder is read")
	}
}

// Many proxies and gateways send no more than a fixed number of bytes at once.
func TestServersMayLimitTheBytesOfAResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 512 << 10
		data := bytes.Repeat([]byte(text), 100_000)
		h := newHost(fstest.MapFS{"a/text": {Data: data}})
		h.always = func(w http.ResponseWriter, r *http.Request, data []byte) {
			var from, to int
			fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
			r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, min(to, from+most-1)))
			w.Write(begin(w, r, data))
		}
		s := store(t, h)
		got := make([]byte, len(data))
		if err := s.ReadAt(t.Context(), objects.Object{Name: "a/text", Size: int64(len(data))}, got, 0); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, data) {
			t.Error("the bytes differ")
		}
		if got := s.Stats(); got.Requests != 7 || got.Bytes != int64(len(data)) {
			t.Errorf("got %+v, want 7 requests", got)
		}
	})
}

func TestAListingIsOfOneVersionOfTheIndex(t *testing.T) {
	cut := func(n int) fault {
		return func(w http.ResponseWriter, _ *http.Request, data []byte) {
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			w.Write(data[:n])
			w.(http.Flusher).Flush()
		}
	}
	list := func(s *objects.Client) (names string, err error) {
		for o, err := range s.List(context.Background(), "") {
			if err != nil {
				return names, err
			}
			names += o.Name + " "
		}
		return names, nil
	}
	for name, how := range map[string]stamp{"strong": strong, "dated": dated} {
		synctest.Test(t, func(t *testing.T) {
			h := newHost(fstest.MapFS{"index.txt": {Data: []byte("a\nb\nc\n")}})
			h.stamp = how
			s := store(t, h, objects.Index("index.txt"))
			h.next(func(w http.ResponseWriter, r *http.Request, data []byte) {
				cut(4)(w, r, data)
				h.replace("index.txt", "b\nd\ne\n")
			})
			if names, err := list(s); !errors.Is(err, objects.ErrReplaced) || names != "a b " {
				t.Errorf("%s: got %s, error %v, want ErrReplaced after a b", name, names, err)
			}
			if _, err := list(s); !errors.Is(err, objects.ErrReplaced) {
				t.Errorf("%s: a later listing: got %v, want ErrReplaced", name, err)
			}
		})
	}
	for _, unversioned := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h := newHost(fstest.MapFS{"index.txt": {Data: []byte("a\nb\nc\n")}})
			h.stamp = none
			options := []objects.HTTPOption{objects.Index("index.txt")}
			if unversioned {
				options = append(options, objects.Unversioned())
			}
			s := store(t, h, options...)
			if names, err := list(s); err != nil || names != "a b c " {
				t.Errorf("got %s, error %v", names, err)
			}
			h.next(cut(4))
			names, err := list(s)
			if unversioned && (err != nil || names != "a b c ") || !unversioned && (err == nil || !strings.Contains(err.Error(), "no version")) {
				t.Errorf("Unversioned %v: got %s, error %v", unversioned, names, err)
			}
		})
	}
}

func TestSignedURLsWithoutASchemeAreNotTriedAgain(t *testing.T) {
	for _, url := range []string{"host/data/a/text?sig=secret", "", "ftp://host/a", "//host/a", "http:///a", "http://[/"} {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			sign := func(context.Context, string) (string, error) { n++; return url, nil }
			s := client(t, "", []objects.HTTPOption{objects.Sign(sign), objects.HTTPClient(serve(t, letters()))})
			if got, want := read(t.Context(), s, object, 0, 1), "objects: read a/text: Sign: want a URL that begins with http:// or https://"; got != want || n != 1 {
				t.Errorf("%q: %d tries, got %s, want %s", url, n, got, want)
			}
		})
	}
}

func TestARedirectToTheSameHostKeepsThePassword(t *testing.T) {
	for location, want := range map[string]string{"/moved": "user password true", "http://host/moved": "user password true", "http://other/moved": "  false"} {
		synctest.Test(t, func(t *testing.T) {
			got := ""
			h := letters()
			s := store(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if path, ok := strings.CutPrefix(r.URL.Path, "/data"); ok {
					http.Redirect(w, r, location+path, http.StatusTemporaryRedirect)
					return
				}
				user, password, ok := r.BasicAuth()
				got = fmt.Sprint(user, " ", password, " ", ok)
				r.URL.Path = "/data" + strings.TrimPrefix(r.URL.Path, "/moved")
				h.ServeHTTP(w, r)
			}))
			if text := read(t.Context(), s, object, 10, 3); text != "abc" || got != want {
				t.Errorf("%s: read %s with %s, want %s", location, text, got, want)
			}
		})
	}
}
