package objects_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/internal/hostile"
)

// lines are an index without end.
type lines struct {
	n    int
	left []byte
}

func (l *lines) Read(p []byte) (int, error) {
	if len(l.left) == 0 {
		l.n++
		l.left = fmt.Appendf(nil, "%030d\t5\n", l.n)
	}
	n := copy(p, l.left)
	l.left = l.left[n:]
	return n, nil
}

// endlessIndex is a server of such an index.
type endlessIndex struct{ at *lines }

func (e endlessIndex) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Etag": {`"1"`}}, Body: io.NopCloser(e.at), ContentLength: 1 << 40, Request: r}, nil
}

func TestAListingWithoutEndIsAnError(t *testing.T) {
	const limit = 1 << 16
	for folder, input := range map[string]int{"": limit, "none": limit * 33} { // a line is 33 bytes, of which one counts if it is left out
		at := &lines{}
		s := client(t, "http://host/", []objects.HTTPOption{objects.Index("index"), objects.HTTPClient(&http.Client{Transport: endlessIndex{at}})}, objects.MaxListingBytes(limit))
		hostile.Bounded(t, input, 0, func() {
			_, err := objects.NewFS(t.Context(), s, folder)
			if err == nil || !strings.Contains(err.Error(), "a listing of more bytes than MaxListingBytes(65536) allows") {
				t.Errorf("folder %q: error %v", folder, err)
			}
		})
	}
}

// pages is a remote of that many objects, whose listing breaks off after every hundred.
type pages struct {
	objects.Remote
	n     int
	calls *int
}

func (p pages) List(_ context.Context, _, after string) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) {
		*p.calls++
		first := 0
		fmt.Sscanf(after, "%04d", &first)
		for k := first + 1; k <= p.n; k++ {
			if !yield(objects.Object{Name: fmt.Sprintf("%04d", k), Version: `"1"`, Size: 1}, nil) {
				return
			}
			if k%4000 == 0 {
				yield(objects.Object{}, errors.New("broken"))
				return
			}
		}
	}
}

func TestMaxListingCountsWhatAWholeListingHas(t *testing.T) {
	const each = 4 + 3 + 64
	for _, c := range []struct {
		limit int64
		ok    bool
	}{{8100 * each, true}, {8100*each - 1, false}} {
		calls := 0
		s, err := objects.NewClient(pages{n: 8100, calls: &calls}, objects.MaxListingBytes(c.limit))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := objects.NewFS(t.Context(), s, ""); (err == nil) != c.ok || calls != 3 {
			t.Errorf("MaxListingBytes(%d): error %v after %d calls", c.limit, err, calls)
		}
	}
	if _, err := objects.NewClient(nil, objects.MaxListingBytes(0)); fmt.Sprint(err) != "objects: MaxListingBytes(0): want 1 or more" {
		t.Error(err)
	}
}

// The name of an object shares the memory of its line.
func TestALineOfAnIndexHasNoMoreThanANameASizeAndAVersion(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"a\t" + strings.Repeat("0", 60000) + "5", "want a number of bytes"},
		{"a" + strings.Repeat("\r", 60000), ""},
	} {
		s := said{http.StatusOK, http.Header{"Etag": {`"1"`}}, []byte(c.line)}.client(t, objects.Index("index.txt"))
		_, err := objects.NewFS(t.Context(), s, "")
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 400) {
			t.Errorf("%.20q: error %v", c.line, err)
		}
	}
}

// What a server says is shown in one line of characters that print.
func TestErrorsHoldNoControlCharacters(t *testing.T) {
	const escape = "\x1b]0;title\a\x1b[2J\u202e\n"
	name := "a" + escape
	for what, transport := range map[string]http.RoundTripper{
		"version": said{200, http.Header{"Etag": {`"` + escape + strings.Repeat("x", 2000) + `"`}}, []byte("01234")},
		"failure": fails{errors.New("peer says " + escape + strings.Repeat("x", 2000))},
		"secret":  fails{errors.New("http://u:p@host/?q=1 " + escape + strings.Repeat("x", 2000))},
		"missing": said{404, nil, []byte(escape)},
	} {
		s := client(t, "http://host/", []objects.HTTPOption{objects.HTTPClient(&http.Client{Transport: transport})}, objects.Retries(0))
		err := s.ReadAt(t.Context(), objects.Object{Name: name, Size: 5, Version: `W/"1"`}, make([]byte, 5), 0)
		if err == nil {
			t.Errorf("%s: no error", what)
			continue
		}
		if text := err.Error(); strings.ContainsAny(text, "\x1b\a\n\u202e") || len(text) > 1300 || !strings.Contains(text, "a.]0;title..[2J.") {
			t.Errorf("%s: %d bytes: %q", what, len(text), text)
		}
	}
}

// A folder's listing with nothing but wrong names is an error of a few of them.
func TestWrongNamesAreShownOnce(t *testing.T) {
	var list []objects.Object
	for k := range 10000 {
		list = append(list, objects.Object{Name: fmt.Sprintf("/%s%d", bytes.Repeat([]byte("x"), 1000), k)})
	}
	_, err := objects.NewFS(t.Context(), &memory{list: list}, "")
	if err == nil || errors.Is(err, fs.ErrNotExist) || len(err.Error()) > 4000 {
		t.Errorf("error %.5000v", err)
	}
}
